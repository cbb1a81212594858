"""Collections, specs and keys, counters of refusals, and the numbers a store keeps about itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.exc import IntegrityError

from deniable.collector.store.database import Database
from deniable.collector.store.protocol import AlreadyThere
from deniable.collector.store.records import CollectionRow, KeyRow, SpecRow
from deniable.collector.store.tables import collections, keys, numbers, refusals, specs
from deniable.core.errors import InvalidArgument, shown

_SPEC = tuple(specs.c[name] for name in SpecRow._fields)
_KEY = tuple(keys.c[name] for name in KeyRow._fields)
_COLLECTION = tuple(collections.c[name] for name in CollectionRow._fields)


def all_collections(connection: Connection) -> list[CollectionRow]:
    """All collections, in the order in which they were made."""
    return [CollectionRow(*row) for row in connection.execute(select(*_COLLECTION).order_by(collections.c.number))]


def all_specs(connection: Connection) -> list[SpecRow]:
    """All specs, in the order in which they were added."""
    return [SpecRow(*row) for row in connection.execute(select(*_SPEC).order_by(specs.c.number))]


def all_keys(connection: Connection) -> list[KeyRow]:
    """All keys, the oldest first, with those that were revoked."""
    return [KeyRow(*row) for row in connection.execute(select(*_KEY).order_by(keys.c.made, keys.c.digest))]


def add_collection(
    connection: Connection, name: str, settings: str, signer: bytes, spec: SpecRow, own: Sequence[KeyRow] = ()
) -> CollectionRow:
    """Make a collection, its first spec and its first keys, whose `collection` is not known before and ignored."""
    values = {"name": name, "settings": settings, "signer": signer, "remembered_from": 0}
    number = _new(connection, collections, values, f"a collection named {shown(name)}")[0]
    add_spec(connection, spec._replace(collection=number))
    for key in own:
        add_key(connection, key._replace(collection=number))
    return CollectionRow(number, name, settings, signer, 0)


def change_collection(connection: Connection, number: int, settings: str, before: str) -> bool:
    """Give a collection new settings; False if those before are others by now, so that no change undoes another."""
    if connection.scalar(select(collections.c.number).where(collections.c.number == number)) is None:
        raise InvalidArgument("collection", "be in the store", number)
    same = (collections.c.number == number, collections.c.settings == before)
    if connection.execute(update(collections).where(*same).values(settings=settings)).rowcount == 0:
        return False
    grow(connection)
    return True


def add_spec(connection: Connection, spec: SpecRow) -> None:
    """Add a spec to a collection."""
    if connection.scalar(select(collections.c.number).where(collections.c.number == spec.collection)) is None:
        raise InvalidArgument("collection", "be in the store", spec.collection)
    _new(connection, specs, spec._asdict(), f"a spec {spec.fingerprint[:12]}... in this collection")
    grow(connection)


def add_key(connection: Connection, key: KeyRow) -> None:
    """Add a key."""
    _new(connection, keys, key._asdict(), "this key")
    grow(connection)


def revoke_key(connection: Connection, digest: bytes, at: int, *, keep_one: bool = False) -> bool:
    """Revoke a key; False if there is none that is valid, or to `keep_one`, if it is the last of its role."""
    valid, this = keys.c.revoked.is_(None), keys.c.digest == digest
    if keep_one:  # locked in order, so that two that are revoked at the same time do not each leave the other
        role = select(keys.c.role).where(this).scalar_subquery()
        alike = select(keys.c.digest).where(keys.c.role == role, valid).order_by(keys.c.digest).with_for_update()
        if connection.scalars(alike).all() == [digest]:
            return False
    if connection.execute(update(keys).where(this, valid).values(revoked=at)).rowcount == 0:
        return False
    grow(connection)
    return True


def _new(connection: Connection, table: Any, values: Mapping[str, object], what: str) -> Any:
    """Insert a row and return its primary key."""
    try:
        return connection.execute(table.insert().values(values)).inserted_primary_key
    except IntegrityError:
        raise AlreadyThere(f"{what} exists") from None


def number(connection: Connection, name: str) -> int:
    """A number that the store keeps about itself."""
    return int(connection.execute(select(numbers.c.value).where(numbers.c.name == name)).scalar_one())


def grow(connection: Connection) -> None:
    """Tell every process that collections, specs or keys have changed."""
    connection.execute(update(numbers).where(numbers.c.name == "revision").values(value=numbers.c.value + 1))


def raise_latest(connection: Connection, seconds: int) -> int:
    """Remember a time if it is the latest; return the latest."""
    earlier = (numbers.c.name == "latest", numbers.c.value < seconds)
    connection.execute(update(numbers).where(*earlier).values(value=seconds))
    return number(connection, "latest")


def add_refusals(database: Database, connection: Connection, counts: Mapping[tuple[int, int, str], int]) -> None:
    """Add to the counters of refused requests."""
    if not counts:
        return
    rows = [
        {"collection": collection, "day": day, "reason": reason, "n": n}
        for (collection, day, reason), n in sorted(
            counts.items()
        )  # in order, so that no two processes wait for each other
    ]
    adding = database.insert(refusals)
    total = refusals.c.n + adding.excluded.n
    connection.execute(
        adding.on_conflict_do_update(index_elements=["collection", "day", "reason"], set_={"n": total}), rows
    )


def refusals_of(connection: Connection, collection: int) -> dict[tuple[int, str], int]:
    """The counters of a collection."""
    rows = select(refusals.c.day, refusals.c.reason, refusals.c.n).where(refusals.c.collection == collection)
    return {(day, reason): n for day, reason, n in connection.execute(rows.order_by(refusals.c.day, refusals.c.reason))}
