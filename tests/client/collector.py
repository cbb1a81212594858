"""A small collector over real HTTP, which fails in any way it is told to, and counts what it has taken."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import deniable as dn
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.wire.buckets import Buckets
from deniable.wire.forms import Form, Segment, Signer, key_name
from deniable.wire.frames import ID_BYTES, Frame, read_batch, read_report
from deniable.wire.keys import WRITE, Key
from deniable.wire.payloads import Payloads, Question
from deniable.wire.refusals import Refused

QUESTION = dn.mechanism("grr", labels=["walk", "bus", "car"], epsilon=1.0)
NAME = "commute"

# Faults: a name from REASONS is a refusal, and these are what networks do.
BEFORE, AFTER, PORTAL, GATEWAY, SLOW, CUT = "drop before", "drop after", "portal", "bad gateway", "slow answer", "cut"


@dataclass
class Collector:
    """What a collector promises, with faults: each request takes the next one of `faults`, if there is any."""

    questions: list[Question] = field(default_factory=lambda: [QUESTION])
    open: bool = True
    bucket: str = "day"
    segments: tuple[Segment, ...] = ()
    window: int = 168
    issued_ids: bool = False
    lifetime: int = 86_400
    retry_after: float | None = None
    signer: Signer = field(default_factory=Signer.new)
    key: Key = field(default_factory=lambda: Key.new(WRITE))
    skew: float = 0.0
    faults: deque[str | None] = field(default_factory=deque)
    taken: dict[tuple[int, bytes], Frame] = field(default_factory=dict)
    counted: set[bytes] = field(default_factory=set)
    deleted: list[bytes] = field(default_factory=list)
    issued: set[bytes] = field(default_factory=set)
    requests: Counter[str] = field(default_factory=Counter)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def signed_by(self) -> str:
        return key_name(self.signer.public)

    def now(self) -> float:
        return time.time() + self.skew

    def form(self) -> dict[str, str]:
        specs = [q.to_dict() if isinstance(q, HeavyHitters) else q.spec.to_dict() for q in self.questions]
        now = int(self.now())
        head = (NAME, self.open, tuple(specs), self.bucket, self.segments, self.window, self.issued_ids)
        return self.signer.signed(Form(*head, now, now + self.lifetime))

    def payloads(self, frame: Frame) -> Any:
        for question in self.questions:
            if bytes.fromhex(question.fingerprint) == frame.fingerprint:
                return Payloads(question, bool(frame.ids))
        raise Refused("unknown-spec")

    def take(self, frame: Frame) -> dict[str, int]:
        if frame.key != self.key.secret:
            raise Refused("unknown-key")
        if not self.open:
            raise Refused("closed")
        payloads = self.payloads(frame)
        hour, buckets = int(self.now() // 3600), Buckets(self.bucket)
        if not buckets.is_start(frame.hour):
            raise Refused("bad-bucket")
        if frame.hour > buckets.containing(hour) + buckets.hours:
            raise Refused("in-future")
        if frame.hour < buckets.containing(hour - self.window):
            raise Refused("too-old")
        if len(frame.segments) != len(self.segments):
            raise Refused("bad-segments")
        ids = [frame.ids[i : i + ID_BYTES] for i in range(0, len(frame.ids), ID_BYTES)]
        if len(set(ids)) < len(ids) or (self.issued_ids and not set(ids) <= self.issued):
            raise Refused("bad-id")
        try:
            payloads.read(frame.payloads, ids)
        except dn.MalformedReport as error:
            raise Refused("bad-payload", str(error)) from None
        size, new = payloads.size, 0
        for place, each in enumerate(ids):
            one = frame._replace(ids=each, payloads=frame.payloads[size * place : size * (place + 1)], n=1)
            new += self.taken.setdefault((frame.hour, each), one) is one
        return {"accepted": frame.n} | ({} if frame.batch is None else {"new": new})

    def delete(self, report_id: bytes, hour: int) -> dict[str, str]:
        if (hour, report_id) not in self.taken:
            raise Refused("no-such-report")
        if report_id in self.counted:
            return {"outcome": "counted"}
        del self.taken[hour, report_id]
        self.deleted.append(report_id)
        return {"outcome": "deleted"}

    def issue(self, count: int) -> dict[str, Any]:
        ids = [Key.new(WRITE).secret for _ in range(count)]
        self.issued.update(ids)
        return {"bucket": Buckets(self.bucket).at(self.now()), "ids": [each.hex() for each in ids]}

    def answer(self, method: str, path: str, body: bytes, authorization: str) -> dict[str, Any]:
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if (method, parts.path) == ("GET", f"/v1/forms/{NAME}"):
            return self.form()
        if (method, parts.path) == ("POST", "/v1/reports"):
            return self.take(read_report(body))
        if (method, parts.path) == ("POST", "/v1/batches"):
            return self.take(read_batch(body))
        if authorization != f"Bearer {self.key.text}":
            raise Refused("no-key")
        if (method, parts.path) == ("GET", "/v1/ids"):
            return self.issue(int(query["count"]))
        if method == "DELETE" and parts.path.startswith("/v1/reports/"):
            return self.delete(bytes.fromhex(parts.path.rpartition("/")[2]), int(query["bucket"]))
        raise Refused("not-found")


class _Handler(BaseHTTPRequestHandler):
    collector: Collector

    def do_GET(self) -> None:
        self._respond()

    do_POST = do_DELETE = do_GET  # noqa: N815

    def _respond(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        collector = self.collector
        with collector.lock:
            collector.requests[f"{self.command} {urlsplit(self.path).path}"] += 1
            collector.bodies.append(body)
            fault = collector.faults.popleft() if collector.faults else None
            if fault == BEFORE:
                return self._hang_up()
            if fault == PORTAL:
                return self._send(200, b"<html>Welcome to the hotel. Please log in.</html>")
            if fault == GATEWAY:
                return self._send(502, b"<html>bad gateway</html>")
            try:
                if fault in (None, AFTER, SLOW, CUT):
                    found = collector.answer(self.command, self.path, body, self.headers.get("Authorization", ""))
                else:
                    raise Refused(str(fault), retry_after=collector.retry_after)
            except Refused as refused:
                return self._send(refused.status, json.dumps(refused.to_dict()).encode(), refused.retry_after)
        if fault == AFTER:
            return self._hang_up()
        if fault == SLOW:
            time.sleep(1.0)
        return self._send(200, json.dumps(found).encode(), cut=fault == CUT)

    def _send(self, status: int, body: bytes, retry_after: float | None = None, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if retry_after is not None:
            self.send_header("Retry-After", str(int(retry_after)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)

    def _hang_up(self) -> None:
        self.connection.close()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that goes away is not worth a line."""


@contextmanager
def serving(collector: Collector) -> Iterator[Collector]:
    """Answer on a free port of this machine until the block ends."""
    handler = type("Handler", (_Handler,), {"collector": collector})
    with _Server(("127.0.0.1", 0), handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()
