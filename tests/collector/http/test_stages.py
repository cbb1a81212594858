"""A fault in any stage of a request: it is answered in the one shape of errors, counted once, and harms no other."""

from __future__ import annotations

import asyncio
import http.client
import io
import socket
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.collector.http import application, hot, protocol, short
from deniable.collector.http.application import Application
from deniable.collector.http.hot import Door
from deniable.collector.http.incoming import Headers, Reader
from deniable.collector.http.logs import Log
from deniable.collector.http.reading import Reading
from deniable.collector.http.routing import Routes
from deniable.collector.http.threads import Threads
from deniable.collector.service.directory import Directory
from deniable.collector.service.formed import Forms
from deniable.collector.service.service import Service
from deniable.wire.refusals import Refused
from tests.collector.http.running import Answer, M, Running, Served, asked, batch, frame, serving

WORDS = "secret words"
FORM, ESTIMATE = ("GET", "/v1/forms/themes"), ("GET", "/v1/collections/themes/estimate")
PREVIEW, REPORT, BATCH = ("POST", "/v1/preview"), ("POST", "/v1/reports"), ("POST", "/v1/batches")
LONG = ("POST", "/v1/reports", "long")  # a report that takes the way of all other requests
# what breaks, and the requests that pass there
STAGES: dict[str, tuple[object, str, tuple[tuple[str, ...], ...]]] = {
    "the headers": (Headers, "__init__", (FORM, ESTIMATE, PREVIEW, BATCH, LONG)),
    "the key": (Headers, "key", (ESTIMATE, PREVIEW, BATCH, LONG)),
    "the origin": (Headers, "origin", (FORM, ESTIMATE, PREVIEW, BATCH, LONG)),
    "the route": (Routes, "find", (FORM, ESTIMATE, PREVIEW)),
    "who asks": (Application, "_admit", (FORM, ESTIMATE, PREVIEW)),
    "the collection": (Directory, "desk", (FORM, ESTIMATE)),
    "the writer's key": (Directory, "writer", (REPORT, BATCH, LONG)),
    "the query": (application, "read_query", (FORM, ESTIMATE, PREVIEW)),
    "the body": (Reader, "body", (PREVIEW, BATCH, LONG)),
    "the body's JSON": (application, "read_body", (PREVIEW,)),
    "a frame": (hot, "read_batch", (BATCH,)),
    "a short frame": (short, "read_report", (REPORT,)),
    "taking": (Service, "take", (REPORT, BATCH, LONG)),
    "the door": (Door, "_take", (BATCH, LONG)),
    "a thread": (Threads, "run", (ESTIMATE, PREVIEW)),
    "a selection": (Reading, "_selection", (ESTIMATE,)),
    "the answer": (Reading, "_cached", (ESTIMATE,)),
    "a form": (Forms, "of", (FORM,)),
    "the headers of an answer": (application, "_around", (FORM, ESTIMATE, PREVIEW, BATCH, LONG)),
    "the way to the parser": (protocol, "is_usual", (REPORT,)),
    "a report's cycle": (protocol, "Short", (REPORT,)),
}


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[Served, io.StringIO]]:
    """A collector over HTTP, and its log."""
    lines = io.StringIO()
    made = Running(log=Log("refused", lines))
    made.make()
    assert made.ask("POST", "/v1/reports", frame(made).to_bytes()).status == 200
    made.fold()
    with serving(made) as found:
        yield found, lines
    made.close()


def ask(served: Served, connection: http.client.HTTPConnection, method: str, path: str, way: str = "") -> Answer:
    """A request that is good."""
    collector = served.collector
    if path == "/v1/reports" and way:
        return asked(connection, method, path, frame(collector).to_bytes(), None, origin="http://test")
    if path == "/v1/reports":
        return in_one_piece(served.port, frame(collector).to_bytes())
    if path == "/v1/batches":
        return asked(connection, method, path, batch(collector, ["a"]).to_bytes(), collector.key("write"))
    body = {"spec": M.spec.to_dict()} if path == "/v1/preview" else None
    return asked(connection, method, path, body, None if "forms" in path else collector.admin)


def in_one_piece(port: int, body: bytes) -> Answer:
    """Send a report as browsers do, which takes the short way."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        head = f"POST /v1/reports HTTP/1.1\r\nhost: test\r\ncontent-length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        response = http.client.HTTPResponse(connection)
        response.begin()
        found = response.read()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, found)


def broken(*_: Any, **__: Any) -> Any:
    raise RuntimeError(WORDS)


def counts(served: Served) -> tuple[int, int]:
    """All requests, and those that met a fault."""
    outcomes = served.collector.service.outcomes
    assert outcomes.requests == sum(served.collector.outcomes().values())
    return outcomes.requests, served.collector.outcomes().get("broken", 0)


@pytest.mark.parametrize(("stage", "way"), [(stage, way) for stage, (*_, ways) in STAGES.items() for way in ways])
def test_a_fault_in_any_stage_is_answered_and_counted_once(
    served: tuple[Served, io.StringIO], monkeypatch: pytest.MonkeyPatch, stage: str, way: tuple[str, ...]
) -> None:
    server, lines = served
    place, name, _ = STAGES[stage]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    before = counts(server)
    with monkeypatch.context() as planted:
        is_value = isinstance(getattr(place, name), property)
        planted.setattr(place, name, property(broken) if is_value else broken)
        answer = ask(server, connection, *way)
    assert (answer.status, answer.kind) == (500, "broken"), answer
    assert counts(server) == (before[0] + 1, before[1] + 1)
    server.collector.application.log.flush()
    assert '"event": "fault", "kind": "RuntimeError"' in lines.getvalue()
    assert WORDS not in lines.getvalue() + answer.body.decode()
    assert ask(server, connection, *REPORT).status == 200  # it is as if nothing had been
    connection.close()


@pytest.mark.parametrize("name", ["refusal", "as_refusal", "_around"])
@pytest.mark.parametrize("way", [FORM, REPORT, LONG, BATCH])
def test_a_fault_in_telling_a_fault_is_answered_too(
    served: tuple[Served, io.StringIO], monkeypatch: pytest.MonkeyPatch, name: str, way: tuple[str, ...]
) -> None:
    server, _ = served
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    before = counts(server)
    with monkeypatch.context() as planted:
        planted.setattr(Forms, "of", broken)
        planted.setattr(Service, "take", broken)
        planted.setattr(application, name, broken)
        answer = ask(server, connection, *way)
    assert (answer.status, answer.kind) == (500, "broken"), answer
    assert counts(server) == (before[0] + 1, before[1] + 1)
    connection.close()


@pytest.mark.parametrize("way", [FORM, ESTIMATE, REPORT, LONG, BATCH])
def test_a_log_that_cannot_be_written_costs_no_answer(
    served: tuple[Served, io.StringIO], monkeypatch: pytest.MonkeyPatch, way: tuple[str, ...]
) -> None:
    server, _ = served
    closed = io.StringIO()
    closed.close()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    before = counts(server)
    with monkeypatch.context() as planted:
        log = server.collector.application.log
        for name, value in (("_all", True), ("_stream", closed), ("_written", 0.0)):  # so that every line is written
            planted.setattr(log, name, value)
        assert ask(server, connection, *way).status == 200
    assert counts(server)[0] == before[0] + 1
    connection.close()


class Waiting:
    """A request that waits for its answer, on a connection that may be gone."""

    def __init__(self, gone: bool = False) -> None:
        self.gone, self.answers, self.closed = gone, list[bytes](), False
        self.authorized, self.desk, self.started, self.keep_alive = False, 0, 0.0, True
        self.protocol = self.transport = self

    def send(self, data: bytes) -> None:
        if self.gone:
            raise RuntimeError(WORDS)
        self.answers.append(data)

    def abort(self) -> None:
        self.closed = True


def test_a_report_that_cannot_be_answered_keeps_no_other_of_its_commit_waiting(
    served: tuple[Served, io.StringIO],
) -> None:
    server, _ = served
    tickets = [Waiting(gone=True), Waiting(), Waiting(), Waiting()]
    outcomes: list[Any] = [1, 1, Refused("bad-payload"), 1]
    before = counts(server)[0]
    group = [SimpleNamespace(ticket=each, outcome=found) for each, found in zip(tickets, outcomes, strict=True)]
    server.collector.application.short_way._answer(group)  # type: ignore[arg-type]
    assert [[each[9:12] for each in ticket.answers] for ticket in tickets] == [[], [b"200"], [b"400"], [b"200"]]
    assert [ticket.closed for ticket in tickets] == [True, False, False, False]
    assert counts(server)[0] == before + 4


def test_a_loop_that_has_ended_stops_no_writer(served: tuple[Served, io.StringIO]) -> None:
    server, _ = served
    loop = asyncio.new_event_loop()
    loop.close()
    application_ = server.collector.application
    application_.short_way._waker(loop)([])
    application_._door._waker(loop)([])
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    assert ask(server, connection, *REPORT).status == 200
    connection.close()


def test_a_request_that_is_given_up_at_the_end_is_answered_and_counted(collector: Running) -> None:
    sent: list[dict[str, Any]] = []

    async def never() -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def given_up() -> None:
        scope = {"type": "http", "method": "POST", "path": "/v1/reports", "query_string": b"", "headers": []}
        task = asyncio.ensure_future(collector.application(scope, never, send))
        await asyncio.sleep(0)
        task.cancel()
        await task

    before = collector.service.outcomes.requests
    asyncio.run(given_up())
    assert sent[0]["status"] == 503
    assert collector.service.outcomes.requests == before + 1
    assert collector.outcomes()["stopping"] == 1
