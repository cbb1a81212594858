"""Processes killed at any moment: nothing acknowledged is lost, nothing is counted twice."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterable

import pytest

from deniable.collector.store.checks import check
from deniable.collector.store.opening import open_store
from deniable.collector.store.sql import SqlStore
from tests.collector.store.children import (
    CELLS,
    commit_until_killed,
    count_and_commit,
    delivered,
    fill_to_limit,
    pipe,
    start,
)
from tests.collector.store.helpers import a_collection, fold_all, total
from tests.running.figures import Record, pace


def expect_exactly(store: SqlStore, numbers: Iterable[int]) -> None:
    """Check that the reports of these commits are counted, each once, and no others."""
    fold_all(store)
    sent: dict[object, dict[bytes, tuple[int, int]]] = {cell: {} for cell in CELLS}
    for number in numbers:
        for delivery in delivered(number):
            if delivery.whole:
                sent[delivery.cell][delivery.ids[0]] = (delivery.n, delivery.n)
            else:
                sent[delivery.cell] |= {one: (int.from_bytes(one, "big"), 1) for one in delivery.ids}
    expected = [tuple(map(sum, zip(*sent[cell].values(), strict=True))) for cell in CELLS]
    assert [total(summary) for summary in store.summaries(CELLS)] == expected
    assert check(store) == []


def kill_again_and_again(store: SqlStore, address: str, kills: int, choose: random.Random, keep: bool) -> int:
    """Kill a process that commits and counts, let another one go on where it was, and count at the end.

    Returns how many commits were acknowledged.
    """
    a_collection(store)
    store.close()
    acknowledged = -1
    for _ in range(kills):
        with pipe() as (reader, writer):
            child = start(commit_until_killed, address, acknowledged + 1, keep, writer)
            acknowledged = reader.recv()
            time.sleep(choose.random() * 0.03)
            os.kill(child.pid, signal.SIGKILL)
            child.join()
            while reader.poll():
                acknowledged = reader.recv()
    again = open_store(address)
    for number in range(acknowledged + 1):
        assert sum(again.commit(delivered(number))) == 0
    again.commit(delivered(acknowledged + 1))  # which the last one killed had begun, and perhaps ended
    expect_exactly(again, range(acknowledged + 2))
    again.close()
    return acknowledged + 1


@pytest.mark.parametrize("keep", [False, True], ids=["counted and deleted", "counted and kept"])
def test_no_acknowledged_report_is_lost_or_counted_twice(store: SqlStore, address: str, seed: int, keep: bool) -> None:
    kill_again_and_again(store, address, 6, random.Random(seed), keep)


@pytest.mark.soak
def test_a_thousand_kills_lose_nothing_and_count_nothing_twice(
    store: SqlStore, address: str, seed: int, record_property: Record
) -> None:
    kind, start = "SQLite" if store.database.is_sqlite else "PostgreSQL", time.monotonic()
    commits = kill_again_and_again(store, address, 1000, random.Random(seed), keep=False)
    told = f"{pace(1000, start)}, {commits:,} commits acknowledged, 0 lost, 0 counted twice"
    record_property("figure", f"kills of a store on {kind}: {told}")


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_processes_that_share_a_database_count_each_report_once(store: SqlStore, address: str, seed: int) -> None:
    a_collection(store)
    choose, numbers = random.Random(seed), list(range(60))
    children = [start(count_and_commit, address, choose.sample(numbers, len(numbers))) for _ in range(3)]
    for child in children:
        child.join()
        assert child.exitcode == 0
    expect_exactly(store, numbers)


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_folder_that_cannot_grow_accepts_nothing_and_loses_nothing(store: SqlStore, address: str) -> None:
    a_collection(store)
    store.close()
    with pipe() as (reader, writer):
        child = start(fill_to_limit, address, 400_000, writer)
        accepted = [reader.recv() for _ in range(3)]
        child.join()
    assert child.exitcode == 0
    assert 0 < accepted[0] < accepted[1] < accepted[2]
    again = open_store(address)
    for number in range(accepted[2]):
        assert sum(again.commit(delivered(number))) == 0
    expect_exactly(again, range(accepted[2]))
    again.close()
