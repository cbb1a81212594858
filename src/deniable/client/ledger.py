"""The ledger of a device: what is spent is written before a coin is tossed, and a question has one report for ever.

    begin     the epsilon is on disk, or nothing happened
    (draw)    outside of any transaction: a stop here has cost the epsilon, and released nothing
    finish    the first report that arrives here is the report; all others are dropped unseen

Nothing but a report that was finished is ever sent, so whoever is stopped in between may draw again.
"""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from typing import NamedTuple

from deniable.auditing.composition.composed import Composition, compose, moving_share
from deniable.auditing.composition.law import Step
from deniable.client.asking import question_of
from deniable.client.entries import BEGUN, EXPIRED, FORGOTTEN, REFUSED, SENT, WAITING, WITHDRAWING, Entry
from deniable.client.errors import CapReached, ConsentMissing
from deniable.core.documents import read_json
from deniable.core.errors import DeniableError
from deniable.core.rounding import rounded_up
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.wire.frames import Frame

_COLUMNS = """
    SELECT ledger.collection, ledger.fingerprint, ledger.epsilon, ledger.document, reports.state, reports.id,
           reports.payload, reports.hour, reports.reason, reports.attempts, reports.due, reports.unanswered
    FROM ledger LEFT JOIN reports ON reports.entry = ledger.number """


class Asked(NamedTuple):
    """Who is asked what: a person on this device, and a collection of a site ("" if it is not known yet)."""

    person: str
    site: str
    collection: str


class Intent(NamedTuple):
    """What an answer costs, and the spec that it is made under."""

    fingerprint: str
    epsilon: float
    document: str


def consents(database: sqlite3.Connection, asked: Asked) -> bool:
    """Whether the person has agreed to this collection; at first they have not."""
    query = "SELECT given FROM consents WHERE (person, site, collection) = (?, ?, ?)"
    row = database.execute(query, asked).fetchone()
    return bool(row and row[0])


def set_consent(database: sqlite3.Connection, asked: Asked, given: bool) -> None:
    """Keep what the person has said."""
    database.execute("INSERT OR REPLACE INTO consents VALUES (?, ?, ?, ?)", (*asked, int(given)))


def find(database: sqlite3.Connection, asked: Asked) -> Entry | None:
    """The answer to this question, under whatever spec and at whichever of its addresses it was given."""
    row = database.execute(f"{_COLUMNS} WHERE ledger.number = ?", (_number(database, asked),)).fetchone()
    return None if row is None else _entry(row)


def _number(database: sqlite3.Connection, asked: Asked) -> int | None:
    """The line of the ledger that holds the answer to this question."""
    where = "WHERE (person, site, collection) = (?, ?, ?)"
    query = f"SELECT number FROM ledger {where} UNION ALL SELECT entry FROM aliases {where}"
    row = database.execute(query, (*asked, *asked)).fetchone()
    return None if row is None else int(row[0])


def entries(database: sqlite3.Connection, person: str) -> list[Entry]:
    """All answers of a person, in the order in which they were given."""
    rows = database.execute(f"{_COLUMNS} WHERE ledger.person = ? ORDER BY ledger.number", (person,))
    return [_entry(row) for row in rows]


def spent(database: sqlite3.Connection, person: str) -> Fraction:
    """The epsilons of all answers together, exactly: they add up, since nobody says that the values are unrelated."""
    rows = database.execute("SELECT epsilon FROM ledger WHERE person = ?", (person,))
    return sum((Fraction(epsilon) for (epsilon,) in rows), Fraction())


def composed(database: sqlite3.Connection, person: str, delta: float) -> Composition | None:
    """What all answers of a person spend together but for this probability; None before the first one.

    The sum, which the cap counts, holds always. What holds but for delta needs questions whose epsilons were chosen
    without a look at earlier answers, as those of a collector are that asks everybody the same.
    """
    rows = database.execute("SELECT epsilon, document FROM ledger WHERE person = ?", (person,)).fetchall()
    moves = {document: _moves(document) for document in {document for _, document in rows}}
    return compose([Step(epsilon, moves[document]) for epsilon, document in rows], delta=delta) if rows else None


def _moves(document: str) -> float:
    """How often an answer tells two values apart, at most: always, where only its epsilon is known."""
    try:
        question = question_of(read_json(document))
    except DeniableError:
        return 1.0
    return moving_share(question) if isinstance(question, Mechanism) else 1.0


def adopt(database: sqlite3.Connection, asked: Asked, fingerprint: str = "") -> None:
    """Take over an answer that was given before the site had this address, or had one at all.

    It is the same question if it has the collection's name, and the same spec or no site. It stays the answer at the
    place where it was given: whoever asks there again, under whatever spec, finds it too. A report
    that was never handed to the network goes to the new address; any other stays where it may have arrived.
    """
    where = "WHERE (person, collection) = (?, ?) AND (fingerprint = ? OR site = '') ORDER BY number"
    key = (asked.person, asked.collection, fingerprint)
    row = database.execute(f"SELECT number, site FROM ledger {where}", key).fetchone()
    if row is None or _number(database, asked) is not None:
        return
    number, before = row
    other = asked
    if not before:
        other = asked._replace(site="")
        database.execute("UPDATE ledger SET site = ? WHERE number = ?", (asked.site, number))
    database.execute("INSERT INTO aliases VALUES (?, ?, ?, ?)", (*other, number))
    unsent = "entry = ? AND (site = '' OR state = ? AND attempts = 0)"
    database.execute(f"UPDATE reports SET site = ? WHERE {unsent}", (asked.site, number, WAITING))
    if consents(database, asked._replace(site=before)):
        set_consent(database, asked, True)


def begin(database: sqlite3.Connection, asked: Asked, intent: Intent, cap: float) -> int | None:
    """Spend the epsilon of an answer; None if the question has its report, or is forgotten.

    An answer that was begun and never finished has paid already. If the spec has changed since then, its place is
    taken by the new one, at the larger of both prices.
    """
    if not consents(database, asked):
        raise ConsentMissing(asked.collection)
    before = find(database, asked)
    if before is not None and before.state != BEGUN:
        return None
    paid = 0.0 if before is None else before.epsilon
    price, total = max(intent.epsilon, paid), spent(database, asked.person)
    if price > paid and total - Fraction(paid) + Fraction(price) > Fraction(cap):
        raise CapReached(rounded_up(total), intent.epsilon, cap)
    kept = (intent.fingerprint, price, intent.document)
    number = _number(database, asked)
    if number is not None:
        change = "UPDATE ledger SET fingerprint = ?, epsilon = ?, document = ? WHERE number = ?"
        database.execute(change, (*kept, number))
        return number
    made = "INSERT INTO ledger (person, site, collection, fingerprint, epsilon, document) VALUES (?, ?, ?, ?, ?, ?)"
    return database.execute(made, (*asked, *kept)).lastrowid


def finish(
    database: sqlite3.Connection, number: int, site: str, frame: Frame, due: float, expires: float | None
) -> None:
    """Keep the report of an answer that was begun, unless it has one, or its spec has changed in between."""
    (fingerprint,) = database.execute("SELECT fingerprint FROM ledger WHERE number = ?", (number,)).fetchone()
    if fingerprint != frame.fingerprint.hex():
        return
    database.execute(
        "INSERT INTO reports (entry, site, key, fingerprint, hour, segments, id, payload, state, due, expires) "
        "VALUES (?, ?, x'', ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (entry) DO NOTHING",
        (number, site, frame.fingerprint, frame.hour, frame.segments, frame.ids, frame.payloads, WAITING, due, expires),
    )


def forget(database: sqlite3.Connection, asked: Asked, now: float) -> None:
    """Erase the report of an answer. What may be at the collector is put in line to be deleted there.

    A report that was handed to the network may be on its way even now. The request to delete it needs the same lease,
    and so waits until nobody is sending it.
    """
    number = _number(database, asked)
    if number is None:
        return
    database.execute(
        "INSERT INTO reports (entry, site, key, fingerprint, hour, segments, id, payload, state, due) "
        "SELECT number, site, x'', x'', 0, x'', CAST(number AS BLOB), x'', ?, 0 FROM ledger WHERE number = ? "
        "ON CONFLICT (entry) DO NOTHING",
        (FORGOTTEN, number),
    )
    arrived = "state = ? OR state = ? AND attempts > 0 OR state IN (?, ?) AND unanswered > 0"  # or may have
    database.execute(
        f"UPDATE reports SET payload = x'', due = ?, reason = '', state = CASE WHEN {arrived} THEN ? ELSE ? END "
        "WHERE entry = ? AND state NOT IN (?, ?)",
        (now, SENT, WAITING, REFUSED, EXPIRED, WITHDRAWING, FORGOTTEN, number, WITHDRAWING, FORGOTTEN),
    )


def _entry(row: tuple[object, ...]) -> Entry:
    collection, fingerprint, epsilon, document, state, *report = row
    paid = (str(collection), str(fingerprint), float(epsilon), str(document))  # type: ignore[arg-type]
    return Entry(*paid, BEGUN) if state is None else Entry(*paid, state, *report)  # type: ignore[arg-type]
