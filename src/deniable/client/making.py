"""Making a report: spend, draw, keep, in this order and each only once."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deniable.client import issued, ledger
from deniable.client.asking import Asking
from deniable.client.entries import BEGUN, Entry
from deniable.client.errors import Unreachable
from deniable.client.ledger import Asked, Intent
from deniable.client.sending import delay
from deniable.client.store import Store
from deniable.client.web import Web
from deniable.wire.frames import ID_BYTES, Frame
from deniable.wire.keys import NO_KEY, Key
from deniable.wire.refusals import Refused


@dataclass(frozen=True)
class Maker:
    """What it takes to make the report of one person in one collection."""

    store: Store
    asked: Asked
    web: Web | None
    key: Key | None
    segments: Mapping[str, str]
    cap: float
    delay: float
    clock: Callable[[], float]

    def made(self, asking: Asking, value: object) -> Entry | None:
        """The entry of an answer, new or old; None if another process changed in between what is asked."""
        asking.payloads.check(value)
        if not asking.form.open:
            raise Refused("closed", "the collection is closed: it takes no more answers")
        segments, hour = asking.segments(self.segments), asking.bucket(self.clock())
        number, report_id = self._spent(asking, hour)
        if number is not None:
            payload = asking.payloads.made(value, report_id)
            frame = Frame(NO_KEY, bytes.fromhex(asking.fingerprint), hour, segments, report_id, payload)
            due = self.clock() + delay(self.delay)
            with self.store.transaction() as database:
                ledger.finish(database, number, self.asked.site, frame, due, asking.expires(hour))
        with self.store.transaction() as database:
            entry = ledger.find(database, self.asked)
        return None if entry is None or entry.state == BEGUN else entry

    def _spent(self, asking: Asking, hour: int) -> tuple[int | None, bytes]:
        """Write the price into the ledger; return its line and the report's id, or no line if there is a report."""
        own = secrets.token_bytes(ID_BYTES)
        if asking.form.issued_ids:
            self.provide(hour)
        intent = Intent(asking.fingerprint, asking.epsilon, asking.document)
        with self.store.transaction() as database:
            ledger.adopt(database, self.asked, asking.fingerprint)
            number = ledger.begin(database, self.asked, intent, self.cap)
            if number is None or not asking.form.issued_ids:
                return number, own
            given = issued.take(database, self.asked, hour)
            if given is None:  # which undoes the spending too
                raise Unreachable(self.asked.site, "the ids that it issued are used up. Try again.")
            return number, given

    def provide(self, hour: int) -> None:
        """Fetch ids unless some are left for this bucket."""
        if not issued.stock(self.store, self.asked, hour):
            if self.web is None or self.key is None:
                raise Unreachable("the collector", "this collection takes only ids that its collector issues")
            issued.fetch(self.store, self.web, self.key, self.asked.collection)
