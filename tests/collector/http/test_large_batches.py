"""Large batches with ids: they are looked through in a thread of their own, with the outcome of small ones."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import pytest

from deniable.collector.service import checking
from deniable.collector.service.issued import were_issued
from deniable.wire.frames import Frame
from tests.collector.http.running import Running, batch, request


@pytest.fixture(params=["at once", "in a thread"])
def any_size(collector: Running, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Running:
    """A collector for which every batch with ids is small, or large."""
    most = 10**9 if request.param == "at once" else 0
    monkeypatch.setattr(checking, "MOST_AT_ONCE", most)
    monkeypatch.setattr(checking, "MOST_ISSUED_AT_ONCE", most)
    return collector


def with_ids(collector: Running, ids: list[bytes], name: str = "themes") -> bytes:
    made: Frame = batch(collector, ["a"] * len(ids), name)
    return made._replace(ids=b"".join(ids)).to_bytes()


def random_ids(n: int) -> list[bytes]:
    return [os.urandom(15) + bytes(1) for _ in range(n)]  # ends in zeros are part of an id


def test_a_batch_with_ids_is_taken_once(any_size: Running) -> None:
    body = with_ids(any_size, random_ids(300))
    assert any_size.ask("POST", "/v1/batches", body).json == {"accepted": 300, "new": 300}
    assert any_size.ask("POST", "/v1/batches", body).json == {"accepted": 300, "new": 0}
    any_size.fold()
    assert any_size.ask("GET", "/v1/collections/themes", None, any_size.admin).json["counted"] == 300


def test_an_id_twice_or_one_that_was_not_issued_is_refused(any_size: Running) -> None:
    ids = random_ids(300)
    assert any_size.ask("POST", "/v1/batches", with_ids(any_size, [*ids, ids[7]])).kind == "bad-id"
    any_size.make("issued", issued_ids=True)
    given = any_size.ask("GET", "/v1/ids?count=300", None, any_size.key("write", "issued")).json
    issued = [bytes.fromhex(each) for each in given["ids"]]
    assert any_size.ask("POST", "/v1/batches", with_ids(any_size, [*issued[:-1], ids[0]], "issued")).kind == "bad-id"
    assert any_size.ask("POST", "/v1/batches", with_ids(any_size, issued, "issued")).status == 200
    assert [n for _, n in any_size.service.store.waiting()] == [300]


def test_while_a_large_batch_is_looked_through_others_are_answered(
    collector: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MOST_ISSUED_AT_ONCE", 0)
    collector.make("issued", issued_ids=True)
    key = collector.key("write", "issued")
    given = collector.ask("GET", "/v1/ids?count=5", None, key).json
    body = with_ids(collector, [bytes.fromhex(each) for each in given["ids"]], "issued")
    release = threading.Event()

    def slowly(*arguments: Any) -> bool:
        return release.wait(30) and were_issued(*arguments)

    monkeypatch.setattr("deniable.collector.service.taking.were_issued", slowly)

    async def scene() -> int:
        large = asyncio.create_task(collector._ask("POST", "/v1/batches", *request(body, None, {})))
        try:
            await asyncio.sleep(0)
            for _ in range(5):
                small = batch(collector, ["a"]).to_bytes()
                answer = await asyncio.wait_for(collector._ask("POST", "/v1/batches", *request(small, None, {})), 20)
                assert answer.status == 200
            assert not large.done()
        finally:
            release.set()
        return (await large).status

    assert asyncio.run(scene()) == 200


def test_large_batches_wait_within_bounds_and_are_stored_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "MOST_AT_ONCE", 0)
    collector = Running()
    collector.make()
    bodies = [with_ids(collector, random_ids(5)) for _ in range(3)]
    monkeypatch.setattr(checking, "MOST_BYTES", 100)  # one at a time
    release, looked = threading.Event(), checking.ids_of

    def slowly(*arguments: Any) -> Any:
        release.wait(30)
        return looked(*arguments)

    monkeypatch.setattr(checking, "ids_of", slowly)

    async def scene() -> list[str]:
        tasks = [
            asyncio.create_task(collector._ask("POST", "/v1/batches", *request(each, None, {}))) for each in bodies
        ]
        while sum(each.done() for each in tasks) < 2:
            await asyncio.sleep(0.01)
        release.set()
        return sorted([(await each).kind for each in tasks])

    assert asyncio.run(asyncio.wait_for(scene(), 30)) == ["", "busy", "busy"]
    assert collector.ask("POST", "/v1/batches", bodies[0]).status == 200
    collector.close()
    assert collector.ask("POST", "/v1/batches", bodies[1]).kind == "stopping"
    assert [n for (_, n) in collector.service.store.waiting()] in ([5], [10])  # the first may be the one of before
