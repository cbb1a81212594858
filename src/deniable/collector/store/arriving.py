"""Reports on their way into the store: each id once, however often and by how many processes it is sent.

All ids of a commit are inserted by one statement for each collection and hour, which leaves out those that are there.
If as many were inserted as were sent, all are new, and no id is looked at again.
"""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Integer, LargeBinary, bindparam, func, literal, select
from sqlalchemy.dialects import postgresql, sqlite

from deniable.collector.store.database import Database
from deniable.collector.store.finding import cell_numbers
from deniable.collector.store.prepared import Prepared
from deniable.collector.store.records import TOO_OLD, Cell, Delivery
from deniable.collector.store.tables import ID_BYTES, collections, ids, reports
from deniable.core.errors import InvalidArgument

_ARRIVALS = 2**63 - 1


class _Place(NamedTuple):
    """Where reports lie end to end."""

    cell: Cell
    hour: int
    width: int  # of a payload
    batch: int  # -1 if it is not whole


@dataclass
class _Row:
    """A row of reports in the making."""

    whole: bool
    ids: list[bytes] = field(default_factory=list)
    payloads: list[bytes] = field(default_factory=list)
    n: int = 0


def commit(database: Database, connection: Connection, deliveries: Sequence[Delivery]) -> list[int]:
    """Store deliveries; return of each how many reports were new, or TOO_OLD."""
    oldest = _remembered_from(connection, {delivery.cell.collection for delivery in deliveries})
    current = [delivery.hour >= oldest[delivery.cell.collection] for delivery in deliveries]
    arrival = 1 + secrets.randbelow(_ARRIVALS)
    fresh = _remember(database, connection, [d for d, ok in zip(deliveries, current, strict=True) if ok], arrival)
    rows: dict[_Place, _Row] = {}
    new = []
    for position, (delivery, ok) in enumerate(zip(deliveries, current, strict=True)):
        new.append(_lay(rows, position, delivery, fresh[delivery.cell.collection, delivery.hour]) if ok else TOO_OLD)
    if rows:
        numbers = cell_numbers(database, connection, {place.cell for place in rows})
        _INTO_REPORTS.execute(
            connection,
            *(
                {
                    "cell": numbers[place.cell],
                    "arrival": arrival,
                    "hour": place.hour,
                    "n": row.n,
                    "whole": row.whole,
                    "counted": False,
                    "ids": b"".join(row.ids),
                    "payloads": b"".join(row.payloads),
                }
                for place, row in rows.items()
            ),
        )
    return new


def _remembered_from(connection: Connection, wanted: set[int]) -> dict[int, int]:
    """From which hour on ids are remembered; nobody forgets any until this transaction ends."""
    found: dict[int, int] = {}
    for number in sorted(wanted):
        for row in _REMEMBERED_FROM.execute(connection, {"wanted": number}):
            found[row.number] = row.remembered_from
    if missing := wanted - set(found):
        raise InvalidArgument("collection", "be in the store", min(missing))
    return found


def _remember(
    database: Database, connection: Connection, deliveries: Iterable[Delivery], arrival: int
) -> dict[tuple[int, int], set[bytes] | None]:
    """Remember all ids; return for each collection and hour those that are new, or None if every one sent is."""
    sent: defaultdict[tuple[int, int], list[bytes]] = defaultdict(list)
    for delivery in deliveries:
        if len(delivery.ids) != (1 if delivery.whole else delivery.n) or (
            delivery.n and len(delivery.payloads) % delivery.n
        ):
            raise InvalidArgument("a delivery", "have an id for each report, or one if it is whole", len(delivery.ids))
        sent[delivery.cell.collection, delivery.hour].extend(delivery.ids)
    fresh: dict[tuple[int, int], set[bytes] | None] = {}
    for (collection, hour), every in sorted(sent.items()):  # in order, so that no two transactions wait for each other
        different = sorted(set(every))
        joined = b"".join(different)
        if len(joined) != ID_BYTES * len(different):
            raise InvalidArgument("ids", f"have {ID_BYTES} bytes", "others")
        values = _values(collection, hour, joined, arrival)
        inserting = _INTO_SQLITE if database.is_sqlite else _INTO_POSTGRESQL
        inserted = inserting.execute(connection, values).rowcount if different else 0
        if inserted == len(every):
            fresh[collection, hour] = None
        elif inserted == len(different):
            fresh[collection, hour] = set(different)
        else:
            fresh[collection, hour] = remembered_by(connection, collection, hour, joined, arrival)
    return fresh


def remembered_by(connection: Connection, collection: int, hour: int, joined: bytes, arrival: int) -> set[bytes]:
    """Which of some ids, which lie end to end, are remembered by the commit of this number."""
    return set(connection.scalars(_OURS, _values(collection, hour, joined, arrival))) - {None}


def known(connection: Connection, collection: int, hour: int, sent: Sequence[bytes]) -> set[bytes]:
    """Which of some ids are remembered, by whatever commit or deletion."""
    values = {"of": collection, "at": hour, "joined": b"".join(sent), "places": len(sent)}
    return set(connection.scalars(_KNOWN, values)) - {None} if sent else set()


def _values(collection: int, hour: int, joined: bytes, arrival: int) -> dict[str, object]:
    return {"of": collection, "at": hour, "joined": joined, "places": len(joined) // ID_BYTES, "by": arrival}


def _lay(rows: dict[_Place, _Row], position: int, delivery: Delivery, fresh: set[bytes] | None) -> int:
    """Lay the new reports of a delivery into their row; an id is new once. Return how many there are."""
    if not delivery.n:
        return 0
    width = len(delivery.payloads) // delivery.n
    taken = (
        range(len(delivery.ids)) if fresh is None else [i for i, one in enumerate(delivery.ids) if _take(fresh, one)]
    )
    if not taken:
        return 0
    # A whole batch is a row of its own, since it can be deleted by its id
    place = _Place(delivery.cell, delivery.hour, width, position if delivery.whole else -1)
    row = rows.setdefault(place, _Row(delivery.whole))
    if len(taken) == len(delivery.ids):
        row.ids.extend(delivery.ids)
        row.payloads.append(delivery.payloads)
    else:
        row.ids.extend(delivery.ids[i] for i in taken)
        row.payloads.extend(delivery.payloads[i * width : (i + 1) * width] for i in taken)
    n = delivery.n if delivery.whole else len(taken)
    row.n += n
    return n


def _take(fresh: set[bytes], one: bytes) -> bool:
    if one not in fresh:
        return False
    fresh.remove(one)
    return True


def _places() -> Any:
    """The places 0, 1, ... of ids that lie end to end in one parameter, cut apart by the database."""
    start = select(literal(0, Integer).label("place")).cte("places", recursive=True)
    return start.union_all(select(start.c.place + 1).where(start.c.place + 1 < bindparam("places", type_=Integer)))


_PLACES = _places()
_ONE_ID = func.substr(
    bindparam("joined", type_=LargeBinary), 1 + ID_BYTES * _PLACES.c.place, ID_BYTES, type_=LargeBinary
)
_OF = bindparam("of", type_=Integer)
_AT = bindparam("at", type_=BigInteger)
_BY = bindparam("by", type_=BigInteger)
_SENT = select(_OF.label("of"), _AT.label("at"), _ONE_ID.label("one"), _BY.label("by")).where(_PLACES.c.place >= 0)
# One lookup for each id: told to join, PostgreSQL would rather read all ids of the hour
_ONE = select(ids.c.id).where(ids.c.collection == _OF, ids.c.hour == _AT, ids.c.id == _ONE_ID).correlate(_PLACES)
_KNOWN = select(_ONE.scalar_subquery()).select_from(_PLACES)
_OURS = select(_ONE.where(ids.c.arrival == _BY).scalar_subquery()).select_from(_PLACES)


_COLUMNS = ["collection", "hour", "id", "arrival"]
_INTO_SQLITE = Prepared(sqlite.insert(ids).from_select(_COLUMNS, _SENT).on_conflict_do_nothing())
_INTO_POSTGRESQL = Prepared(postgresql.insert(ids).from_select(_COLUMNS, _SENT).on_conflict_do_nothing())
_INTO_REPORTS = Prepared(
    reports.insert().inline(), ("cell", "arrival", "hour", "n", "whole", "counted", "ids", "payloads")
)
_REMEMBERED_FROM = Prepared(
    select(collections.c.number, collections.c.remembered_from)
    .where(collections.c.number == bindparam("wanted", type_=Integer))
    .with_for_update(read=True)
)
