"""Ids that the collector issues, for collections that take no others: fetched ahead, each used once."""

from __future__ import annotations

import secrets
import sqlite3

from deniable.client.errors import Unreachable
from deniable.client.ledger import Asked
from deniable.client.store import Store
from deniable.client.web import Web
from deniable.wire.buckets import MAX_HOUR
from deniable.wire.frames import ID_BYTES
from deniable.wire.keys import Key

AHEAD = 8  # ids that are fetched at once; those of other buckets are of no use


def fetch(store: Store, web: Web, key: Key, collection: str) -> None:
    """Ask the collector for ids, and keep them for the bucket that they were issued for."""
    reply = web.request("GET", f"/v1/ids?count={AHEAD}", key=key.text)
    reply.raise_refusal(web.site)
    members = reply.members or {}
    hour, texts = members.get("bucket"), members.get("ids")
    try:
        ids = [bytes.fromhex(text) for text in texts or ()]
        known = type(hour) is int and 0 <= hour <= MAX_HOUR
        if not known or not ids or {len(each) for each in ids} != {ID_BYTES}:
            raise ValueError
    except (TypeError, ValueError):
        raise Unreachable(web.site, "the answer holds no ids") from None
    with store.transaction() as database:
        rows = [(web.site, collection, hour, each) for each in ids]
        database.executemany("INSERT OR IGNORE INTO ids VALUES (?, ?, ?, ?)", rows)
        old = "DELETE FROM ids WHERE (site, collection) = (?, ?) AND hour < ?"
        database.execute(old, (web.site, collection, hour))


def stock(store: Store, asked: Asked, hour: int) -> int:
    """How many ids are left for this bucket."""
    query = "SELECT count(*) FROM ids WHERE (site, collection, hour) = (?, ?, ?)"
    with store.transaction() as database:
        (count,) = database.execute(query, (asked.site, asked.collection, hour)).fetchone()
        return int(count)


def take(database: sqlite3.Connection, asked: Asked, hour: int) -> bytes | None:
    """Take any of the kept ids of this bucket out of the store; None if there are none."""
    key = (asked.site, asked.collection, hour)
    query = "SELECT id FROM ids WHERE (site, collection, hour) = (?, ?, ?)"
    ids = [row[0] for row in database.execute(query, key)]
    if not ids:
        return None
    chosen: bytes = secrets.choice(ids)
    database.execute("DELETE FROM ids WHERE (site, collection, hour, id) = (?, ?, ?, ?)", (*key, chosen))
    return chosen
