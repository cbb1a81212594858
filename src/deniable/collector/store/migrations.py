"""The schema of a store, as numbered steps forward. A store of a newer release is refused.

A step is one transaction together with the version it leads to: a process killed in the middle has done nothing, and
the next one goes on from there. Processes that start at the same time take turns. A step that has been released never
changes; `deniable.collector.store.tables` describes what the last one leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, inspect, select, text, update
from sqlalchemy.schema import CreateIndex, CreateTable

from deniable.collector.store import tables
from deniable.collector.store.database import Database
from deniable.core.errors import UnsupportedVersion

Step = Callable[[Connection], None]

_VERSION = "schema"
_LOCK = 0x64656E69  # of PostgreSQL, for the length of a transaction: any number that others do not use


def first(connection: Connection) -> None:
    """Make the tables."""
    for table in tables.metadata.sorted_tables:
        connection.execute(CreateTable(table))
        for index in sorted(table.indexes - {tables.reports_kept}, key=lambda each: str(each.name)):
            connection.execute(CreateIndex(index))
    if connection.dialect.name == "postgresql":  # random bytes cannot be compressed, so it is not tried
        for column in ("ids", "payloads"):
            connection.execute(text(f"ALTER TABLE reports ALTER COLUMN {column} SET STORAGE EXTERNAL"))
    connection.execute(
        tables.numbers.insert(), [{"name": name, "value": 0} for name in (_VERSION, "revision", "latest")]
    )


def second(connection: Connection) -> None:
    """Make the index by which kept reports are found when their ids are forgotten."""
    connection.execute(CreateIndex(tables.reports_kept))


STEPS: tuple[Step, ...] = (first, second)


def version(connection: Connection) -> int:
    """The version of the schema; 0 if there is none."""
    if not inspect(connection).has_table(tables.numbers.name):
        return 0
    found = connection.scalar(select(tables.numbers.c.value).where(tables.numbers.c.name == _VERSION))
    return int(found or 0)


def migrate(database: Database, steps: Sequence[Step] = STEPS) -> list[int]:
    """Bring a store to the newest version, step by step; return the versions it went through."""
    taken: list[int] = []
    while (reached := database.write(lambda connection: _one_step(connection, steps))) is not None:
        taken.append(reached)
    return taken


def _one_step(connection: Connection, steps: Sequence[Step]) -> int | None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    found = version(connection)
    if found > len(steps):
        raise UnsupportedVersion("the store", found, len(steps))
    if found == len(steps):
        return None
    steps[found](connection)
    connection.execute(update(tables.numbers).where(tables.numbers.c.name == _VERSION).values(value=found + 1))
    return found + 1
