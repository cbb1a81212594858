"""Bodies of strangers cost little: the key is looked at first, and no JSON keeps others waiting."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from deniable.collector.http import decoding, hot
from deniable.collector.http.incoming import MOST_NAMELESS, MOST_READING, Reader
from deniable.wire.as_json import batch_from_json, to_json
from deniable.wire.frames import BATCH_MAGIC, REPORT_MAGIC, key_in
from deniable.wire.refusals import Refused
from tests.collector.http.running import JSON, Running, batch, frame

PART = 2**16


class Slow:
    """A body that arrives in parts; says how many were asked for."""

    def __init__(self, *parts: bytes) -> None:
        self.parts, self.asked = parts, 0

    async def __call__(self) -> dict[str, Any]:
        self.asked += 1
        return {"type": "http.request", "body": self.parts[self.asked - 1], "more_body": self.asked < len(self.parts)}


def posted(collector: Running, path: str, slow: Slow, **headers: str) -> str:
    """The reason for which a body is refused, or ""."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": pairs}
    asyncio.run(collector.application(scope, slow, send))
    return "" if sent[0]["status"] == 200 else str(json.loads(sent[1]["body"])["kind"])


def test_no_more_is_read_of_a_body_whose_key_is_unknown(collector: Running) -> None:
    for key, kind in ((b"k" * 16, "unknown-key"), (bytes(16), "no-key")):
        slow = Slow(frame(collector, key=key).to_bytes(), *[bytes(PART)] * 20)
        assert (posted(collector, "/v1/reports", slow), slow.asked) == (kind, 1)
    slow = Slow(b"DN", b"X", *[bytes(PART)] * 20)
    assert (posted(collector, "/v1/reports", slow), slow.asked) == ("not-a-frame", 2)
    slow = Slow(b"{", *[b" " * PART] * 20)
    header = "Bearer dnw_AAAAAAAAAAAAAAAAAAAAAA"
    assert posted(collector, "/v1/batches", slow, content_type=JSON, authorization=header) == "unknown-key"
    assert slow.asked == 0


def test_a_frame_that_arrives_byte_by_byte_is_taken(collector: Running) -> None:
    data = frame(collector).to_bytes()
    assert posted(collector, "/v1/reports", Slow(*[data[at : at + 1] for at in range(len(data))])) == ""


def test_the_limit_is_that_of_the_keys_collection(collector: Running) -> None:
    collector.make("large", body_bytes=2**24)
    slow = Slow(batch(collector, ["a"]).to_bytes(), *[bytes(2**20)] * 15)
    assert (posted(collector, "/v1/batches", slow), slow.asked) == ("too-large", 5)
    sent = to_json(batch(collector, ["a"] * 20_000), [], 1)
    assert len(sent) > decoding.MOST_WITHOUT_HEADER
    assert collector.ask("POST", "/v1/batches", sent, content_type=JSON).kind == "too-large"
    assert collector.ask("POST", "/v1/batches", sent, collector.key("write"), content_type=JSON).status == 200
    long = to_json(frame(collector), [], 1) + b" " * 10_000
    assert collector.ask("POST", "/v1/reports", long, collector.key("write"), content_type=JSON).kind == "too-large"


@pytest.mark.parametrize("body", [b"[" * 50_000, b'{"ids": [' + b"[],", b'{"extra": 1,', b"{" + b'"a":{' * 9_000])
def test_long_json_of_another_shape_is_never_read_whole(
    body: bytes, collector: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the body was read")

    monkeypatch.setattr(hot, "batch_from_json", never)
    assert collector.ask("POST", "/v1/batches", body.ljust(60_000), content_type=JSON).kind == "not-json"


def test_long_json_is_read_in_another_thread(collector: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def noted(*given: Any) -> Any:
        threads.append(threading.current_thread())
        return batch_from_json(*given)

    monkeypatch.setattr(hot, "batch_from_json", noted)
    for n in (1, 10_000):
        sent = to_json(batch(collector, ["a"] * n), [], 1)
        assert collector.ask("POST", "/v1/batches", sent, content_type=JSON).json["new"] == n
    assert [each is threading.main_thread() for each in threads] == [True, False]


def test_uploads_without_a_key_leave_room_for_those_with_one() -> None:
    async def uploads() -> None:
        reader, waiting = Reader(), asyncio.Event()

        def stalling(first: bytes) -> Callable[[], Any]:
            async def receive() -> dict[str, Any]:
                if not parts:
                    await waiting.wait()
                return {
                    "type": "http.request",
                    "body": parts.pop() if parts else b"",
                    "more_body": not waiting.is_set(),
                }

            parts = [first]
            return receive

        def start(learn: Callable[[bytes], int | None] | None) -> asyncio.Task[bytes]:
            return asyncio.create_task(reader.body({}, stalling(bytes(2**20)), None, 2**21, learn))

        strangers = [start(lambda _: None) for _ in range(MOST_READING // 2**20)]
        await asyncio.sleep(0)
        known = [start(lambda _: 2**21) for _ in range(10)] + [start(None) for _ in range(10)]
        await asyncio.sleep(0)
        waiting.set()
        assert [len(each) for each in await asyncio.gather(*known)] == [2**20] * 20
        found = await asyncio.gather(*strangers, return_exceptions=True)
        busy = [each for each in found if isinstance(each, Refused) and each.kind == "busy"]
        assert len(busy) == len(strangers) - MOST_NAMELESS // 2**20
        assert (reader._reading, reader._nameless) == (0, 0)

    asyncio.run(uploads())


def test_the_key_of_a_frame_is_in_its_first_24_bytes(collector: Running) -> None:
    for made, magic in ((frame(collector), REPORT_MAGIC), (batch(collector, ["a"]), BATCH_MAGIC)):
        assert key_in(made.to_bytes()[:24], magic) == made.key
        assert key_in(made.to_bytes()[:23], magic) is None
