"""A collector for tests: asked in this process, or over HTTP on a port of loopback."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import deniable as dn
from deniable.collector.http.application import Application
from deniable.collector.http.logs import Log
from deniable.collector.http.server import Server, listening
from deniable.collector.service.clock import Clock
from deniable.collector.service.service import Service
from deniable.collector.store.protocol import Store
from deniable.wire.frames import Frame
from deniable.wire.keys import ADMIN, Key
from deniable.wire.payloads import Payloads
from tests.collector.http import conforming
from tests.naive.store import MemoryStore

LABELS = ["a", "b", "c"]
M = dn.mechanism("grr", labels=LABELS, epsilon=2.0)
NOW = 1_774_828_800 + 3600 * 13  # 2026-03-30, in the afternoon
DAY = 1_774_828_800 // 3600
JSON = "application/json"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def kind(self) -> str:
        """The reason of a refusal, in the one shape that they have; "" otherwise."""
        if self.status < 400:
            return ""
        found = self.json
        assert {"error", "kind", "code"} <= set(found) <= {"error", "kind", "code", "retry_after"}
        assert found["code"] == self.status
        assert ("retry-after" in self.headers) == ("retry_after" in found)
        return str(found["kind"])


class Running:
    """A collector without a network. `clock` is a list of one number, the seconds that it is."""

    def __init__(self, store: Store | None = None, log: Log | None = None) -> None:
        self.now = [float(NOW)]
        self.faults: list[Exception] = []
        store = MemoryStore() if store is None else store
        clock = Clock(lambda: self.now[0], lambda: self.now[0])
        self.service = Service(store, clock=clock, report=self.faults.append)
        self.admin = Key.new(ADMIN).text
        self.service.office.keep_key(Key.read(self.admin), None, "tests")
        self.service.refresh()
        self.application = Application(self.service, log)
        self.keys: dict[str, dict[str, str]] = {}

    def close(self) -> None:
        self.application.close()
        self.service.close()

    def make(self, name: str = "themes", spec: Any = M, **settings: Any) -> None:
        """Make a collection, by default with a minimum of 1."""
        document = spec.to_dict() if isinstance(spec, dn.HeavyHitters) else spec.spec.to_dict()
        body = {"name": name, "spec": document, "settings": {"minimum": 1, **settings}}
        answer = self.ask("POST", "/v1/collections", body, self.admin)
        assert answer.status == 201, answer
        self.keys[name] = {each["role"]: each["key"] for each in answer.json["keys"]}

    def key(self, role: str, name: str = "themes") -> str:
        return self.admin if role == ADMIN else self.keys[name][role]

    def fold(self) -> None:
        """Count what waits, as the background does."""
        self.service.keeper.fold()

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None, **headers: str) -> Answer:
        """Send one request through the application; its answer is one that the OpenAPI document describes."""
        answer = asyncio.run(self._ask(method, path, *request(body, key, headers)))
        document = answer.json if answer.headers.get("content-type") == JSON and answer.body else None
        conforming.check(method, path.partition("?")[0], answer.status, answer.headers, document)
        return answer

    async def _ask(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        parts, _, query = path.partition("?")
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        pairs = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
        scope = {"type": "http", "method": method, "path": parts, "query_string": query.encode(), "headers": pairs}
        await self.application(scope, receive, send)
        found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], found, b"".join(each.get("body", b"") for each in sent[1:]))

    def outcomes(self) -> dict[str, int]:
        """How many requests had each outcome."""
        found: dict[str, int] = {}
        for (_, kind), count in self.service.outcomes.counts().items():
            found[kind] = found.get(kind, 0) + count
        return found


def request(body: Any, key: str | None, headers: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    """The bytes and headers of a request: bytes are a frame, other things JSON."""
    data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    found = {"content-length": str(len(data)), "host": "test"}
    if body is not None:
        found["content-type"] = "application/octet-stream" if isinstance(body, bytes) else JSON
    if key is not None:
        found["authorization"] = f"Bearer {key}"
    return data, found | {name.replace("_", "-"): value for name, value in headers.items()}


def frame(collector: Running, value: object = "a", name: str = "themes", **changes: Any) -> Frame:
    """A report of a value, with some parts changed."""
    report_id = changes.pop("ids", os.urandom(16))
    payload = Payloads(M, True).made(value, report_id)
    secret = Key.read(collector.keys[name]["write"]).secret
    made = Frame(secret, bytes.fromhex(M.fingerprint), DAY, b"", report_id, payload)
    return made._replace(**changes)


def batch(collector: Running, values: list[str], name: str = "themes", **changes: Any) -> Frame:
    """A batch of reports of these values, without ids."""
    payloads = Payloads(M, False).joined(M.privatize(values))
    return frame(collector, "a", name, ids=os.urandom(16))._replace(
        ids=b"", payloads=payloads, n=len(values), batch=os.urandom(16), **changes
    )


class Served(NamedTuple):
    """A collector behind a real server."""

    collector: Running
    port: int

    def ask(self, method: str, path: str, body: Any = None, key: str | None = None, **headers: str) -> Answer:
        """Send one request over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            return asked(connection, method, path, body, key, **headers)
        finally:
            connection.close()


def asked(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: Any = None,
    key: str | None = None,
    **more: str,
) -> Answer:
    """Send one request over this connection."""
    data, headers = request(body, key, more)
    connection.request(method, path, data, headers)
    response = connection.getresponse()
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())


@contextmanager
def serving(collector: Running) -> Iterator[Served]:
    """Serve a collector on a free port of loopback."""
    bound = listening("127.0.0.1", 0)
    begun = threading.Event()
    server = Server(collector.application, begun.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    assert begun.wait(20)
    try:
        yield Served(collector, bound.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
