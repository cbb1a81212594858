"""One HTTP/1.1 connection that is kept alive: a request out, its answer back, with as little work as possible."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from deniable.collector.load.address import Address

_LONGEST_HEAD = 65_536
_PATIENCE = 30.0  # seconds for an answer


class Answer(NamedTuple):
    """What came back."""

    status: int
    body: bytes


class Lost(Exception):
    """The connection broke, or no answer came: nobody knows whether the request was taken."""


def request(address: Address, path: str, body: bytes, kind: str = "application/octet-stream") -> bytes:
    """The bytes of a POST."""
    return request_head(address, path, len(body), kind) + body


def request_head(address: Address, path: str, size: int, kind: str = "application/octet-stream") -> bytes:
    """The head of a POST with a body of this size."""
    head = f"POST {path} HTTP/1.1\r\nHost: {address.name}\r\nContent-Type: {kind}\r\nContent-Length: {size}\r\n\r\n"
    return head.encode()


class Connection(asyncio.Protocol):
    """A connection with at most one request under way."""

    def __init__(self) -> None:
        self._transport: asyncio.WriteTransport | None = None
        self._received = b""
        self._answer: asyncio.Future[Answer] | None = None

    @staticmethod
    async def open(address: Address) -> Connection:
        """Connect."""
        loop = asyncio.get_running_loop()
        try:
            _, made = await asyncio.wait_for(loop.create_connection(Connection, address.ip, address.port), _PATIENCE)
        except OSError as error:
            raise Lost(str(error)) from None
        return made

    @property
    def closed(self) -> bool:
        """Whether the collector has closed it."""
        return self._transport is None or self._transport.is_closing()

    async def ask(self, data: bytes) -> Answer:
        """Send a request and wait for its answer, or raise Lost."""
        if self._transport is None or self._transport.is_closing():
            raise Lost("the connection was closed")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Answer] = loop.create_future()
        self._answer = answer
        alarm = loop.call_later(_PATIENCE, self._fail, "no answer came in time")
        self._transport.write(data)
        try:
            return await answer
        finally:
            alarm.cancel()

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # uvloop's are not of the class

    def connection_lost(self, exception: Exception | None) -> None:
        self._transport = None
        self._fail(str(exception or "the connection was closed"))

    def data_received(self, data: bytes) -> None:
        self._received = received = self._received + data if self._received else data
        end = received.find(b"\r\n\r\n")
        if end < 0:
            if len(received) > _LONGEST_HEAD:
                self._fail("the answer has no end of its head")
            return
        head = received[:end].lower()
        at = head.find(b"\r\ncontent-length:")
        try:
            size = int(head[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            status = int(head[9:12])
        except ValueError:
            self._fail("the answer is not HTTP")
            return
        if len(received) < end + 4 + size:
            return
        self._received = b""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(Answer(status, received[end + 4 : end + 4 + size]))
        if b"\r\nconnection: close" in head:
            self.close()

    def _fail(self, why: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(Lost(why))
        self.close()
