"""What leaves a store: a report whose sender takes it back, ids after their window, counts after their retention."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, false, select, true, tuple_, update

from deniable.collector.store.administration import grow
from deniable.collector.store.database import Database
from deniable.collector.store.finding import chunks
from deniable.collector.store.tables import DELETED, ID_BYTES, cells, collections, ids, reports

_IDS_AT_ONCE = 20_000  # deleted in one transaction, so that nobody waits long
_ROWS_AT_ONCE = 200
_FEW = {"yield_per": 50}  # rows in memory, each of which may be large


def delete_report(database: Database, collection: int, hour: int, report_id: bytes, *, remember: bool) -> str:
    """Delete a stored report, or a whole batch, by its id; return what had become of it."""
    found = database.write(
        lambda connection: _by_id(database, connection, collection, hour, report_id, remember=remember)
    )
    if found != "forgotten":
        return found
    # Reports may be kept for longer than their ids are remembered; nobody waits while they are looked through
    place = database.read(lambda connection: _row_of_old(connection, collection, hour, report_id))
    counted = None if place is None else database.write(lambda connection: _take_out(connection, place, report_id))
    return found if counted is None else "counted" if counted else "deleted"


def _by_id(
    database: Database, connection: Connection, collection: int, hour: int, report_id: bytes, *, remember: bool
) -> str:
    """Delete a report while its id is remembered."""
    found = _deleted(connection, collection, hour, report_id)
    if found != "unknown":
        return found
    remembered = select(collections.c.remembered_from).where(collections.c.number == collection)
    oldest = connection.scalar(remembered.with_for_update(read=True))  # nobody forgets any until this transaction ends
    if oldest is None or hour < oldest:
        return "unknown" if oldest is None else "forgotten"
    if remember and not _remember(database, connection, collection, hour, report_id):
        return _deleted(connection, collection, hour, report_id)  # it has arrived in between
    return found


def _remember(database: Database, connection: Connection, collection: int, hour: int, report_id: bytes) -> bool:
    """Remember an id as deleted; return False if it is remembered already."""
    this = {"collection": collection, "hour": hour, "id": report_id, "arrival": DELETED}
    return connection.execute(database.insert(ids).values(this).on_conflict_do_nothing()).rowcount == 1


def _deleted(connection: Connection, collection: int, hour: int, report_id: bytes) -> str:
    this = (ids.c.collection == collection, ids.c.hour == hour, ids.c.id == report_id)
    arrival = connection.scalar(select(ids.c.arrival).where(*this))
    if arrival is None:
        return "unknown"
    if arrival == DELETED:
        return "deleted"
    place = _row_with(connection, report_id, reports.c.arrival == arrival, *_of(collection, hour))
    if place is None:
        return "counted"
    counted = _take_out(connection, place, report_id)
    if counted is None:  # meanwhile counted, or deleted by another request
        again = connection.scalar(select(ids.c.arrival).where(*this))
        return "deleted" if again == DELETED else "counted"
    if counted:
        return "counted"
    connection.execute(update(ids).where(*this).values(arrival=DELETED))
    return "deleted"


def _take_out(connection: Connection, place: tuple[int, int], report_id: bytes) -> bool | None:
    """Delete a report from its row; return whether it was counted, or None if it is not there any more."""
    number, cell = place
    # Whoever counts this cell now will see that it was touched; if that was done before, the row is read as it is
    connection.execute(update(cells).where(cells.c.number == cell).values(touched=cells.c.touched + 1))
    row = connection.execute(select(reports).where(reports.c.number == number)).one_or_none()
    position = None if row is None else _place(row.ids, report_id)
    if row is None or position is None:
        return None
    this_row = reports.c.number == number
    if row.whole or row.n == 1:
        connection.execute(delete(reports).where(this_row))
    else:
        width = len(row.payloads) // row.n
        rest = {
            "n": row.n - 1,
            "ids": _without(row.ids, position, ID_BYTES),
            "payloads": _without(row.payloads, position, width),
        }
        connection.execute(update(reports).where(this_row).values(rest))
    return bool(row.counted)


def _of(collection: int, hour: int) -> tuple[ColumnElement[bool], ...]:
    return reports.c.hour == hour, cells.c.collection == collection


def _row_of_old(connection: Connection, collection: int, hour: int, report_id: bytes) -> tuple[int, int] | None:
    """The row that holds a report whose id is forgotten, and its cell: one that is kept, or waits still."""
    for state in (true(), false()):  # apart, since there is an index for each
        found = _row_with(connection, report_id, reports.c.counted == state, *_of(collection, hour))
        if found is not None:
            return found
    return None


def _row_with(connection: Connection, report_id: bytes, *where: ColumnElement[bool]) -> tuple[int, int] | None:
    """The row, of some, that holds a report, and its cell."""
    rows = select(reports.c.number, reports.c.cell, reports.c.ids).join(cells, cells.c.number == reports.c.cell)
    with connection.execute(rows.where(*where), execution_options=_FEW) as found:
        return next(((number, cell) for number, cell, theirs in found if _place(theirs, report_id) is not None), None)


def _place(joined: bytes, one: bytes) -> int | None:
    """The place of an id among ids that lie end to end."""
    found = joined.find(one)
    while found >= 0 and found % ID_BYTES:  # bytes of two neighbours that happen to read like it
        found = joined.find(one, found + 1)
    return found // ID_BYTES if found >= 0 else None


def _without(joined: bytes, place: int, width: int) -> bytes:
    return joined[: place * width] + joined[(place + 1) * width :]


def refuse_before(connection: Connection, collection: int, before: int) -> bool:
    """Accept no reports of earlier hours any more; return whether that is news. It is never taken back."""
    earlier = (collections.c.number == collection, collections.c.remembered_from < before)
    if connection.execute(update(collections).where(*earlier).values(remembered_from=before)).rowcount == 0:
        return False
    grow(connection)
    return True


def forget_some(connection: Connection, collection: int) -> int:
    """Forget some ids of hours whose reports are refused; return how many."""
    oldest = select(collections.c.remembered_from).where(collections.c.number == collection).scalar_subquery()
    old: tuple[Any, ...] = (ids.c.collection == collection, ids.c.hour < oldest)
    key = (ids.c.hour, ids.c.id)
    last = connection.execute(select(*key).where(*old).order_by(*key).offset(_IDS_AT_ONCE).limit(1)).one_or_none()
    if last is not None:
        old = (*old, tuple_(*key) < tuple_(*last))
    return connection.execute(delete(ids).where(*old)).rowcount


def drop(connection: Connection, collection: int, before: int) -> int:
    """Delete cells of buckets before an hour, with all that is stored for them; return how many had counts."""
    old = select(cells.c.number, cells.c.n).where(cells.c.collection == collection, cells.c.bucket < before)
    rows = connection.execute(old.order_by(cells.c.number).with_for_update()).all()
    for some in chunks([row.number for row in rows]):
        connection.execute(delete(reports).where(reports.c.cell.in_(some)))
        connection.execute(delete(cells).where(cells.c.number.in_(some)))
    return sum(row.n > 0 for row in rows)


def drop_some_kept(connection: Connection, collection: int) -> int:
    """Delete some reports that were kept after they had been counted; return how many rows that were."""
    kept = select(reports.c.number).join(cells, cells.c.number == reports.c.cell)
    kept = kept.where(reports.c.counted == true(), cells.c.collection == collection).limit(_ROWS_AT_ONCE)
    numbers = connection.scalars(kept).all()
    connection.execute(delete(reports).where(reports.c.number.in_(numbers)))
    return len(numbers)
