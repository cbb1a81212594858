"""Whether a store is whole: what `deniable serve --check` looks at before anybody relies on a copy or a repair."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from sqlalchemy import Connection, case, exists, func, or_, select, text

from deniable.collector.store.arriving import remembered_by
from deniable.collector.store.migrations import STEPS, version
from deniable.collector.store.sql import SqlStore
from deniable.collector.store.tables import ID_BYTES, cells, collections, keys, reports, specs

_AT_ONCE = {"yield_per": 50}  # rows in memory, each of which may be large
_MOST = 100  # findings of one kind


def check(store: SqlStore) -> list[str]:
    """What is wrong with a store, a sentence each; nothing if it is whole. Reads everything but old ids."""
    return store.database.read(lambda connection: list(_findings(connection)))


def _findings(connection: Connection) -> Iterator[str]:
    if connection.dialect.name == "postgresql":  # all as it was at one moment, though other collectors go on
        connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
    yield from _schema(connection)
    yield from _database(connection)
    for look in (_owners, _reports, _cells, _ids):
        for place, finding in enumerate(look(connection)):
            if place == _MOST:
                yield "and more of this kind"
                break
            yield finding


def _schema(connection: Connection) -> Iterator[str]:
    found = version(connection)
    if found != len(STEPS):
        yield f"the schema has version {found}, not {len(STEPS)}"


def _database(connection: Connection) -> Iterator[str]:
    """What the database says of its own files and settings."""
    if connection.dialect.name == "sqlite":
        yield from (f"SQLite: {row[0]}" for row in connection.execute(text("PRAGMA integrity_check")) if row[0] != "ok")
        return
    for setting in ("fsync", "full_page_writes"):
        if connection.scalar(text("SELECT current_setting(:setting)"), {"setting": setting}) != "on":
            yield f"the server's {setting} is off: acknowledged reports may be lost when it crashes"


def _owners(connection: Connection) -> Iterator[str]:
    """Rows that belong to nothing."""
    for table, what in ((specs, "spec"), (keys, "key"), (cells, "cell")):
        orphans = select(table.c.collection).where(
            table.c.collection.is_not(None), ~exists().where(collections.c.number == table.c.collection)
        )
        for number in connection.scalars(orphans.distinct()):
            yield f"a {what} belongs to collection {number}, which does not exist"
    for name in connection.scalars(
        select(collections.c.name).where(~exists().where(specs.c.collection == collections.c.number))
    ):
        yield f"collection {name!r} has no spec"
    known = exists().where(specs.c.collection == cells.c.collection, specs.c.fingerprint == cells.c.fingerprint)
    for number, fingerprint in connection.execute(
        select(cells.c.collection, cells.c.fingerprint).where(~known).distinct()
    ):
        yield f"reports of collection {number} belong to spec {fingerprint[:12]}..., which it does not have"


def _reports(connection: Connection) -> Iterator[str]:
    """Rows of reports that do not fit together."""
    how_many = case((reports.c.whole, 1), else_=reports.c.n)
    bad = or_(
        reports.c.n < 1,
        func.length(reports.c.ids) != ID_BYTES * how_many,
        func.length(reports.c.payloads) % func.nullif(reports.c.n, 0) != 0,
        ~exists().where(cells.c.number == reports.c.cell),
    )
    for number in connection.scalars(select(reports.c.number).where(bad).order_by(reports.c.number)):
        yield f"row {number} of reports is damaged: its ids, payloads and number do not belong together"


def _cells(connection: Connection) -> Iterator[str]:
    """Cells whose summaries are not what was written."""
    rows = select(cells).order_by(cells.c.number)
    for row in connection.execute(rows, execution_options=_AT_ONCE):
        cell = f"cell {row.number} (collection {row.collection}, bucket {row.bucket})"
        if not 0 <= row.published_n <= row.n:
            yield f"{cell}: {row.published_n} reports are published of {row.n}"
        if (row.summary is None) != (row.n == 0):
            yield f"{cell}: {row.n} reports were counted, but there is {'no' if row.summary is None else 'a'} summary"
        if (row.apart is not None) != (0 < row.published_n < row.n):
            yield f"{cell}: what is published is not stored as its number of reports says"
        for which, summary, checksum in (
            ("summary", row.summary, row.checksum),
            ("published summary", row.apart, row.apart_checksum),
        ):
            if checksum != (None if summary is None else zlib.crc32(summary)):
                yield f"{cell}: the {which} is damaged: its checksum differs"


def _ids(connection: Connection) -> Iterator[str]:
    """Reports that are not counted yet, whose ids would be accepted again."""
    waits = (
        select(reports, cells.c.collection)
        .join(cells, cells.c.number == reports.c.cell)
        .join(collections, collections.c.number == cells.c.collection)
        .where(~reports.c.counted, reports.c.hour >= collections.c.remembered_from)
        .order_by(reports.c.number)
    )
    for row in connection.execute(waits, execution_options=_AT_ONCE):
        lost = len(row.ids) // ID_BYTES - len(remembered_by(connection, row.collection, row.hour, row.ids, row.arrival))
        if lost:
            yield f"row {row.number} of reports has {lost} ids that are not remembered"
