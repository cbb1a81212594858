"""A collector of a few lines in memory, honest or with a planted fault: what the verdict on a run is tested by."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow.parquet

import deniable as dn
from deniable.collector.load.administration import LABELS, SEGMENT
from deniable.collector.load.verdict import ACCEPTED, REQUESTS, STORED
from deniable.core.errors import DeniableError
from deniable.wire.buckets import Buckets
from deniable.wire.frames import ID_BYTES, Frame, read_batch, read_report
from deniable.wire.keys import ADMIN, WRITE, Key
from deniable.wire.payloads import Payloads
from deniable.wire.refusals import Refused

Stored = tuple[int, bytes, bytes, bytes]  # hour, segments, ids, payloads


@dataclass
class SmallCollector:
    """Takes reports as a collector does; `fault` is what it does wrong, on every tenth request."""

    fault: str = ""
    admin: Key = field(default_factory=lambda: Key.new(ADMIN))
    write: Key = field(default_factory=lambda: Key.new(WRITE))
    url: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    stored: list[Stored] = field(default_factory=list)
    remembered: set[bytes] = field(default_factory=set)
    mechanism: Any = None
    requests: int = 0
    accepted: int = 0
    refused: dict[str, int] = field(default_factory=dict)

    @contextlib.contextmanager
    def serving(self) -> Iterator[SmallCollector]:
        """Serve on a free port of this machine in a thread."""
        loop = asyncio.new_event_loop()
        server = loop.run_until_complete(asyncio.start_server(self._converse, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(self._stop(server), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    async def _stop(self, server: asyncio.Server) -> None:
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                size = next((int(line[15:]) for line in head.splitlines() if line.lower().startswith("content-len")), 0)
                method, path, _ = head.split(" ", 2)
                status, body = self._answer(method, path, await reader.readexactly(size))
                if status == 0:
                    break
                writer.write(f"HTTP/1.1 {status} .\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        writer.close()

    def _answer(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        try:
            if path in ("/v1/reports", "/v1/batches"):
                return self._take((read_report if path == "/v1/reports" else read_batch)(body))
        except Refused as error:
            self.refused[error.kind] = self.refused.get(error.kind, 0) + 1
            if self.fault == "accepts anything":
                return 200, b"{}"
            return error.status, json.dumps(error.to_dict()).encode()
        if (method, path) == ("POST", "/v1/collections"):
            made = json.loads(body)
            self.mechanism, self.settings = dn.from_spec(made["spec"]), made["settings"]
            return 201, json.dumps({"keys": [{"role": WRITE, "key": self.write.text}]}).encode()
        if path.endswith("/summaries"):
            return 200, self._export()
        if path == "/metrics":
            return 200, self._metrics().encode()
        if method == "PATCH":
            self.settings |= json.loads(body)
        counted = sum(len(payloads) // self._payloads(ids).size for *_, ids, payloads in self.stored)
        said = counted + 5 if self.fault == "miscounts" else counted
        return 200, json.dumps({"counted": said, "waiting": 0, "published": said}).encode()

    def _take(self, frame: Frame) -> tuple[int, bytes]:
        self._check(frame)
        self.requests += 1
        tenth = self.requests % 10 == 0
        if tenth and self.fault == "breaks connections before" and self.requests < 200:
            return 0, b""
        self.accepted += 1
        own = [frame.batch] if frame.batch and not frame.ids else _cut(frame.ids, ID_BYTES)
        new = [each for each in own if each not in self.remembered]
        if new and not (tenth and self.fault in ("loses", "swaps")):
            self.remembered.update(new)
            self.stored.append((frame.hour, frame.segments, frame.ids, frame.payloads))
            if (tenth and self.fault == "counts twice") or (self.fault == "swaps" and self.requests % 10 == 1):
                self.stored.append(self.stored[-1])
        if tenth and self.fault == "breaks connections after" and self.requests < 200:
            return 0, b""
        return 200, json.dumps({"accepted": frame.n, "new": len(new)}).encode()

    def _check(self, frame: Frame) -> None:
        if not any(frame.key):
            raise Refused("no-key")
        if frame.key != self.write.secret:
            raise Refused("unknown-key")
        if frame.fingerprint.hex() != self.mechanism.fingerprint:
            raise Refused("unknown-spec")
        buckets = Buckets.of(self.settings["bucket"])
        if not buckets.is_start(frame.hour):
            raise Refused("bad-bucket")
        if frame.hour > 550_000:
            raise Refused("in-future")
        if frame.hour < 450_000:
            raise Refused("too-old")
        if len(frame.segments) != 1 or frame.segments[0] >= len(LABELS):
            raise Refused("bad-segments")
        try:
            payloads = self._payloads(frame.ids)
            if len(payloads.read(frame.payloads, _cut(frame.ids, ID_BYTES))) != frame.n:
                raise Refused("bad-payload")
        except DeniableError as error:
            raise Refused("bad-payload", str(error)) from None

    def _payloads(self, ids: bytes) -> Payloads:
        return Payloads(self.mechanism, bool(ids))

    def _export(self) -> bytes:
        found: dict[tuple[int, str], Any] = {}
        for hour, segments, ids, payloads in self.stored:
            reports = self._payloads(ids).read(payloads, _cut(ids, ID_BYTES))
            group = (hour, LABELS[segments[0]])
            summary = self.mechanism.summarize(reports)
            found[group] = found[group] + summary if group in found else summary
        out = io.BytesIO()
        table = dn.SummaryTable(("bucket", SEGMENT), found, self.mechanism.fingerprint)
        pyarrow.parquet.write_table(table.to_arrow(), out)
        return out.getvalue()

    def _metrics(self) -> str:
        outcomes = Counter(self.refused) | Counter({ACCEPTED: self.accepted})
        lines = [f'{REQUESTS}{{route="POST",outcome="{kind}"}} {count}' for kind, count in outcomes.items()]
        forgotten = 1 if self.fault == "forgets a request" and self.accepted else 0
        stored = sum(len(payloads) // self._payloads(ids).size for *_, ids, payloads in self.stored)
        return "\n".join([f"# TYPE {STORED[:-6]} counter", f"{STORED} {stored - forgotten}", *lines, "# EOF", ""])


def _cut(data: bytes, size: int) -> list[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]
