"""Requests that go on and on beside their bodies, and addresses that are none: refused, and nothing of them is kept."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator

import pytest

from tests.collector.http.running import Running, Served, frame, serving

HEAD = b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n"
MOST = 2**24


@pytest.fixture
def served() -> Iterator[Served]:
    made = Running()
    made.make()
    with serving(made) as found:
        yield found
    made.close()


def answer(served: Served, *parts: bytes, endless: bytes = b"") -> tuple[bytes, int]:
    """What comes back to these bytes and then as many of the endless ones as are taken; and how many were."""
    sent, found = 0, b""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        with contextlib.suppress(ConnectionError):
            for part in parts:
                connection.sendall(part)
            while endless and sent < MOST:
                connection.sendall(endless)
                sent += len(endless)
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(2**16):
                found += part
    return found, sent


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"0\r\n", b"name: and a value\r\n"),
        (b"0\r\nname: ", b"a value without an end "),
        (b"5;name=", b"an extension without an end "),
        (b"1\r\nD\r\n0\r\n", b"name: and a value\r\n"),
    ],
    ids=["trailers", "one trailer", "an extension of a chunk", "trailers after a body"],
)
def test_what_stands_beside_a_body_has_an_end(served: Served, start: bytes, piece: bytes) -> None:
    _, sent = answer(served, HEAD + start, endless=piece * 2_000)
    assert sent < MOST
    end = time.monotonic() + 10
    while served.collector.service.outcomes.requests < 2 and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.05)
    (kind,) = served.collector.outcomes().keys() - {"ok"}  # which is that of making the collection
    assert kind in ("not-http", "truncated")
    assert served.collector.service.outcomes.requests == 2


def test_a_body_in_many_small_chunks_is_taken(served: Served) -> None:
    body = frame(served.collector).to_bytes()
    chunks = b"".join(b"1;%b\r\n%c\r\n" % (b"x" * 2_000, byte) for byte in body)
    assert len(chunks) > 2**17
    found, _ = answer(
        served, HEAD + chunks + b"0\r\nname: value\r\n\r\n" + b"GET / HTTP/1.1\r\nconnection: close\r\n\r\n"
    )
    assert found.startswith(b"HTTP/1.1 200 ")
    assert b'{"accepted":1}' in found


def test_what_follows_a_body_is_no_header(served: Served) -> None:
    sent = frame(served.collector, key=bytes(16)).to_bytes()
    key = served.collector.key("write").encode()
    late = b"%x\r\n%b\r\n0\r\nauthorization: Bearer %b\r\n\r\n" % (len(sent), sent, key)
    found, _ = answer(served, HEAD + late + LAST)
    assert b'"kind":"no-key"' in found


@pytest.mark.parametrize("line", [b"CONNECT there:80", b"GET /" + b"a" * 70_000], ids=["no path", "a long path"])
def test_an_address_that_is_none_is_the_clients_fault(served: Served, line: bytes) -> None:
    found, _ = answer(served, line + b" HTTP/1.1\r\nhost: x\r\n\r\n")
    assert found.startswith(b"HTTP/1.1 400 ")
    assert b'"kind":"not-http"' in found
    assert served.collector.outcomes() == {"ok": 1, "not-http": 1}
