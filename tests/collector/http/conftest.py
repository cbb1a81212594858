"""Collectors for tests: without a network on a store in memory, and on real stores behind a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deniable.collector.store.sql import SqlStore
from tests.collector.http.running import Running, Served, serving


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
