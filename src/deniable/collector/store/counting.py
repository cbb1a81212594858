"""Reports that become counts, in one transaction: each once, also if several processes count the same cell.

Counting itself happens between a transaction that reads and one that writes, so that nobody waits for it. The second
begins with the cell's `touched`: if it is not what was read, somebody else has changed the cell or its reports, nothing
is written, and the work starts again from what is there now. Where that happens time after time, as when many people
take back their reports, the cell is locked while it is counted.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, case, delete, false, func, select, update

from deniable.collector.store.database import Database
from deniable.collector.store.finding import CELL_KEY, cell_numbers, chunks, rows_of
from deniable.collector.store.protocol import Counting
from deniable.collector.store.records import Cell, Counted, Kept, Waiting
from deniable.collector.store.tables import cells, imports, reports

_ATTEMPTS = 4  # without a lock
_ROWS = 2000  # in one transaction
_VERSIONS = 2**32
_STATE = (
    cells.c.number, cells.c.touched, cells.c.n, cells.c.published_n, cells.c.version, cells.c.summary, cells.c.apart,
)  # fmt: skip


class _State(NamedTuple):
    """A cell as it was read."""

    number: int
    touched: int
    n: int
    published_n: int
    version: int
    summary: bytes | None
    apart: bytes | None

    @property
    def published(self) -> bytes | None:
        return self.summary if self.published_n == self.n else self.apart


def fold(database: Database, cell: Cell, counting: Counting, *, keep: bool, most: int) -> int:
    """Count waiting reports of a cell; return how many."""
    for _ in range(_ATTEMPTS):
        read = database.read(lambda connection: _read(connection, cell, most))
        if read is None:
            return 0
        state, rows = read
        counted = counting(cell, state.summary, state.published, rows)
        if database.write(lambda connection: _write(connection, state, counted, rows, keep)):  # noqa: B023
            return sum(row.n for row in rows)
    return database.write(lambda connection: _fold_locked(connection, cell, counting, keep, most))


def _fold_locked(connection: Connection, cell: Cell, counting: Counting, keep: bool, most: int) -> int:
    """Count waiting reports of a cell that is changed as fast as it is counted: who would change it waits."""
    this = (column == value for column, value in zip(CELL_KEY, cell, strict=True))
    connection.execute(select(cells.c.number).where(*this).with_for_update(key_share=True))
    read = _read(connection, cell, most)
    if read is None:
        return 0
    state, rows = read
    _write(connection, state, counting(cell, state.summary, state.published, rows), rows, keep)
    return sum(row.n for row in rows)


def _read(connection: Connection, cell: Cell, most: int) -> tuple[_State, list[Waiting]] | None:
    """The state of a cell, and its first waiting rows. The cell is read first, so that changes after it are noticed."""
    found = next(rows_of(connection, [cell], *_STATE), None)
    if found is None:
        return None
    state = _State(*found[1:])
    waits = (reports.c.cell == state.number, reports.c.counted == false())
    first = (
        select(reports.c.number, reports.c.n).where(*waits).order_by(reports.c.number).limit(max(1, min(most, _ROWS)))
    )
    numbers: list[int] = []
    total = 0
    for number, n in connection.execute(first):
        numbers.append(number)
        total += n
        if total >= most:
            break
    columns = select(reports.c.number, reports.c.whole, reports.c.ids, reports.c.payloads, reports.c.n)
    rows: list[Waiting] = []
    for some in chunks(numbers):
        found_rows = connection.execute(columns.where(reports.c.number.in_(some)).order_by(reports.c.number))
        rows.extend(
            Waiting(number, b"" if whole else ids, payloads, n) for number, whole, ids, payloads, n in found_rows
        )
    return (state, rows) if rows else None


def _write(connection: Connection, state: _State, counted: Counted, rows: Sequence[Waiting], keep: bool) -> bool:
    """Write what was counted, unless the cell was touched since it was read."""
    if not _advance(connection, state, counted):
        return False
    for some in chunks([row.number for row in rows]):
        theirs = reports.c.number.in_(some)
        connection.execute(
            update(reports).where(theirs).values(counted=True) if keep else delete(reports).where(theirs)
        )
    return True


def _advance(connection: Connection, state: _State, counted: Counted) -> bool:
    """Give a cell its new summary, and publish it if asked; False if the cell was touched since it was read."""
    values: dict[str, Any] = {
        "touched": state.touched + 1,
        "n": counted.n,
        "summary": counted.summary,
        "checksum": zlib.crc32(counted.summary),
    }
    if counted.publish:
        values |= {"published_n": counted.n, "version": state.version + 1, "apart": None, "apart_checksum": None}
    elif state.published_n == state.n != counted.n:
        values |= {"apart": cells.c.summary, "apart_checksum": cells.c.checksum}  # what stands there before this change
    same = (cells.c.number == state.number, cells.c.touched == state.touched)
    return connection.execute(update(cells).where(*same).values(values)).rowcount == 1


def add_summaries(
    database: Database,
    connection: Connection,
    collection: int,
    name: bytes,
    parts: Mapping[Cell, bytes],
    counting: Callable[..., Counted],
) -> bool:
    """Add summaries from elsewhere, once for each name."""
    once = database.insert(imports).values(collection=collection, name=name).on_conflict_do_nothing()
    if connection.execute(once).rowcount == 0:
        return False
    numbers = cell_numbers(database, connection, parts.keys())
    for cell, number in sorted(numbers.items(), key=lambda item: item[1]):
        locked = select(*_STATE).where(cells.c.number == number).with_for_update(key_share=True)
        state = _State(*connection.execute(locked).one())
        _advance(connection, state, counting(cell, state.summary, state.published, parts[cell]))
    return True


def waiting(connection: Connection) -> list[tuple[Cell, int]]:
    """The cells with reports that are not counted yet, and how many."""
    per_cell = (
        select(reports.c.cell, func.sum(reports.c.n).label("n"))
        .where(reports.c.counted == false())
        .group_by(reports.c.cell)
        .subquery()
    )
    rows = connection.execute(
        select(*CELL_KEY, per_cell.c.n).join(per_cell, per_cell.c.cell == cells.c.number).order_by(*CELL_KEY)
    )
    return [(Cell(*row[:4]), int(row[4])) for row in rows]


def kept(connection: Connection, collection: int) -> list[Kept]:
    """All cells of a collection that have counts."""
    # A cell that is dropped and made again has a greater number, so its versions go on growing
    rows = select(*CELL_KEY, cells.c.n, cells.c.published_n, cells.c.number * _VERSIONS + cells.c.version)
    rows = rows.where(cells.c.collection == collection, cells.c.n > 0).order_by(*CELL_KEY)
    return [Kept(Cell(*row[:4]), *row[4:]) for row in connection.execute(rows)]


def published(connection: Connection, wanted: Sequence[Cell]) -> list[bytes | None]:
    """The published summary of each cell."""
    same = cells.c.published_n == cells.c.n
    found = dict(rows_of(connection, set(wanted), case((same, cells.c.summary), else_=cells.c.apart)))
    return [found.get(cell) for cell in wanted]


def summaries(connection: Connection, wanted: Sequence[Cell]) -> list[bytes | None]:
    """The whole summary of each cell."""
    found = dict(rows_of(connection, set(wanted), cells.c.summary))
    return [found.get(cell) for cell in wanted]
