"""The two routes by which reports arrive, in plain ASGI: most requests are these, and each is a few microseconds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from deniable.collector.http.decoding import MOST_WITHOUT_HEADER, Decoder
from deniable.collector.http.incoming import Headers, Learn, Reader, Receive, Scope
from deniable.collector.http.replies import STRICT, Reply, as_json
from deniable.collector.http.table import BINARY, JSON, PLAIN
from deniable.collector.service.service import Service
from deniable.collector.service.taking import Taken, secret_in
from deniable.core.errors import shown
from deniable.wire.as_json import batch_from_json, report_from_json
from deniable.wire.frames import BATCH_MAGIC, REPORT_MAGIC, Frame, key_in, read_batch, read_report
from deniable.wire.keys import NO_KEY, WRITE
from deniable.wire.refusals import Refused

REPORTS, BATCHES = "POST /v1/reports", "POST /v1/batches"
ACCEPTED = Reply(b'{"accepted":1}')
ACCEPTED_START = {
    "type": "http.response.start",
    "status": ACCEPTED.status,
    "headers": [
        (b"content-type", ACCEPTED.kind.encode()),
        (b"content-length", str(len(ACCEPTED.body)).encode()),
        *STRICT,
    ],
}
ACCEPTED_BODY = {"type": "http.response.body", "body": ACCEPTED.body}
_AROUND_PAYLOAD = 2**13  # bytes of the JSON of a report beside its payload, at most
_FRAMES = (BINARY, PLAIN, "")  # a frame says what it is, so its type need not be given


class Door:
    """Takes reports from the network to the service, and waits until they are durable."""

    def __init__(self, service: Service, reader: Reader) -> None:
        self._service = service
        self._reader = reader
        self._decoder = Decoder()
        self._wake: Callable[[Sequence[Taken]], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def close(self) -> None:
        """End what it began."""
        self._decoder.close()

    async def report(self, scope: Scope, receive: Receive, headers: Headers, told: dict[str, Any]) -> Reply:
        """Take one report."""
        taken = await self._take(scope, receive, headers, told, read_report, report_from_json)
        if isinstance(taken.outcome, Exception):
            raise taken.outcome
        return ACCEPTED

    async def batch(self, scope: Scope, receive: Receive, headers: Headers, told: dict[str, Any]) -> Reply:
        """Take a batch."""
        taken = await self._take(scope, receive, headers, told, read_batch, batch_from_json)
        if isinstance(taken.outcome, Exception):
            raise taken.outcome
        return as_json({"accepted": taken.frame.n, "new": taken.outcome})

    async def _take(
        self,
        scope: Scope,
        receive: Receive,
        headers: Headers,
        told: dict[str, Any],
        of_bytes: Callable[[bytes], Frame],
        of_json: Callable[..., Frame],
    ) -> Taken:
        service = self._service
        header = write_secret(headers)
        body = await self._body(scope, receive, headers, header, single=of_bytes is read_report)
        frame = await self._read(body, headers.kind, header, of_bytes, of_json)
        secret = secret_in(frame, header)
        holder, desk = service.directory.writer(secret)
        told["desk"] = desk
        origin = None if headers.origin is None or headers.same_site else headers.origin
        loop = asyncio.get_running_loop()
        ticket = loop.create_future()
        taken = service.take(frame, holder, desk, self._waker(loop), ticket, origin=origin, size=len(body))
        await ticket
        return taken

    async def _body(
        self, scope: Scope, receive: Receive, headers: Headers, header: bytes | None, *, single: bool
    ) -> bytes:
        """The body, of which little is read before its key is known, and no more than its collection takes."""
        most = self._service.directory.most_bytes
        learn: Learn | None = partial(self._learn, REPORT_MAGIC if single else BATCH_MAGIC)
        if header is not None:
            desk = self._service.directory.writer(header)[1]
            most, learn = desk.settings.body_bytes, None
            if single and headers.kind == JSON:
                most = min(most, _AROUND_PAYLOAD + 2 * desk.longest_payload)
        elif headers.kind == JSON:
            most, learn = min(most, MOST_WITHOUT_HEADER), _learn_nothing
        return await self._reader.body(scope, receive, headers.length, most, learn)

    def _learn(self, magic: bytes, start: bytes) -> int | None:
        """The most bytes of a frame, by the key in it."""
        secret = key_in(start, magic)
        if secret is None:
            return None
        if secret == NO_KEY:
            raise Refused("no-key")
        return self._service.directory.writer(secret)[1].settings.body_bytes

    async def _read(
        self,
        body: bytes,
        kind: str,
        header: bytes | None,
        of_bytes: Callable[[bytes], Frame],
        of_json: Callable[..., Frame],
    ) -> Frame:
        if kind in _FRAMES:
            return of_bytes(body)
        if kind != JSON:
            raise Refused("unsupported-type", f"send {BINARY}, {PLAIN} or {JSON}, got {shown(kind)}")

        def places(key: bytes, fingerprint: bytes) -> Sequence[Sequence[str]] | None:
            secret = header if key == NO_KEY else key
            if secret is None:
                raise Refused("no-key")
            desk = self._service.directory.writer(secret)[1]
            return [each.labels for each in desk.settings.segments] if fingerprint in desk.specs else None

        return await self._decoder.read(of_json, body, places)

    def _waker(self, loop: asyncio.AbstractEventLoop) -> Callable[[Sequence[Taken]], None]:
        """One callable for each loop, so that the writer wakes all who wait at once."""
        if self._wake is None or self._loop is not loop:

            def wake(group: Sequence[Taken]) -> None:
                with suppress(RuntimeError):  # the loop has ended, and with it all who waited
                    loop.call_soon_threadsafe(_answer, group)

            self._loop, self._wake = loop, wake
        return self._wake


def _answer(group: Sequence[Taken]) -> None:
    for taken in group:
        if not taken.ticket.done():
            taken.ticket.set_result(None)


def _learn_nothing(_: bytes) -> None:
    """Of JSON without a header the key is known at its end."""


def write_secret(headers: Headers) -> bytes | None:
    """The write key of the header, if there is one."""
    key = headers.key
    if key is None:
        return None
    if key.role != WRITE:
        raise Refused("wrong-key", "reports are sent with a write key")
    return key.secret
