"""HTTP as uvicorn speaks it, with a time limit for headers, bodies and answers, and errors in our own shape."""

from __future__ import annotations

import sys
from asyncio import TimerHandle
from typing import Any

from httptools import HttpParserCallbackError, HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from deniable.collector.http.incoming import SLOW
from deniable.collector.http.replies import Reply
from deniable.collector.http.short import MOST, PATH, Short, ShortWay, bytes_of, is_usual
from deniable.wire.refusals import Refused

HEADER_SECONDS = 10.0
BODY_SECONDS = 60.0
WRITE_SECONDS = 60.0
_LEAST_READ = 2**16  # bytes of a long answer that a client reads in this time, or else its last
_MOST_CONNECTIONS = 4_096
_MOST_BESIDE = 2**16  # bytes of headers, and of what stands before, between or after the pieces of a body


class Protocol(HttpToolsProtocol):  # type: ignore[misc]  # uvicorn is not typed for us
    """One connection. A request that arrives whole, as most do, costs no timer."""

    header_seconds = HEADER_SECONDS
    body_seconds = BODY_SECONDS
    write_seconds = WRITE_SECONDS

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._timer: TimerHandle | None = None
        self._writing: TimerHandle | None = None  # runs while more of an answer waits for its reader than we send ahead
        self._in_headers = False
        self._in_body = False
        self._beside = 0  # bytes since the request, or the last piece of its body, began
        self._short_way: ShortWay | None = getattr(self.config.app, "short_way", None)
        self._authorized = False
        self._whole: bytearray | None = None  # the body of a request that may go the short way

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > _MOST_CONNECTIONS:
            transport.close()
            return
        self._arm(self.header_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._stop_watching()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_watching()

    def timeout_keep_alive_handler(self) -> None:
        if not self.transport.is_closing() and self.transport.get_write_buffer_size():
            self.transport.abort()  # a close would wait until all is read
        else:
            super().timeout_keep_alive_handler()

    def data_received(self, data: bytes) -> None:
        before = self._in_headers, self._in_body
        self._beside += len(data)
        super().data_received(data)
        if self._whole is not None:  # there is more to come
            self._go_the_long_way()
        now = self._in_headers, self._in_body
        if (self._in_headers or self._in_body) and self._beside > _MOST_BESIDE:
            self.send_400_response("headers are too long")
        if now == (False, False):
            if self._timer is not None:
                self._disarm()
        elif now != before or self._timer is None:
            self._arm(self.body_seconds if self._in_body else self.header_seconds)

    def on_message_begin(self) -> None:
        self._in_headers = True
        # what else uvicorn begins a request with is made when it is needed
        self.url, self.expect_100_continue = b"", False
        self.headers: list[tuple[bytes, bytes]] = []

    def on_headers_complete(self) -> None:
        self._in_headers, self._in_body, self._beside = False, True, 0
        if self.url == PATH and self._is_usual():
            self._whole = bytearray()
        else:
            self._begin_task()

    def on_body(self, body: bytes) -> None:
        self._beside = 0
        if self._whole is None:
            super().on_body(body)
        else:
            self._whole += body

    def on_message_complete(self) -> None:
        self._in_body, self._beside = False, 0
        whole = self._whole
        if whole is not None and self._short_way is not None and len(whole) <= MOST:
            self._whole = None
            self.cycle = Short(self, self._authorized)
            self._short_way.take(self.cycle, bytes(whole), self.headers, self.loop)
            return
        if whole is not None:
            self._go_the_long_way()
        super().on_message_complete()

    @property
    def _is_reading(self) -> bool:
        """Whether there is a task that waits for the rest of a body, and then counts the request."""
        return self._in_body and self.cycle is not None and not self.cycle.response_started

    def _is_usual(self) -> bool:
        """Whether this is a report like most, on a connection where nothing else is going on."""
        parser, headers = self.parser, dict(self.headers)
        self._authorized = b"authorization" in headers
        return (
            self._short_way is not None
            and (self.cycle is None or self.cycle.response_complete)
            and not self.flow.write_paused
            and parser.get_method() == b"POST"
            and parser.get_http_version() == "1.1"
            and is_usual(headers)
        )

    def _begin_task(self) -> None:
        """Begin a request as uvicorn does."""
        url, headers, expected = self.url, self.headers, self.expect_100_continue
        super().on_message_begin()
        self.url, self.expect_100_continue = url, expected
        self.headers.extend(headers)  # the list is in the scope already
        super().on_headers_complete()
        self.headers = []  # for trailers, which are no headers and of no use

    def _go_the_long_way(self) -> None:
        """Hand what has come of a request to a task that reads the rest."""
        begun, self._whole = self._whole, None
        self._begin_task()
        if begun:
            super().on_body(bytes(begun))

    def send_400_response(self, _msg: str) -> None:
        """Answer bytes that are no HTTP request, or a request at which we failed while the parser called us."""
        self._whole = None
        met = sys.exc_info()[1]
        fault = met.__context__ if isinstance(met, HttpParserCallbackError) else None
        # the parser itself, too, is called back: to take an address apart
        ours = isinstance(fault, Exception) and not isinstance(fault, HttpParserError)
        if not self.transport.is_closing():
            self._send(self.config.app.unread(fault if ours else Refused("not-http"), count=not self._is_reading))

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
        if self._is_reading:
            self.scope[SLOW] = True  # whoever reads the body refuses it, and counts it
            cycle.disconnected = True
            cycle.message_event.set()
            self._send(self.config.app.slow())
        elif self._in_headers:
            self._send(self.config.app.unread(Refused("slow")))
        else:
            self.transport.close()

    def _watch_reader(self) -> None:
        """Look again in a while whether the client reads its answer."""
        left = self.transport.get_write_buffer_size()
        self._writing = self.loop.call_later(self.write_seconds, self._still_reading, left)

    def _stop_watching(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def _still_reading(self, before: int) -> None:
        """Cut off a client that lets an answer wait: it would keep the memory for ever, and so would a close."""
        if before - self.transport.get_write_buffer_size() < _LEAST_READ:
            self.transport.abort()
        else:
            self._watch_reader()

    def _send(self, reply: Reply) -> None:
        self.transport.write(bytes_of(reply, [], close=True))
        self.transport.close()
