"""Bodies with bytes changed, cut, doubled or drawn at random, and what must be stored of those that were accepted."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

import deniable as dn
from deniable.wire.as_json import batch_from_json, report_from_json, to_json
from deniable.wire.frames import ID_BYTES, Frame, read_batch, read_report
from deniable.wire.payloads import Payloads
from tests.collector.http.lines import Sent, post
from tests.collector.http.processes import Collector
from tests.collector.http.running import JSON

SEGMENTS = [{"name": "country", "labels": ["de", "fr", "it"]}]
LABELS = [["de", "fr", "it"]]
QUESTIONS = {
    "themes": (dn.mechanism("grr", labels=["a", "b", "c"], epsilon=2.0), LABELS),
    "coins": (dn.mechanism("clh", k=100, epsilon=2.0), []),
}
ROUTES = ("/v1/reports", "/v1/batches")
TYPES = ("application/octet-stream", "text/plain", JSON, "text/html", "")


class Body(NamedTuple):
    """A body that was sent, and how."""

    path: str
    data: bytes
    kind: str

    def frame(self, fingerprints: dict[bytes, list[list[str]]]) -> Frame:
        """What an accepted body says."""
        single = self.path == ROUTES[0]
        if self.kind == JSON:
            return (report_from_json if single else batch_from_json)(
                self.data, lambda _, fingerprint: fingerprints.get(fingerprint)
            )
        return (read_report if single else read_batch)(self.data)


class Damage:
    """Makes bodies. Each has ids of its own, but for those that are sent again as they were."""

    def __init__(self, collector: Collector, hour: int, seed: int) -> None:
        self._rng = random.Random(seed)
        self._earlier: deque[Body] = deque(maxlen=200)
        self._good = [each for name in QUESTIONS for each in self._of(collector.secrets[name], name, hour)]
        self._wrong = self._good[0][1]._replace(fingerprint=bytes(32))

    def _of(self, secret: bytes, name: str, hour: int) -> list[tuple[str, Frame, str]]:
        """A report, a batch and a batch with ids, as frames and as JSON."""
        spec, labels = QUESTIONS[name]
        segments, fingerprint = bytes(len(labels)), bytes.fromhex(spec.fingerprint)
        one = Frame(secret, fingerprint, hour, segments, bytes(ID_BYTES), bytes(Payloads(spec, True).size))
        whole = one._replace(ids=b"", payloads=bytes(20 * Payloads(spec, False).size), n=20, batch=bytes(ID_BYTES))
        several = one._replace(payloads=one.payloads * 5, n=5, batch=bytes(ID_BYTES))
        found = [(ROUTES[0], one, ""), (ROUTES[1], whole, ""), (ROUTES[1], several, "")]
        return 3 * found + [(path, frame, JSON) for path, frame, _ in found]

    def _fresh(self) -> Body:
        """A good body with new ids."""
        path, frame, kind = self._rng.choice(self._good)
        many = frame.batch is not None
        ids = self._rng.randbytes(ID_BYTES * frame.n) if frame.ids or not many else b""
        made = frame._replace(ids=ids, batch=self._rng.randbytes(ID_BYTES) if many else None)
        if kind != JSON:
            return Body(path, made.to_bytes(), self._rng.choice(TYPES))
        spec, labels = next(each for each in QUESTIONS.values() if each[0].fingerprint == frame.fingerprint.hex())
        return Body(path, to_json(made, labels, Payloads(spec, bool(ids)).size), kind)

    def _body(self) -> Body:
        rng = self._rng
        if self._earlier and rng.random() < 0.02:
            return rng.choice(self._earlier)
        found = self._fresh()
        data = bytearray(found.data)
        how = rng.randrange(6)
        for _ in range(rng.randrange(1 if rng.random() < 0.1 else 4) if how else rng.randrange(2)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if how in (1, 2):
            data = data[: rng.randrange(len(data))]
        elif how == 3:
            data = bytearray(rng.randbytes(rng.randrange(300)))
        elif how == 4:
            data += data[rng.randrange(len(data)) :]
        path = rng.choice(ROUTES) if rng.random() < 0.1 else found.path
        kind = rng.choice(TYPES) if rng.random() < 0.1 else found.kind
        self._earlier.append(made := Body(path, bytes(data), kind))
        return made

    def requests(self, count: int) -> Iterator[Sent]:
        """So many bodies, each in a request; some in chunks."""
        for _ in range(count):
            body = self._body()
            lines = [f"Content-Type: {body.kind}"] if body.kind else []
            if self._rng.random() < 0.05 and body.data:
                yield Sent(_in_chunks(body, lines), body)
            else:
                yield Sent(post(body.path, body.data, *lines), body)

    def heads(self, count: int) -> Iterator[bytes]:
        """So many requests whose head is damaged, none of which could be accepted."""
        rng = self._rng
        for _ in range(count):
            data = bytearray(post(rng.choice(ROUTES), self._wrong.to_bytes(), f"Content-Type: {rng.choice(TYPES[:4])}"))
            end = data.index(b"\r\n\r\n") + 4
            for _ in range(rng.randrange(1, 4)):
                data[rng.randrange(end)] = rng.randrange(256)
            if rng.random() < 0.3:
                at = rng.randrange(end)
                data[at:at] = rng.choice([b"\r\n", b"\0", b" " * 50, b"Content-Length: 5\r\n", b"x" * 9000])
            yield bytes(data)


def _in_chunks(body: Body, lines: list[str]) -> bytes:
    head = (f"POST {body.path} HTTP/1.1", "Host: test", "Transfer-Encoding: chunked", *lines, "", "")
    half = len(body.data) // 2
    parts = [part for part in (body.data[:half], body.data[half:]) if part]
    return "\r\n".join(head).encode() + b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


class Stored:
    """What must be in the store after some bodies were accepted: every id once, and the counts of their reports."""

    def __init__(self, accepted: list[Body], numbers: dict[str, int]) -> None:
        self.ids: set[tuple[int, int, bytes]] = set()
        self._reports: dict[tuple[int, str, int, bytes], list[tuple[bytes, bytes]]] = {}
        specs = {bytes.fromhex(spec.fingerprint): (name, labels) for name, (spec, labels) in QUESTIONS.items()}
        for body in accepted:
            frame = body.frame({fingerprint: labels for fingerprint, (_, labels) in specs.items()})
            self._add(frame, numbers[specs[frame.fingerprint][0]])
        self.n = sum(len(data) // self._size(ids, cell) for cell, own in self._reports.items() for ids, data in own)
        self.counts = {cell: self._summary(cell) for cell in self._reports}

    def _add(self, frame: Frame, number: int) -> None:
        cell = (number, frame.fingerprint.hex(), frame.hour, frame.segments)
        if not frame.ids:
            assert frame.batch is not None
            if (number, frame.hour, frame.batch) not in self.ids:
                self.ids.add((number, frame.hour, frame.batch))
                self._reports.setdefault(cell, []).append((b"", frame.payloads))
            return
        size = len(frame.payloads) // frame.n
        for place in range(frame.n):
            one = frame.ids[ID_BYTES * place : ID_BYTES * (place + 1)]
            if (number, frame.hour, one) not in self.ids:
                self.ids.add((number, frame.hour, one))
                payload = frame.payloads[size * place : size * (place + 1)]
                self._reports.setdefault(cell, []).append((one, payload))

    def _size(self, ids: bytes, cell: tuple[int, str, int, bytes]) -> int:
        return Payloads(_spec(cell[1]), bool(ids)).size

    def _summary(self, cell: tuple[int, str, int, bytes]) -> bytes:
        spec, own = _spec(cell[1]), self._reports[cell]
        total = None
        for has_ids in (False, True):
            chosen = [each for each in own if bool(each[0]) == has_ids]
            if chosen:
                ids = [each for each, _ in chosen] if has_ids else []
                reports: Any = Payloads(spec, has_ids).read(b"".join(payload for _, payload in chosen), ids)
                found = spec.summarize(reports)
                total = found if total is None else total + found
        assert total is not None
        return total.to_bytes()


def _spec(fingerprint: str) -> Any:
    return next(spec for spec, _ in QUESTIONS.values() if spec.fingerprint == fingerprint)
