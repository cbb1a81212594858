"""Connections to a collector on which several requests are under way at once, as raw bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

HOST = "127.0.0.1"
CONNECTIONS = 16
AT_ONCE = 16  # requests under way on a connection
_PATIENCE = 60.0


class Said(NamedTuple):
    """What came back to one request."""

    status: int
    body: bytes


class Sent(NamedTuple):
    """One request: its bytes on the wire, and what whoever sent it wants to know of it afterwards."""

    data: bytes
    about: Any = None


Settle = Callable[[Sent, Said], bool]  # told of every answer; False if the request is to be sent again


def post(path: str, body: bytes, *lines: str) -> bytes:
    """The bytes of a POST with these further header lines."""
    head = (f"POST {path} HTTP/1.1", f"Host: {HOST}", f"Content-Length: {len(body)}", *lines, "", "")
    return "\r\n".join(head).encode() + body


class Line(asyncio.Protocol):
    """A connection: requests out, as many answers back as there are before it is closed."""

    def __init__(self) -> None:
        self.open = True
        self._transport: Any = None
        self._data = b""
        self._found: list[Said] = []
        self._wanted = 0
        self._done: asyncio.Future[None] | None = None

    @staticmethod
    async def to(port: int) -> Line:
        """Connect."""
        return (await asyncio.get_running_loop().create_connection(Line, HOST, port))[1]

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, _: Exception | None) -> None:
        self.open = False
        self._wake()

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end].lower()
            size = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
            if len(self._data) < end + 4 + size:
                return
            self._found.append(Said(int(head[9:12]), self._data[end + 4 : end + 4 + size]))
            self._data = self._data[end + 4 + size :]
            self.open = self.open and b"\r\nconnection: close" not in head
        if len(self._found) >= self._wanted or not self.open:
            self._wake()

    def _wake(self) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_result(None)

    async def ask(self, *parts: bytes, wanted: int, patience: float = _PATIENCE) -> list[Said]:
        """Send bytes, in these parts; return the answers, fewer than wanted if the connection ended before.

        Who has waited for too long gets what there is until then.
        """
        self._found, self._wanted = [], wanted
        self._done = asyncio.get_running_loop().create_future()
        for part in parts:
            self._transport.write(part)
            await asyncio.sleep(0)
        try:
            await asyncio.wait_for(self._done, patience)
        except TimeoutError:
            self.close()
        return self._found

    def close(self) -> None:
        """Close the connection."""
        self.open = False
        self._transport.abort()


def deliver(ports: Sequence[int], requests: Iterable[Sent], settle: Settle, connections: int = CONNECTIONS) -> None:
    """Send requests over so many connections, spread over these ports, each until `settle` is content with an answer.

    Requests that follow one whose answer closes the connection are sent again.
    """
    shared = iter(requests)

    async def drive(port: int) -> None:
        waiting: list[Sent] = []
        line: Line | None = None
        tries = 0
        while waiting or (waiting := [each for _, each in zip(range(AT_ONCE), shared, strict=False)]):
            if line is None or not line.open:
                line = await Line.to(port)
            # nobody read the answer that closed the connection, if there was none: then one at a time
            chosen = waiting[: 1 if tries else AT_ONCE]
            data = b"".join(each.data for each in chosen)
            found = await line.ask(data[: len(data) // 2], data[len(data) // 2 :], wanted=len(chosen))
            if not line.open:
                line.close()
            tries = 0 if found else tries + 1
            assert tries < 20, f"no answer to {chosen[0]!r}"
            again = [each for each, said in zip(chosen, found, strict=False) if not settle(each, said)]
            if again:
                await asyncio.sleep(0.05)
            waiting = again + waiting[len(found) :]
        if line is not None:
            line.close()

    async def every() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(connections):
                group.create_task(drive(ports[number % len(ports)]))

    _run(every())


def damaged(port: int, requests: Iterable[bytes], settle: Callable[[Said], None]) -> None:
    """Send bytes that are no HTTP, or other HTTP than was meant, each on a connection of its own."""
    shared = iter(requests)

    async def drive() -> None:
        for data in shared:
            line = await Line.to(port)
            for said in await line.ask(data, wanted=1, patience=0.05):  # half a request has no answer yet
                settle(said)
            line.close()

    async def every() -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(drive())

    _run(every())


def _run(work: Any) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(work)
    else:
        uvloop.run(work)
