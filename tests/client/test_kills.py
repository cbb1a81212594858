"""Kill -9 at any moment: the price is paid once, one report exists, and it is counted once."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.client import Client, Entry
from tests.client.collector import AFTER, BEFORE, GATEWAY, PORTAL, QUESTION, Collector, serving
from tests.client.conftest import QUICK
from tests.client.victim import Victims, victims
from tests.running.figures import Record, pace

VALUES = ["walk", "bus", "car"]
PRICE = QUESTION.guarantee().epsilon
LATER = 1000.0  # seconds: no lease lasts so long


@pytest.fixture(scope="module")
def killer() -> Iterator[Victims]:
    with victims() as started:
        yield started


def job(collector: Collector, store: Path, *actions: list[Any], **options: Any) -> dict[str, Any]:
    head = {"url": collector.url, "key": collector.key.text, "store": str(store)}
    return {**head, "actions": list(actions), **options}


def survivor(collector: Collector, store: Path, **options: Any) -> Client:
    """A client that is started after the kill, when leases have run out."""
    later = {"clock": lambda: time.time() + LATER, "delay": 0.0, "backoff": QUICK, **options}
    return Client(collector.url, collector.key.text, "commute", store=store, **later)


def check_once(collector: Collector, client: Client, before: Entry | None) -> None:
    """After a kill: answer again with any value, deliver, and compare with what was there before."""
    client.consent(True)
    entry = client.answer("car")
    if before is not None and before.payload:
        assert (entry.id, entry.payload) == (before.id, before.payload)
    assert client.spent() == PRICE
    client.send(wait=10)
    own = [frame for frame in collector.taken.values() if frame.ids == entry.id]
    assert [frame.payloads for frame in own] == [entry.payload]
    assert client.entry().state == "sent"  # type: ignore[union-attr]


def test_a_kill_at_any_statement_leaves_one_report(collector: Collector, killer: Victims, tmp_path: Path) -> None:
    states, ends = set(), []
    for kill_at in range(1000):
        store = tmp_path / f"{kill_at}.sqlite"
        ends += killer.run(job(collector, store, ["answer", "walk"], ["send"], kill_at=kill_at))
        client = survivor(collector, store)
        before = client.entry()
        states.add(before and before.state)
        assert client.spent() == (0.0 if before is None else PRICE)
        check_once(collector, client, before)
        if ends[-1] == 0:
            break
    assert ends[-1] == 0
    assert set(ends[:-1]) == {signal.SIGKILL}
    assert len(ends) > 50
    assert states == {None, "begun", "waiting", "sent"}
    assert len(collector.taken) == len(ends)


def test_kills_of_several_processes_on_one_store_leave_one_report(
    collector: Collector, killer: Victims, tmp_path: Path, rng: np.random.Generator
) -> None:
    for number in range(10):
        store = tmp_path / f"{number}.sqlite"
        jobs = [
            job(collector, store, ["answer", value], ["send"], kill_at=int(rng.integers(1, 130))) for value in VALUES
        ]
        killer.run(*jobs)
        client = survivor(collector, store)
        check_once(collector, client, client.entry())
        assert len(collector.taken) == number + 1


def test_processes_that_answer_at_once_make_one_report(collector: Collector, killer: Victims, store: Path) -> None:
    ends = killer.run(*(job(collector, store, ["answer", value], ["send"]) for value in VALUES * 2))
    assert ends == [0] * 6
    assert len(collector.taken) == 1
    assert survivor(collector, store).spent() == PRICE


def schedule(killer: Victims, folder: Path, rng: np.random.Generator) -> int:
    """One random life of a few devices: network loss, restarts, kills, people who forget; then the reckoning.

    Returns how many answers were counted, each once.
    """
    troubles = [BEFORE, AFTER, PORTAL, GATEWAY, "busy", "storage", "stopping", "broken", "slow"]
    with serving(Collector()) as collector:
        collector.retry_after = 0.001
        people, answered, forgotten = ["ann", "ben", "cem"], set(), set()
        store = folder / "answers.sqlite"
        for _ in range(int(rng.integers(3, 9))):
            faults = rng.choice(np.array([*troubles, None], object), int(rng.integers(0, 4)))
            collector.faults.extend(faults.tolist())
            jobs = []
            for person in rng.choice(people, int(rng.integers(1, 4)), replace=False).tolist():
                actions: list[list[Any]] = [["answer", str(rng.choice(VALUES))], ["send"]]
                if rng.random() < 0.1:
                    actions.insert(int(rng.integers(0, 3)), ["forget"])
                moment = rng.random()
                kill: dict[str, Any] = {"kill_at": rng.integers(0, 150).item()} if moment < 0.4 else {}
                if moment > 0.7:
                    kill = {"kill_after": rng.random() * 0.05}
                jobs.append(job(collector, store, *actions, person=person, **kill))
            killer.run(*jobs)
            collector.faults.clear()
        for person in people:
            client = survivor(collector, store, person=person)
            entry = client.entry()
            if entry is None:
                assert client.spent() == 0
                continue
            assert client.spent() == PRICE
            answered.add(person)
            if entry.state == "begun":
                client.answer("walk")
            client.send(wait=10, hurry=True)
            entry = client.entry()
            assert entry is not None
            counted = [frame.payloads for frame in collector.taken.values() if frame.ids == entry.id]
            if entry.state == "forgotten":
                assert counted == []
                forgotten.add(person)
            else:
                assert (entry.state, counted) == ("sent", [entry.payload])
        assert len(collector.taken) == len(answered) - len(forgotten)
        return len(collector.taken)


def test_random_schedules_count_every_answer_once(killer: Victims, tmp_path: Path, rng: np.random.Generator) -> None:
    for number in range(12):
        (tmp_path / str(number)).mkdir()
        schedule(killer, tmp_path / str(number), rng)


@pytest.mark.soak
def test_a_thousand_random_schedules_count_every_answer_once(
    killer: Victims, tmp_path: Path, rng: np.random.Generator, record_property: Record
) -> None:
    start, counted = time.monotonic(), 0
    for number in range(1000):
        (tmp_path / str(number)).mkdir()
        counted += schedule(killer, tmp_path / str(number), rng)
    record_property(
        "figure", f"random schedules in Python: {pace(1000, start)}, {counted:,} answers, each counted once"
    )
