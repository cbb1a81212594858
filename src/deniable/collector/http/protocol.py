"""HTTP as uvicorn speaks it, with a time limit for headers and bodies, and errors in our own shape."""

from __future__ import annotations

from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from deniable.collector.http.incoming import SLOW
from deniable.collector.http.replies import Reply

HEADER_SECONDS = 10.0
BODY_SECONDS = 60.0
_MOST_CONNECTIONS = 4_096
_MOST_HEADERS = 2**16  # bytes


class Protocol(HttpToolsProtocol):  # type: ignore[misc]  # uvicorn is not typed for us
    """One connection. A request that arrives whole, as most do, costs no timer."""

    header_seconds = HEADER_SECONDS
    body_seconds = BODY_SECONDS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: TimerHandle | None = None
        self._in_headers = False
        self._in_body = False
        self._header_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.close()
            return
        self._arm(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        before = self._in_headers, self._in_body
        self._header_bytes += len(data)
        super().data_received(data)
        now = self._in_headers, self._in_body
        if self._in_headers and self._header_bytes > _MOST_HEADERS:
            self.send_400_response("headers are too long")
        if now == (False, False):
            if self._timer is not None:
                self._disarm()
        elif now != before or self._timer is None:
            self._arm(self.body_seconds if self._in_body else self.header_seconds)

    def on_message_begin(self) -> None:
        self._in_headers = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_headers, self._in_body, self._header_bytes = False, True, 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body, self._header_bytes = False, 0
        super().on_message_complete()

    def send_400_response(self, _msg: str) -> None:
        """Answer bytes that are no HTTP request."""
        if not self.transport.is_closing():
            self._send(self.config.app.unread("not-http"))

    def _arm(self, seconds: float) -> None:
        self._disarm()
        self._timer = self.loop.call_later(seconds, self._too_slow)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _too_slow(self) -> None:
        """Cut off a client whose headers or body do not arrive."""
        self._timer = None
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if self._in_body and cycle is not None and not cycle.response_started:
            self.scope[SLOW] = True  # whoever reads the body refuses it, and counts it
            cycle.disconnected = True
            cycle.message_event.set()
            self._send(self.config.app.slow())
        elif self._in_headers:
            self._send(self.config.app.unread("slow"))
        else:
            self.transport.close()

    def _send(self, reply: Reply) -> None:
        lines = [STATUS_LINE[reply.status]]
        lines += [b"%s: %s\r\n" % pair for pair in reply.headers if pair[0] != b"connection"]
        lines.append(b"content-type: %s\r\n" % reply.kind.encode())
        lines.append(b"content-length: %d\r\nconnection: close\r\n\r\n" % len(reply.body))
        self.transport.write(b"".join([*lines, reply.body]))
        self.transport.close()
