"""Single reports that arrive in one piece, as nearly all do: taken and answered without a task of their own.

What a task, a future and messages of ASGI cost is more than what a report costs. Here a request goes from the parser to
the writer's queue, and those that share a commit are answered together. Whatever is out of the ordinary (pages of other
sites, bodies in pieces, JSON) goes the way of all other requests.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from deniable.collector.http.hot import ACCEPTED, REPORTS, write_secret
from deniable.collector.http.incoming import Headers
from deniable.collector.http.replies import NOT_STORED, STRICT, Pairs, Reply
from deniable.collector.http.table import BINARY, PLAIN
from deniable.collector.service.outcomes import OK
from deniable.collector.service.service import Service
from deniable.collector.service.taking import Taken, secret_in
from deniable.wire.frames import read_report

PATH = b"/v1/reports"
MOST = 4_096  # bytes of a body
_TYPES = (BINARY.encode(), PLAIN.encode())
_UNUSUAL = frozenset((b"origin", b"expect", b"transfer-encoding", b"connection", b"upgrade"))


def is_usual(headers: Mapping[bytes, bytes]) -> bool:
    """Whether these are the headers of a frame that nothing need be said about."""
    return _UNUSUAL.isdisjoint(headers) and headers.get(b"content-type", _TYPES[0]) in _TYPES


def bytes_of(reply: Reply, more: Pairs = STRICT, *, close: bool = False) -> bytes:
    """An answer as it goes over the wire."""
    lines = [STATUS_LINE[reply.status]]
    lines += [b"%s: %s\r\n" % pair for pair in (*more, *reply.headers) if pair[0] != b"connection"]
    lines.append(b"content-type: %s\r\ncontent-length: %d\r\n" % (reply.kind.encode(), len(reply.body)))
    lines.append(b"connection: close\r\n\r\n" if close else b"\r\n")
    return b"".join([*lines, reply.body])


_ACCEPTED = bytes_of(ACCEPTED)


class _Nobody:
    """In place of the event for which the task of a request would wait."""

    def set(self) -> None:
        """Do nothing."""


class Short:
    """One request, in the place of uvicorn's cycle of request and response."""

    __slots__ = ("authorized", "desk", "disconnected", "keep_alive", "message_event", "protocol", "response_complete",
                 "response_started", "started")  # fmt: skip

    def __init__(self, protocol: Any, authorized: bool) -> None:
        self.protocol = protocol
        self.authorized = authorized
        self.desk = 0  # the number of the collection, once it is known
        self.started = time.perf_counter()
        self.keep_alive = True
        self.disconnected = self.response_started = self.response_complete = False
        self.message_event = _Nobody()

    def send(self, data: bytes) -> None:
        """Write the answer; the next request of the connection may begin."""
        self.response_started = self.response_complete = True
        protocol = self.protocol
        if not protocol.transport.is_closing():
            protocol.transport.write(data)
            if not self.keep_alive:
                protocol.transport.close()
        protocol.on_response_complete()


class ShortWay:
    """Takes requests of this kind to the service, and answers them when they are durable."""

    def __init__(self, service: Service, application: Any) -> None:
        self._service = service
        self._application = application
        self._wake: Callable[[Sequence[Taken]], None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def take(self, short: Short, body: bytes, headers: Pairs, loop: asyncio.AbstractEventLoop) -> None:
        """Take one report."""
        service = self._service
        try:
            frame = read_report(body)
            header = write_secret(Headers({"headers": headers})) if short.authorized else None
            holder, desk = service.directory.writer(secret_in(frame, header))
            short.desk = desk.number
            service.take(frame, holder, desk, self._waker(loop), short, size=len(body))
        except Exception as error:
            self._refuse(short, error)

    def _waker(self, loop: asyncio.AbstractEventLoop) -> Callable[[Sequence[Taken]], None]:
        """One callable for each loop, so that the writer wakes all who wait at once."""
        if self._wake is None or self._loop is not loop:

            def wake(group: Sequence[Taken]) -> None:
                with suppress(RuntimeError):  # the loop has ended, and with it all who waited
                    loop.call_soon_threadsafe(self._answer, group)

            self._loop, self._wake = loop, wake
        return self._wake

    def _answer(self, group: Sequence[Taken]) -> None:
        """Answer all who shared a commit."""
        outcomes, log = self._service.outcomes, self._application.log
        good = [taken.ticket for taken in group if not isinstance(taken.outcome, Exception)]
        if good:
            outcomes.add(REPORTS, OK, self._service.clock.hour(), requests=len(good))
        for short in good:
            log.request(REPORTS, 200, OK, short.started)
            self._send(short, _ACCEPTED if short.keep_alive else bytes_of(ACCEPTED, close=True))
        for taken in group:
            if isinstance(taken.outcome, Exception):
                self._refuse(taken.ticket, taken.outcome)

    def _refuse(self, short: Short, error: Exception) -> None:
        kind, reply = self._application.told(error)
        self._service.outcomes.add(REPORTS, kind, self._service.clock.hour(), short.desk)
        self._application.log.request(REPORTS, reply.status, kind, short.started)
        short.keep_alive = short.keep_alive and not any(name == b"connection" for name, _ in reply.headers)
        more = STRICT + NOT_STORED if short.authorized else STRICT
        self._send(short, bytes_of(reply, more, close=not short.keep_alive))

    def _send(self, short: Short, data: bytes) -> None:
        """Answer one request; where that fails its connection ends, and all others are answered still."""
        try:
            short.send(data)
        except Exception as fault:
            self._application.log.fault(fault)
            short.protocol.transport.abort()
