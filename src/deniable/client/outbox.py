"""The reports that wait to be sent. Whoever sends one leases it first, so that others leave it alone meanwhile.

The attempt is written down before the bytes leave. If the sender dies, its lease runs out, and somebody else sends
the same bytes under the same id, which the collector counts once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deniable.client.entries import EXPIRED, FORGOTTEN, GATEWAY, REFUSED, SENT, WAITING, WITHDRAWING
from deniable.client.store import Store
from deniable.wire.frames import ID_BYTES, Frame
from deniable.wire.keys import Key

MOST = 10_000  # reports in one request
DAY = 86_400.0  # the longest pause or delay
_HORIZON = 2 * DAY  # what waits longer was put off by a clock that has gone back
_ANSWERED = "unanswered = max(0, unanswered - ?)"
_CONSENT = "EXISTS (SELECT 1 FROM consents WHERE (person, collection, site) = (?, ?, ?) AND given)"


class Group(NamedTuple):
    """Reports that fit into one frame, and what is to be done with them."""

    numbers: tuple[int, ...]
    state: str
    frame: Frame  # always a batch; `single` is a report
    size: int  # bytes of one payload
    attempts: int
    expires: float | None

    def part(self, start: int, stop: int) -> Group:
        """Some of the reports."""
        ids = self.frame.ids[ID_BYTES * start : ID_BYTES * stop]
        payloads = self.frame.payloads[self.size * start : self.size * stop]
        frame = self.frame._replace(ids=ids, payloads=payloads, n=stop - start)
        return self._replace(numbers=self.numbers[start:stop], frame=frame)


@dataclass(frozen=True)
class Outbox:
    """The queue of one site: the reports of one collection and person if `entry` says so, or those of a gateway."""

    store: Store
    site: str
    person: str | None = None  # None at a gateway
    collection: str = ""

    @property
    def _own(self) -> tuple[str, tuple[str, ...]]:
        """The condition that a row is this queue's, and its arguments."""
        if self.person is None:
            return "site = ? AND entry IS NULL", (self.site,)
        entry = f"SELECT number FROM ledger WHERE (person, collection) = (?, ?) AND {_CONSENT}"
        without = "SELECT number FROM ledger WHERE (person, collection) = (?, ?)"
        given = (self.person, self.collection)
        allowed = f"(entry IN ({entry}) OR state = '{WITHDRAWING}' AND entry IN ({without}))"
        return f"site = ? AND {allowed}", (self.site, *given, *given, self.site, *given)

    def lease(self, now: float, until: float, most: int = MOST) -> Group | None:
        """Take, until then, the reports that are due and share a frame with the first of them."""
        own, arguments = self._own
        open_states = f"state IN ('{WAITING}', '{WITHDRAWING}')"
        free = "(leased <= ? OR leased > ?)"
        due = "(due <= ? OR due > ?)"
        when = (now, now + _HORIZON) * 2
        with self.store.transaction() as database:
            query = f"SELECT * FROM reports WHERE {own} AND {open_states} AND {free} AND {due}"
            database.row_factory = sqlite3.Row
            first = database.execute(f"{query} ORDER BY due, number LIMIT 1", (*arguments, *when)).fetchone()
            if first is None:
                return None
            shared = "AND (state, key, fingerprint, hour, segments, length(payload)) = (?, ?, ?, ?, ?, ?)"
            names = ("state", "key", "fingerprint", "hour", "segments")
            like = (*(first[name] for name in names), len(first["payload"]))
            batch = 1 if first["state"] == WITHDRAWING else most
            limit = f"{query} {shared} ORDER BY due, number LIMIT {batch}"
            rows = database.execute(limit, (*arguments, *when, *like)).fetchall()
            database.executemany(
                "UPDATE reports SET leased = ?, attempts = attempts + 1, unanswered = unanswered + 1 WHERE number = ?",
                [(until, row["number"]) for row in rows],
            )
        return _group(rows)

    def settle(self, group: Group, reason: str = "", *, clear: bool = True) -> None:
        """Write down the end of these reports: sent without a reason, else refused, expired or forgotten for it.

        `clear` says that the collector has answered the attempt, so that nothing is in doubt but earlier ones.
        """
        state = SENT if not reason else EXPIRED if reason == "too-old" else REFUSED
        state = FORGOTTEN if group.state == WITHDRAWING else state
        numbers = [(number, group.state) for number in group.numbers]
        where = "WHERE number = ? AND state = ?"  # it may have been forgotten in between
        with self.store.transaction() as database:
            if self.person is not None:
                change = f"UPDATE reports SET state = '{state}', reason = ?, leased = 0, {_ANSWERED} {where}"
                database.executemany(change, [(reason, clear, *each) for each in numbers])
                return
            gone = database.executemany(f"DELETE FROM reports {where}", numbers).rowcount
            database.execute(
                "INSERT INTO outcomes VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
                (self.site, reason or SENT, gone),
            )

    def postpone(self, numbers: Sequence[int], until: float, reason: str, *, clear: bool = False) -> None:
        """Let reports wait until then; `clear` as for `settle`."""
        with self.store.transaction() as database:
            database.executemany(
                f"UPDATE reports SET due = ?, reason = ?, leased = 0, {_ANSWERED} WHERE number = ?",
                [(until, reason, clear, number) for number in numbers],
            )

    def frames(self, now: float, key: Key | None) -> list[bytes]:
        """The frames of reports that are due, for somebody else to carry; being handed over is an attempt."""
        frames = []
        own, arguments = self._own
        with self.store.transaction() as database:
            database.row_factory = sqlite3.Row
            due = f"{own} AND state = '{WAITING}' AND due <= ?"
            for row in database.execute(f"SELECT * FROM reports WHERE {due}", (*arguments, now)).fetchall():
                frame = _group([row]).frame
                frames.append(frame._replace(key=b"" if key is None else key.secret).to_bytes())
            tried = "attempts = attempts + 1, unanswered = unanswered + 1"
            database.execute(f"UPDATE reports SET {tried} WHERE {due}", (*arguments, now))
        return frames

    def delivered(self, frame: Frame) -> None:
        """Note that a gateway has taken on to deliver this report."""
        own, arguments = self._own
        same = "(fingerprint, hour, id, payload) = (?, ?, ?, ?)"
        with self.store.transaction() as database:
            database.execute(
                f"UPDATE reports SET state = '{SENT}', reason = ? WHERE {own} AND state = '{WAITING}' AND {same}",
                (GATEWAY, *arguments, frame.fingerprint, frame.hour, frame.ids, frame.payloads),
            )

    def hurry(self, now: float) -> None:
        """Make everything due that waits, whatever it waits for."""
        own, arguments = self._own
        with self.store.transaction() as database:
            database.execute(f"UPDATE reports SET due = min(due, ?) WHERE {own}", (now, *arguments))

    def next_due(self, now: float) -> float | None:
        """When there will be something to send, in seconds since 1970; None if nothing waits."""
        own, arguments = self._own
        query = f"SELECT min(max(due, leased)) FROM reports WHERE {own} AND state IN ('{WAITING}', '{WITHDRAWING}')"
        with self.store.transaction() as database:
            (due,) = database.execute(query, arguments).fetchone()
            return None if due is None else max(float(due), self._pause(database, now)[0])

    def pause(self, now: float) -> tuple[float, int]:
        """Until when the site is left alone, and how many requests have failed in a row."""
        with self.store.transaction() as database:
            return self._pause(database, now)

    def set_pause(self, until: float, failures: int) -> None:
        """Leave the site alone until then; with no failures, not any more."""
        with self.store.transaction() as database:
            if failures:
                database.execute("INSERT OR REPLACE INTO pauses VALUES (?, ?, ?)", (self.site, until, failures))
            else:
                database.execute("DELETE FROM pauses WHERE site = ?", (self.site,))

    def _pause(self, database: sqlite3.Connection, now: float) -> tuple[float, int]:
        row = database.execute("SELECT until, failures FROM pauses WHERE site = ?", (self.site,)).fetchone()
        if row is None or row[0] > now + _HORIZON:
            return 0.0, 0
        return float(row[0]), int(row[1])


def _group(rows: Sequence[sqlite3.Row]) -> Group:
    first = rows[0]
    ids, payloads = b"".join(row["id"] for row in rows), b"".join(row["payload"] for row in rows)
    head = (first["key"], first["fingerprint"], first["hour"], first["segments"])
    frame = Frame(*head, ids, payloads, len(rows))
    ends = [row["expires"] for row in rows if row["expires"] is not None]
    numbers = tuple(row["number"] for row in rows)
    attempts = 1 + max(row["attempts"] for row in rows)
    return Group(numbers, first["state"], frame, len(first["payload"]), attempts, min(ends, default=None))
