"""Failures of a database on purpose: before each statement, around the commit, by ending the connection."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

from deniable.collector.store.sql import SqlStore
from deniable.collector.store.tables import metadata


class Planned(Exception):
    """The driver's error, as far as the store can see."""

    sqlstate = "XX000"


@contextlib.contextmanager
def failing_at(store: SqlStore, statement: int, fail: Callable[[Any], None]) -> Iterator[list[int]]:
    """Call `fail` with the connection before statement number `statement`, or before the commit if there are fewer.

    The list that is yielded holds how many statements and commits there were, and how often it failed.
    """
    seen = [0, 0]

    def count(connection: Any) -> None:
        seen[0] += 1
        if seen[0] == statement + 1:
            seen[1] += 1
            fail(connection)

    def before(connection: Any, *_: object) -> None:
        count(connection)

    engine = store.database.engine
    event.listen(engine, "before_cursor_execute", before)
    event.listen(engine, "commit", count)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", before)
        event.remove(engine, "commit", count)


def raise_planned(_: Any) -> None:
    """Fail as a database does."""
    raise OperationalError("SECRET STATEMENT", {"payloads": b"SECRET"}, Planned("disk on fire"), hide_parameters=True)


def tables(store: SqlStore) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table."""
    return store.database.read(
        lambda connection: {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key.columns))]
            for table in metadata.sorted_tables
        }
    )


@contextlib.contextmanager
def answer_of_commit_lost(store: SqlStore, monkeypatch: Any) -> Iterator[None]:
    """Let the next transaction that writes succeed, but not its answer arrive."""
    dialect = store.database.engine.dialect
    commit = dialect.do_commit

    def lost(connection: Any) -> None:
        commit(connection)
        monkeypatch.undo()
        raise dialect.dbapi.OperationalError("the answer was lost")  # type: ignore[union-attr]

    def write(work: Any) -> Any:
        monkeypatch.setattr(dialect, "do_commit", lost)
        return actual(work)

    actual = store.database.write
    monkeypatch.setattr(store.database, "write", write)
    yield
