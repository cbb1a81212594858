"""Random schedules: whatever is done in whatever order, a database answers like the store in memory."""

from __future__ import annotations

import random
import time
from itertools import chain

import pytest

from deniable.collector.store.checks import check
from deniable.collector.store.opening import open_store
from deniable.collector.store.protocol import Store
from deniable.collector.store.records import Cell, Delivery
from deniable.collector.store.sql import SqlStore
from tests.collector.store.helpers import (
    HOUR,
    Sums,
    a_cell,
    a_collection,
    as_bytes,
    batch,
    fold_all,
    identifier,
    reports,
)
from tests.naive.store import MemoryStore
from tests.running.figures import Record, pace

CELLS = [a_cell(of, HOUR + bucket, bytes([label])) for of in (1, 2) for bucket in range(3) for label in range(2)]


def delivery(choose: random.Random, number: int) -> Delivery:
    """A delivery whose ids were perhaps sent before, or occur twice."""
    cell, hour = choose.choice(CELLS), HOUR + choose.randrange(3)
    if choose.random() < 0.2:
        return batch(cell, number + choose.randrange(30_000, 30_040), 7, hour)
    return reports(cell, [number + choose.randrange(300) for _ in range(choose.randrange(5))], hour)


def view(store: Store) -> list[object]:
    """All that can be asked of a store; versions apart, which only have to grow."""
    kept = [(row.cell, row.n, row.published) for number in (1, 2) for row in store.kept(number)]
    return [
        store.waiting(),
        kept,
        store.published(CELLS),
        store.summaries(CELLS),
        store.refusals(1),
        store.collections(),
        store.revision(),
    ]


def step(choose: random.Random, number: int) -> tuple[str, tuple[object, ...], dict[str, object]]:
    """One call of a store."""
    cell, of, hour = choose.choice(CELLS), choose.choice((1, 2)), HOUR + choose.randrange(3)
    fold = ("fold", (cell, Sums(choose.choice((1, 5, 20)))), {"keep": choose.random() < 0.5, "most": 10**6})
    parts: dict[Cell, bytes] = {cell: as_bytes(choose.randrange(100), 3), CELLS[0]: as_bytes(1, 1)}
    parts = {part: summary for part, summary in parts.items() if part.collection == of}
    identity = identifier(number + choose.choice((choose.randrange(300), 30_020)))
    return choose.choices(
        [
            ("commit", ([delivery(choose, number) for _ in range(choose.randrange(6))],), {}),
            fold,
            ("delete_report", (of, hour, identity), {"remember": choose.random() < 0.5}),
            ("known", (of, hour, [identity, identifier(number), identifier(number + 30_020)]), {}),
            ("add_summaries", (of, identifier(choose.randrange(5)), parts, Sums(5)), {}),
            ("drop", (of, HOUR + choose.randrange(3)), {}),
            ("drop_kept", (of,), {}),
            ("forget", (of, HOUR + choose.choice((0, 0, 0, 1))), {}),
            ("add_refusals", ({(of, 24, choose.choice(("auth", "too-old"))): choose.randrange(3)},), {}),
            ("latest", (choose.randrange(1000),), {}),
        ],
        weights=[30, 15, 12, 5, 3, 2, 1, 1, 2, 2],
    )[0]


def follow(store: SqlStore, address: str, choose: random.Random, steps: int) -> None:
    """Do the same on a database and in memory, and compare all they say."""
    twin = MemoryStore()
    for each in (store, twin):
        a_collection(each)
        a_collection(each, "flavours")
    for number in range(steps):
        name, positional, named = step(choose, number)
        before = {row.cell: row for row in chain(store.kept(1), store.kept(2))}
        told = dict(zip(CELLS, store.published(CELLS), strict=True))
        assert getattr(store, name)(*positional, **named) == getattr(twin, name)(*positional, **named), (number, name)
        if number % 3 == 0 or name != "commit":
            assert view(store) == view(twin), (number, name)
        for row in chain(store.kept(1), store.kept(2)):
            if (old := before.get(row.cell)) is not None:
                changed = told[row.cell] != store.published([row.cell])[0]
                assert row.version >= old.version + changed
        if number % 100 == 50:
            store.close()
            store = open_store(address)
    assert check(store) == []
    fold_all(store, Sums(5))
    fold_all(twin, Sums(5))
    assert view(store) == view(twin)
    store.close()


def test_a_random_schedule_has_the_same_outcome_in_memory(store: SqlStore, address: str, seed: int) -> None:
    follow(store, address, random.Random(seed), 150)


@pytest.mark.soak
def test_a_long_random_schedule_has_the_same_outcome_in_memory(
    store: SqlStore, address: str, seed: int, record_property: Record
) -> None:
    kind, start = "SQLite" if store.database.is_sqlite else "PostgreSQL", time.monotonic()
    follow(store, address, random.Random(seed), 5_000)
    record_property("figure", f"random steps on {kind}: {pace(5_000, start)}, all as in memory")
