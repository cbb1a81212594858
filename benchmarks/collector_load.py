"""A load generator that costs little: connections that send their requests one after another, on loopback only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

HOST = "127.0.0.1"


def request(method: str, path: str, body: bytes, *, key: str = "", kind: str = "application/octet-stream") -> bytes:
    """The bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", f"host: {HOST}", f"content-length: {len(body)}", f"content-type: {kind}"]
    if key:
        lines.append(f"authorization: Bearer {key}")
    return "\r\n".join([*lines, "", ""]).encode() + body


class Connection(asyncio.Protocol):
    """Sends requests one after another, each when the answer before it is whole, and keeps the last answer."""

    def __init__(self, requests: Sequence[bytes], done: asyncio.Future[bytes]) -> None:
        self._requests = iter(requests)
        self._done = done
        self._found = bytearray()
        self._end = 0
        self._transport: Any = None
        self._body = b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._next()

    def data_received(self, data: bytes) -> None:
        self._found += data
        if not self._end:
            head = self._found.find(b"\r\n\r\n")
            if head < 0:
                return
            at = self._found.find(b"content-length: ") + 16
            self._end = head + 4 + int(self._found[at : self._found.find(b"\r\n", at)])
            if not self._found.startswith(b"HTTP/1.1 20"):
                self._fail(bytes(self._found))
                return
            self._start = head + 4
        if len(self._found) >= self._end:
            self._body = bytes(self._found[self._start : self._end])
            self._found.clear()
            self._end = 0
            self._next()

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(repr(error).encode())

    def _next(self) -> None:
        made = next(self._requests, None)
        if made is not None:
            self._transport.write(made)
            return
        if not self._done.done():
            self._done.set_result(self._body)
        self._transport.close()

    def _fail(self, why: bytes) -> None:
        if not self._done.done():
            self._done.set_exception(RuntimeError(why[:300].decode(errors="replace")))


async def post(port: int, requests: Sequence[Sequence[bytes]]) -> list[bytes]:
    """Send each list of requests over a connection of its own; return the last answer of each."""
    loop = asyncio.get_running_loop()
    futures = []
    for own in requests:
        done: asyncio.Future[bytes] = loop.create_future()
        futures.append(done)
        await loop.create_connection(lambda own=own, done=done: Connection(own, done), HOST, port)  # type: ignore[misc]
    return list(await asyncio.gather(*futures))
