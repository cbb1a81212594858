"""A collector that listens: uvicorn with our protocol, ended by signals, nothing lost on the way out."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from deniable.collector.http.application import Application
from deniable.collector.http.protocol import Protocol

_BACKLOG = 2_048
_GRACE_SECONDS = 15
_IDLE_SECONDS = 75  # longer than proxies keep a connection, so that they close it, not we
_FLUSH_SECONDS = 0.5


class Server(uvicorn.Server):  # type: ignore[misc]  # uvicorn is not typed for us
    """A server that ends tidily on SIGINT and SIGTERM, and then returns."""

    def __init__(self, application: Application, started: Callable[[], None] = lambda: None) -> None:
        super().__init__(
            uvicorn.Config(
                application,
                http=Protocol,
                ws="none",
                loop="auto",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                access_log=False,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_keep_alive=_IDLE_SECONDS,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                backlog=_BACKLOG,
            )
        )
        self._application = application
        self._told = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._told()

    async def main_loop(self) -> None:
        flushing = asyncio.create_task(self._flush())
        try:
            await super().main_loop()
        finally:
            flushing.cancel()

    async def _flush(self) -> None:
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            self._application.log.flush()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the loop; they are not raised again afterwards, since all has been done that they ask for."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in numbers}
        except ValueError:  # not in the main thread, where nobody sends signals
            yield
            return
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def listening(host: str, port: int) -> socket.socket:
    """A socket that is bound; port 0 lets the system choose."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except BaseException:
        bound.close()
        raise
    return bound


def address_of(bound: socket.socket) -> str:
    """The address of a socket, as a browser wants it."""
    host, port = bound.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
