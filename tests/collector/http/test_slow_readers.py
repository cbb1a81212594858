"""Clients that do not read their answers, or take long to."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import deniable as dn
from deniable.collector.http.protocol import Protocol
from tests.collector.http.asking import send
from tests.collector.http.running import Running, Served, serving

PATH = "/v1/collections/many/estimate?method=unbiased"
VALUES = 2**16  # whose estimate is longer than what the system holds for a reader


@pytest.fixture
def many() -> Iterator[Served]:
    """A server with a long answer to give."""
    made, m = Running(), dn.mechanism("grr", k=VALUES, epsilon=2.0)
    made.make("many", m)
    send(made, m, [1] * 10, "many")
    made.fold()
    with serving(made) as found:
        yield found
    made.close()


def asking(served: Served) -> socket.socket:
    """A client with little room that has asked for the estimate."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**12)
    connection.settimeout(20)
    connection.connect(("127.0.0.1", served.port))
    key = served.collector.key("read", "many")
    connection.sendall(f"GET {PATH} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n".encode())
    return connection


def received(connection: socket.socket) -> int:
    """How many bytes come before the connection ends."""
    found = 0
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(2**16):
            found += len(part)
    return found


@pytest.fixture
def aborted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """By which method a connection is cut off."""
    found: list[str] = []

    def notice(name: str) -> None:
        before = getattr(Protocol, name)

        def noticed(own: Protocol, *given: Any) -> None:
            before(own, *given)
            if own.transport.is_closing():
                found.append(name)

        monkeypatch.setattr(Protocol, name, noticed)

    notice("_still_reading")
    notice("timeout_keep_alive_handler")
    return found


def until(done: Any) -> None:
    end = time.monotonic() + 20
    while not done and time.monotonic() < end:
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["_still_reading", "timeout_keep_alive_handler"])
def test_a_client_that_does_not_read_its_answer_is_cut_off(
    many: Served, name: str, aborted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = len(many.ask("GET", PATH, None, many.collector.key("read", "many")).body)
    if name == "_still_reading":
        monkeypatch.setattr(Protocol, "write_seconds", 0.3)
    else:  # as where less is left than is sent ahead, which nobody watches
        monkeypatch.setattr(Protocol, "pause_writing", lambda _: None)
        complete = Protocol.on_response_complete
        monkeypatch.setattr(
            Protocol, "on_response_complete", lambda own: setattr(own, "timeout_keep_alive", 0.3) or complete(own)
        )
    with asking(many) as silent:
        until(aborted)
        assert aborted == [name]
        assert received(silent) < whole


def test_a_client_that_goes_on_reading_is_not() -> None:
    left, later, cut = [300_000], [], []
    own = Protocol.__new__(Protocol)
    own.transport = SimpleNamespace(get_write_buffer_size=lambda: left[-1], abort=lambda: cut.append(left[-1]))
    own.loop = SimpleNamespace(call_later=lambda _, look, before: later.append(lambda: look(before)))
    own._watch_reader()
    for size in (200_000, 100_000, 100_000):
        assert not cut
        left.append(size)
        later.pop()()
    assert cut == [100_000]
    assert not later
