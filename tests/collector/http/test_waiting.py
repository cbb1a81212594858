"""Questions that take long, and counts that vanish while they are asked about: nobody waits for ever, or for others."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import deniable as dn
from deniable.collector.http.threads import MOST_OF_A_KEY
from tests.collector.http.asking import PATH, send
from tests.collector.http.running import DAY, Answer, M, Running, frame, request

SECONDS = 30
WORDS = dn.mechanism("orr", domain=dn.Domain.open(max_bytes=8), epsilon=4.0)
HITTERS = dn.HeavyHitters.new(epsilon=4.0, max_bytes=3)


def within(work: Coroutine[Any, Any, Any]) -> Any:
    """The result of some work, which must not hang."""
    return asyncio.run(asyncio.wait_for(work, SECONDS))


def asking(collector: Running, method: str, path: str, body: Any, key: str) -> Coroutine[Any, Any, Answer]:
    return collector._ask(method, path, *request(body, key, {}))


@pytest.fixture
def vanishing(collector: Running, monkeypatch: pytest.MonkeyPatch) -> Running:
    """Collections whose cells are deleted after they were listed, as retention does."""
    for name, spec in (("words", WORDS), ("strings", HITTERS)):
        collector.make(name, spec)
    send(collector, M, ["a"] * 30)
    send(collector, WORDS, ["abc"] * 30, "words")
    collector.fold()
    listed = collector.service.store.kept
    monkeypatch.setattr(collector.service.store, "kept", lambda number: [
        each._replace(cell=each.cell._replace(collection=number)) for each in listed(1)
    ])  # fmt: skip
    monkeypatch.setattr(collector.service.store, "published", lambda cells: [None] * len(cells))
    return collector


@pytest.mark.parametrize(
    ("name", "method", "path", "body"),
    [
        ("themes", "GET", "estimate", None),
        ("themes", "GET", "trend?value=a", None),
        ("themes", "GET", "published", None),
        ("words", "POST", "candidates", {"candidates": ["abc"]}),
        ("strings", "GET", "heavy-hitters", None),
    ],
)
def test_counts_that_vanish_while_they_are_asked_about_are_too_few(
    vanishing: Running, name: str, method: str, path: str, body: Any
) -> None:
    path = f"/v1/collections/{name}/{path}"
    for _ in range(2):
        answer = within(asking(vanishing, method, path, body, vanishing.key("read", name)))
        assert (answer.status, answer.kind) == (403, "too-few-reports")
    assert vanishing.application._answering.waiting == 0


def test_counts_of_which_too_few_are_left_are_not_told(collector: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    collector.make("strict", minimum=50)
    for hour in (DAY, DAY - 24):
        send(collector, M, ["a"] * 60, "strict", hour)
    collector.fold()
    collector.ask("PATCH", "/v1/collections/strict", {"minimum": 60}, collector.admin)
    less = M.summarize(M.privatize(["a"] * 20)).to_bytes()
    left = {DAY - 24: less, DAY: None}
    monkeypatch.setattr(collector.service.store, "published", lambda cells: [left[cell.bucket] for cell in cells])
    for path in ("estimate", "published"):
        answer = collector.ask("GET", f"/v1/collections/strict/{path}", None, collector.admin)
        assert answer.kind == "too-few-reports"


@pytest.mark.parametrize("handler", ["collection", "estimate", "ready"])
def test_an_iteration_that_ends_in_a_handler_is_a_fault_and_keeps_nobody_waiting(handler: str) -> None:
    def exhausted(_: object) -> Any:
        return next(iter(()))

    collector = Running()
    collector.make()
    collector.application._calls[handler] = exhausted
    path = {"collection": PATH, "estimate": f"{PATH}/estimate", "ready": "/ready"}[handler]
    answer = within(asking(collector, "GET", path, None, collector.admin))
    assert (answer.status, answer.kind) == (500, "broken")
    assert collector.application._prompt.waiting == collector.application._answering.waiting == 0
    collector.close()


def test_slow_questions_of_one_key_keep_neither_devices_nor_administrators_waiting(
    collector: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    send(collector, M, ["a"] * 30)
    collector.fold()
    release, read = threading.Event(), collector.service.store.published

    def slowly(cells: Any) -> Any:
        release.wait(SECONDS)
        return read(cells)

    monkeypatch.setattr(collector.service.store, "published", slowly)
    kinds = within(_crowd(collector, release.set))
    assert sorted(kinds) == [""] * MOST_OF_A_KEY + ["busy"] * (80 - MOST_OF_A_KEY)


async def _crowd(collector: Running, release: Callable[[], None]) -> list[str]:
    """Ask 80 slow questions with one key, and meanwhile what must not wait; return how the questions ended."""
    question, reader, write = f"{PATH}/estimate", collector.key("read"), collector.key("write")
    try:
        slow = [asyncio.create_task(asking(collector, "GET", question, None, reader)) for _ in range(80)]
        while sum(each.done() for each in slow) < 80 - MOST_OF_A_KEY:
            await asyncio.sleep(0.01)
        own = asyncio.create_task(asking(collector, "GET", question, None, collector.admin))
        for method, path, body, key in (
            ("GET", "/v1/forms/themes", None, write),
            ("GET", "/v1/ids?count=3", None, write),
            ("POST", "/v1/reports", frame(collector).to_bytes(), write),
            ("DELETE", f"/v1/reports/{32 * 'a'}?bucket={DAY}", None, write),
            ("PATCH", PATH, {"open": True}, collector.admin),
            ("GET", "/metrics", None, collector.admin),
            ("GET", PATH, None, reader),
        ):
            answer = await asking(collector, method, path, body, key)
            assert answer.status == 200 or answer.kind == "no-such-report", (path, answer)
        assert not own.done()
    finally:
        release()
    assert (await own).status == 200
    return [(await each).kind for each in slow]
