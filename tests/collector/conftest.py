"""Stores to test on: an empty one of each kind for each test, on one PostgreSQL server for all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from deniable.collector.store.opening import open_store
from deniable.collector.store.sql import SqlStore
from tests.collector.servers import Server, running_server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server; tests that need it are skipped where it cannot be started."""
    with contextlib.ExitStack() as stack:
        try:
            server = stack.enter_context(running_server())
        except RuntimeError as error:
            pytest.skip(str(error))
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty store."""
    if request.param == "sqlite":
        return str(tmp_path / "store")
    server: Server = request.getfixturevalue("postgresql")
    return server.new_database()


@pytest.fixture
def store(address: str) -> Iterator[SqlStore]:
    """An empty store."""
    store = open_store(address)
    yield store
    store.close()
