"""Cells by what they count: their rows, looked up many at a time, and made where there is none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection, bindparam, select, tuple_

from deniable.collector.store.database import Database
from deniable.collector.store.prepared import Prepared
from deniable.collector.store.protocol import StorageTrouble
from deniable.collector.store.records import Cell
from deniable.collector.store.tables import cells

Item = TypeVar("Item")

AT_ONCE = 200  # cells or rows in one statement
_ATTEMPTS = 5
CELL_KEY = (cells.c.collection, cells.c.fingerprint, cells.c.bucket, cells.c.segments)
_ONE_NUMBER = Prepared(
    select(cells.c.number)
    .where(*(column == bindparam(column.name, type_=column.type) for column in CELL_KEY))
    .with_for_update(read=True, key_share=True)
)


def cell_numbers(database: Database, connection: Connection, wanted: Collection[Cell]) -> dict[Cell, int]:
    """The row number of each cell, which is made if it is new; none is deleted until the transaction ends."""
    found: dict[Cell, int] = {}
    for _ in range(_ATTEMPTS):  # another process may delete a cell after it was found to be there
        found |= _number(connection, *wanted) if len(wanted) == 1 else _numbers(connection, wanted)
        missing = sorted(set(wanted) - set(found))
        if not missing:
            return found
        connection.execute(database.insert(cells).on_conflict_do_nothing(), [cell._asdict() for cell in missing])
    raise StorageTrouble("the database failed: cells are deleted as fast as they are made")


def _number(connection: Connection, cell: Cell) -> dict[Cell, int]:
    """The row number of one cell, as most commits want it, by a statement that is made once."""
    number = _ONE_NUMBER.execute(connection, cell._asdict()).scalar()
    return {} if number is None else {cell: number}


def _numbers(connection: Connection, wanted: Collection[Cell]) -> dict[Cell, int]:
    return dict(rows_of(connection, wanted, cells.c.number, locked=True))


def rows_of(
    connection: Connection, wanted: Collection[Cell], *columns: Any, locked: bool = False
) -> Iterator[tuple[Any, ...]]:
    """The cells that are there, each with some of its columns; locked against deletion if asked."""
    for some in chunks(sorted(wanted)):
        rows = select(*CELL_KEY, *columns).where(tuple_(*CELL_KEY).in_(some)).order_by(cells.c.number)
        if locked:
            rows = rows.with_for_update(read=True, key_share=True)
        for row in connection.execute(rows):
            yield Cell(*row[:4]), *row[4:]


def chunks(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Pieces of a sequence that fit into one statement each."""
    return (items[start : start + AT_ONCE] for start in range(0, len(items), AT_ONCE))
