"""Reports that arrive in one piece go a shorter way, on which nobody can tell the difference."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence

import pytest

from deniable.collector.store.records import Delivery
from deniable.wire.frames import Frame
from deniable.wire.keys import NO_KEY, Key
from tests.collector.http.running import DAY, Running, Served, frame, serving


@pytest.fixture
def server(collector: Running) -> Iterator[Served]:
    """A collector on a store in memory, over HTTP."""
    with serving(collector) as served:
        yield served


def request(body: bytes, *headers: str) -> bytes:
    lines = ["POST /v1/reports HTTP/1.1", "Host: test", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answers(connection: socket.socket, count: int) -> list[bytes]:
    """The next answers on a connection, each with headers and body."""
    data, found = b"", list[bytes]()
    while len(found) < count:
        head, mark, rest = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or -1) if mark else -1
        if mark and len(rest) >= length:
            found.append(head + mark + rest[:length])
            data = rest[length:]
            continue
        more = connection.recv(65_536)
        assert more, data
        data += more
    assert data == b""
    return found


def sent(served: Served, *pieces: bytes, count: int = 1) -> list[bytes]:
    """The answers to bytes that are sent in these pieces."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.02 if len(pieces) > 1 else 0)
        return answers(connection, count)


def cases(collector: Running) -> dict[str, tuple[bytes, tuple[str, ...]]]:
    good: Frame = frame(collector)
    bearer = "Authorization: Bearer "
    plain = good.to_bytes()
    return {
        "accepted": (plain, ()),
        "accepted again": (plain, ("Content-Type: text/plain",)),
        "key in the header": (good._replace(key=NO_KEY).to_bytes(), (bearer + collector.key("write"),)),
        "no key": (good._replace(key=NO_KEY).to_bytes(), ()),
        "unknown key": (good._replace(key=Key.new("write").secret).to_bytes(), ()),
        "read key": (good._replace(key=NO_KEY).to_bytes(), (bearer + collector.key("read"),)),
        "no frame": (b"nothing", ()),
        "empty": (b"", ()),
        "truncated": (plain[:40], ()),
        "unknown spec": (good._replace(fingerprint=bytes(32)).to_bytes(), ()),
        "future": (good._replace(hour=DAY + 48).to_bytes(), ()),
        "wrong payload": (good._replace(payloads=b"\xff", ids=bytes(16)).to_bytes(), ()),
        "too long": (good._replace(payloads=bytes(6_000)).to_bytes(), ()),
        "other type": (plain, ("Content-Type: text/html",)),
    }


def test_whole_and_in_pieces_the_answer_is_the_same(server: Served) -> None:
    collector = server.collector
    before = sum(collector.outcomes().values())
    for name, (body, headers) in cases(collector).items():
        made = request(body, *headers)
        whole = sent(server, made)
        in_pieces = sent(server, made[:30], made[30:-1], made[-1:])
        # a body whose key is refused is not read to its end, so that the connection must close
        lines = [line for line in in_pieces[0].split(b"\r\n") if line != b"connection: close"]
        assert sorted(whole[0].split(b"\r\n")) == sorted(lines), name
    assert sum(collector.outcomes().values()) - before == 2 * len(cases(collector))
    assert collector.outcomes()["ok"] - 1 == 6  # one made the collection
    assert collector.service.outcomes.reports == 1


def test_requests_that_follow_each_other_at_once_are_answered_in_order(server: Served) -> None:
    collector = server.collector
    some = [frame(collector) for _ in range(20)]
    some[7] = some[7]._replace(fingerprint=bytes(32))
    found = sent(server, b"".join(request(each.to_bytes()) for each in some), count=20)
    statuses = [int(each.split()[1]) for each in found]
    assert statuses == [409 if place == 7 else 200 for place in range(20)]
    assert collector.service.outcomes.reports == 19


def test_a_connection_is_closed_where_the_client_asks(server: Served) -> None:
    made = request(frame(server.collector).to_bytes(), "Connection: close")
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(made)
        assert b"connection: close" in answers(connection, 1)[0]
        assert connection.recv(1) == b""


def test_a_client_that_goes_away_is_counted_once(server: Served) -> None:
    collector = server.collector
    before = sum(collector.outcomes().values())
    for _ in range(10):
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            connection.sendall(request(frame(collector).to_bytes()))
    end = time.monotonic() + 20
    while sum(collector.outcomes().values()) < before + 10 and time.monotonic() < end:
        time.sleep(0.01)
    assert sum(collector.outcomes().values()) == before + 10
    assert collector.service.outcomes.reports == 10


def test_a_request_in_flight_is_answered_when_the_server_stops(
    collector: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, released = threading.Event(), threading.Event()
    commit = collector.service.store.commit

    def slow(deliveries: Sequence[Delivery]) -> list[int]:
        begun.set()
        assert released.wait(20)
        return commit(deliveries)

    monkeypatch.setattr(collector.service.store, "commit", slow)
    with serving(collector) as served:
        connection = socket.create_connection(("127.0.0.1", served.port), timeout=20)
        connection.sendall(request(frame(collector).to_bytes()))
        assert begun.wait(20)
        threading.Timer(0.3, released.set).start()
    with connection:
        answer = answers(connection, 1)[0]
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"connection: close" in answer
        assert connection.recv(1) == b""
    assert collector.service.outcomes.reports == 1
