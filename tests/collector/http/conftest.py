"""Collectors for tests: without a network on a store in memory, and on real stores behind a real server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from deniable.collector.store.sql import SqlStore
from tests.collector.http.asking import COUNTRIES, send
from tests.collector.http.running import DAY, M, Running, Served, serving


@pytest.fixture
def collector() -> Iterator[Running]:
    """A collector in this process, with one collection."""
    made = Running()
    made.make()
    yield made
    made.close()
    assert made.faults == []


@pytest.fixture
def served(store: SqlStore) -> Iterator[Served]:
    """A collector on each kind of store, over HTTP, with one collection."""
    made = Running(store)
    made.make()
    made.service.start()
    with serving(made) as found:
        yield found
    made.close()
    assert made.faults == []


@pytest.fixture
def countries() -> Any:
    """Four days of reports from two countries, and their summaries by day and country."""
    made = Running()
    made.make(**COUNTRIES)
    sent = {
        (day, place): send(
            made, M, ["a"] * (300 + 100 * place) + ["b"] * 100, hour=DAY - 24 * day, segments=bytes([place])
        )
        for day in range(4)
        for place in range(2)
    }
    made.fold()
    yield made, sent
    made.close()
