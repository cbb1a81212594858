"""Trouble: a store that fails, clients that are slow or send nonsense, a clock that jumps back, an unexpected fault."""

from __future__ import annotations

import contextlib
import io
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from deniable.collector.http.logs import Log
from deniable.collector.http.protocol import Protocol
from deniable.collector.store.protocol import StorageTrouble
from deniable.core.errors import InvalidArgument, SpecError
from deniable.wire.refusals import Refused
from tests.collector.http.running import DAY, NOW, Running, Served, batch, frame, serving


@contextlib.contextmanager
def failing(collector: Running, *names: str, error: Exception | None = None) -> Iterator[None]:
    """A store whose methods of these names fail."""

    def fail(*_: object, **__: object) -> Any:
        raise StorageTrouble("the database failed: disk I/O error (SQLITE_IOERR)") if error is None else error

    store = collector.service.store
    for name in names:
        setattr(store, name, fail)
    try:
        yield
    finally:
        for name in names:
            delattr(store, name)


def test_a_report_that_cannot_be_stored_is_refused_for_later_and_stored_then(collector: Running) -> None:
    one, several = frame(collector).to_bytes(), batch(collector, ["a"] * 5).to_bytes()
    with failing(collector, "commit"):
        for path, body in (("/v1/reports", one), ("/v1/batches", several)):
            answer = collector.ask("POST", path, body)
            assert (answer.status, answer.kind) == (503, "storage")
            assert int(answer.headers["retry-after"]) >= 1
    assert collector.ask("POST", "/v1/reports", one).status == 200
    assert collector.ask("POST", "/v1/batches", several).json == {"accepted": 5, "new": 5}


@pytest.mark.parametrize("error", [SpecError("no such mechanism"), Refused("bad-spec"), InvalidArgument("n", "be", 1)])
def test_no_error_of_the_store_is_the_senders(collector: Running, error: Exception) -> None:
    one = frame(collector).to_bytes()
    with failing(collector, "commit", error=error):
        answer = collector.ask("POST", "/v1/reports", one)
        assert (answer.status, answer.kind) == (503, "storage")
    assert collector.ask("POST", "/v1/reports", one).status == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "fails"),
    [
        ("GET", "/v1/collections/themes/estimate", None, "kept"),
        ("GET", "/v1/collections/themes", None, "waiting"),
        ("GET", "/v1/collections/themes/refusals", None, "refusals"),
        ("GET", "/v1/collections/themes/summaries", None, "kept"),
        ("POST", "/v1/collections/themes/keys", {"role": "read"}, "add_key"),
        ("PATCH", "/v1/collections/themes", {"open": False}, "change_collection"),
        ("GET", "/ready", None, "revision"),
        ("GET", "/metrics", None, "waiting"),
    ],
)
def test_whatever_fails_in_the_store_is_503_with_retry_after(
    collector: Running, method: str, path: str, body: Any, fails: str
) -> None:
    with failing(collector, fails):
        answer = collector.ask(method, path, body, collector.admin)
        assert (answer.status, answer.kind) == (503, "storage")
        assert "retry-after" in answer.headers
    assert collector.ask("GET", "/health").status == 200


def test_a_store_that_fails_while_folding_is_tried_again(collector: Running) -> None:
    collector.ask("POST", "/v1/reports", frame(collector).to_bytes())
    with failing(collector, "fold"), pytest.raises(StorageTrouble):
        collector.fold()
    collector.fold()
    assert collector.ask("GET", "/v1/collections/themes", None, collector.admin).json["counted"] == 1


def test_an_unexpected_fault_is_logged_by_its_place_and_told_without_its_words() -> None:
    lines = io.StringIO()
    collector = Running(log=Log("all", lines))
    collector.make()
    with failing(collector, "commit", error=RuntimeError("secret words")):
        answer = collector.ask("POST", "/v1/reports", frame(collector).to_bytes())
    collector.close()
    assert (answer.status, answer.kind) == (500, "broken")
    assert "secret" not in answer.body.decode() + lines.getvalue()
    assert '"event": "fault", "kind": "RuntimeError"' in lines.getvalue()


def test_logs_have_route_status_kind_and_time_and_nothing_else() -> None:
    lines = io.StringIO()
    collector = Running(log=Log("all", lines))
    collector.make()
    sent = frame(collector)
    collector.ask(
        "POST", "/v1/reports", sent.to_bytes(), cookie="c=cookie", user_agent="agent", x_forwarded_for="9.9.9.9"
    )
    collector.ask("GET", "/v1/collections/themes/estimate?search=term", None, collector.key("read"))
    collector.ask("GET", "/v1/collections/hidden", None, collector.key("read"))
    collector.close()
    logged = lines.getvalue()
    for secret in ("cookie", "agent", "9.9.9.9", "term", "hidden", "dnr_", "dnw_", "dna_", sent.ids.hex(), "themes"):
        assert secret not in logged
    assert '"route":"POST /v1/reports","status":200,"kind":"ok","ms":' in logged
    assert '"route":"GET /v1/collections/{name}","status":403,"kind":"wrong-key","ms":' in logged


def test_a_clock_that_jumps_back_reopens_nothing(collector: Running) -> None:
    store, window = collector.service.store, collector.service.directory.desk("themes").settings.window
    old = frame(collector)
    assert collector.ask("POST", "/v1/reports", old.to_bytes()).status == 200
    collector.fold()
    collector.now[0] = NOW + 3600 * (window + 48)
    collector.service.keeper.round()
    assert collector.ask("POST", "/v1/reports", old.to_bytes()).kind == "too-old"
    collector.now[0] = NOW
    assert collector.ask("POST", "/v1/reports", old.to_bytes()).kind == "too-old"
    collector.service.refresh()
    again = Running(store)  # a new process whose clock is behind
    again.keys = collector.keys
    try:
        assert again.ask("POST", "/v1/reports", old.to_bytes()).kind == "too-old"
    finally:
        again.application.close()
        again.service.writer.close()
    assert collector.ask("GET", "/v1/collections/themes", None, collector.admin).json["counted"] == 1


def test_counts_are_dropped_after_their_retention(collector: Running) -> None:
    collector.make("brief", retention_days=10)
    for name in ("brief", "themes"):
        assert collector.ask("POST", "/v1/reports", frame(collector, "a", name).to_bytes()).status == 200
    collector.fold()
    collector.now[0] = NOW + 86_400 * 11
    collector.service.keeper.round()
    found = collector.ask("GET", "/v1/collections", None, collector.admin).json["collections"]
    assert {each["name"]: each["counted"] for each in found} == {"brief": 0, "themes": 1}


def test_a_report_that_retention_would_drop_at_once_is_refused(collector: Running) -> None:
    collector.make("brief", retention_days=2)
    for days, kind in ((2, ""), (3, "too-old")):
        sent = frame(collector, "a", "brief", hour=DAY - 24 * days).to_bytes()
        assert collector.ask("POST", "/v1/reports", sent).kind == kind
    collector.fold()
    collector.service.keeper.round()
    assert collector.ask("GET", "/v1/collections/brief", None, collector.admin).json["counted"] == 1


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A server that waits for nobody."""
    monkeypatch.setattr(Protocol, "header_seconds", 0.3)
    monkeypatch.setattr(Protocol, "body_seconds", 0.3)
    made = Running()
    made.make()
    with serving(made) as found:
        yield found
    made.close()


def exchange(served: Served, *parts: bytes) -> bytes:
    """Send some bytes and nothing more, and return all that comes back before the server hangs up."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(0.05)
        found = b""
        while part := connection.recv(2**16):
            found += part
        return found


def test_slow_clients_are_cut_off(hasty: Served) -> None:
    head = b"POST /v1/reports HTTP/1.1\r\nhost: x\r\n"
    assert exchange(hasty) == b""  # says nothing
    slow_headers = exchange(hasty, head, b"x-one: 1\r\n")
    slow_body = exchange(hasty, head + b"content-length: 100\r\n\r\n", b"DNB")
    for found in (slow_headers, slow_body):
        assert found.startswith(b"HTTP/1.1 408 ")
        assert b'"kind":"slow"' in found
    c = hasty.collector
    assert c.outcomes().get("slow") == 2
    assert c.service.outcomes.requests == sum(c.outcomes().values())
    assert hasty.ask("POST", "/v1/reports", frame(c).to_bytes()).status == 200


def test_what_is_no_http_is_answered_in_the_one_shape_of_errors(hasty: Served) -> None:
    found = exchange(hasty, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03 hello\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 400 ")
    assert b'"kind":"not-http"' in found
    assert exchange(hasty, b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 20_000).startswith(b"HTTP/1.1 400 ")
    assert hasty.collector.outcomes()["not-http"] == 2


def test_bodies_beyond_the_limit_are_refused_before_they_are_read(hasty: Served) -> None:
    head = b"POST /v1/batches HTTP/1.1\r\nhost: x\r\n"
    announced = exchange(hasty, head + b"content-length: 999999999999\r\n\r\n")
    assert b'"kind":"too-large"' in announced
    start = batch(hasty.collector, ["a"]).to_bytes()
    chunk = b"%x\r\n" % 2**16 + bytes(2**16) + b"\r\n"
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=20) as connection:
        connection.sendall(head + b"transfer-encoding: chunked\r\n\r\n" + b"%x\r\n%b\r\n" % (len(start), start))
        found, sent = b"", 0
        with contextlib.suppress(ConnectionError):
            while sent < 2**24 and not found:
                connection.sendall(chunk)
                sent += len(chunk)
                with contextlib.suppress(TimeoutError):
                    connection.settimeout(0.001)
                    found = connection.recv(2**16)
                connection.settimeout(20)
    assert b"413" in found
    assert sent < 2**23


def test_a_client_that_goes_away_is_counted_and_does_no_harm(hasty: Served) -> None:
    with socket.create_connection(("127.0.0.1", hasty.port), timeout=20) as connection:
        connection.sendall(b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nDNB")
        time.sleep(0.05)
    c = hasty.collector
    end = time.monotonic() + 10
    while "truncated" not in c.outcomes() and time.monotonic() < end:
        time.sleep(0.01)
    assert c.outcomes()["truncated"] == 1
    assert hasty.ask("POST", "/v1/reports", frame(c).to_bytes()).status == 200
    assert c.service.store.waiting()[0][0].bucket == DAY
