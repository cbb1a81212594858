"""A device that answers: once, never above what its person allows, and with every report sent that can be."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Self

from deniable.auditing.composition.composed import Composition
from deniable.client import ledger
from deniable.client.asking import Asking, Forms, Spec
from deniable.client.background import Background
from deniable.client.entries import BEGUN, Entry
from deniable.client.errors import ConsentMissing, StoreFailed
from deniable.client.explaining import Explanation, explained
from deniable.client.ledger import Asked
from deniable.client.making import Maker
from deniable.client.outbox import DAY, Outbox
from deniable.client.sending import Backoff, Sender, Sent
from deniable.client.store import Store
from deniable.client.web import Web, is_encrypted, site_of
from deniable.core.display import brief
from deniable.core.errors import InvalidArgument
from deniable.core.rounding import rounded_up
from deniable.core.validate import between, positive
from deniable.wire.frames import read_report
from deniable.wire.keys import WRITE, Key
from deniable.wire.payloads import Question

CAP = 10.0  # epsilon over all questions
DELAY = 3600.0  # seconds: a report is sent at any time within the hour after it was made
_ATTEMPTS = 8  # at making one report, while other processes change what is asked


class Client:
    """One question to one person on this device.

    `store` is a file that keeps what was spent and what must be sent; all clients of a device share it. Nothing is
    made or sent before `consent(True)`. An answer is given once: whoever answers again, in whatever process and
    with whatever value, keeps the report of the first time. The value is not kept.

    `spec` is a spec or a signed form, for devices that are not online when they answer; `bucket` is the collection's
    unit of time, needed with a bare spec. `pinned` is the SHA-256 of the key that signs the form, or the fingerprint
    of the only spec to be answered. `segments` names a label for each segment of the collection. `cap` bounds epsilon
    over all questions in the store. Reports are sent at a random time within `delay` seconds. A service that answers
    for several people names each as `person`, and each has a ledger of their own. `clock` gives the seconds since 1970,
    where the system's does not.
    """

    def __init__(
        self,
        url: str | None,
        key: str | None,
        collection: str,
        *,
        store: str | os.PathLike[str],
        spec: Spec | None = None,
        bucket: str = "day",
        pinned: str | None = None,
        segments: Mapping[str, str] | None = None,
        cap: float = CAP,
        delay: float = DELAY,
        timeout: float = 10.0,
        backoff: Backoff | None = None,
        person: str = "",
        clock: Callable[[], float] | None = None,
    ) -> None:
        site = "" if url is None else site_of(url)
        if site and not is_encrypted(site) and pinned is None and spec is None:
            hint = "Otherwise anybody on the way could choose the question; or give pinned=."
            raise InvalidArgument("url", "begin with https://", url, hint)
        if not isinstance(collection, str) or not collection or not collection.isascii() or "/" in collection:
            raise InvalidArgument("collection", "be the name of a collection", collection)
        self.collection = collection
        self.cap = positive(cap=cap)
        self.delay = between(0, DAY, delay=delay)
        self._key = Key.read(key).require(WRITE) if key is not None or site else None
        self._web = Web(site, positive(timeout=timeout)) if site else None
        self._asked = Asked(person, site, collection)
        self._segments = dict(segments or {})
        self._clock = clock = clock or time.time
        self._store = Store(store)
        self._forms = Forms(self._store, self._web, collection, pinned)
        self._given = None if spec is None else self._forms.given(spec, bucket)
        self._asking: Asking | None = self._given
        self._outbox = Outbox(self._store, site, person, collection)
        self._maker = Maker(self._store, self._asked, self._web, self._key, self._segments, self.cap, self.delay, clock)
        self._sender: Sender | None = None
        if self._web is not None:
            self._sender = Sender(self._outbox, self._web, self._key, backoff or Backoff(), clock)
        self._background = Background(self.send, clock)
        if site:
            with self._store.transaction() as database:
                ledger.adopt(database, self._asked)

    def __repr__(self) -> str:
        return brief(self, collection=repr(self.collection), site=self._asked.site or "none")

    def consent(self, given: bool | None = None) -> bool:
        """Whether the person has agreed to this collection; with an argument, keep what they say.

        Without consent nothing is made, and what was made but not sent stays here.
        """
        if given is not None and not isinstance(given, bool):
            raise InvalidArgument("given", "be True or False", given)
        with self._store.transaction() as database:
            if given is not None:
                ledger.set_consent(database, self._asked, given)
            return ledger.consents(database, self._asked)

    def answer(self, value: object) -> Entry:
        """Answer the question, unless it was answered: then the report of that time stands, whatever the value.

        The epsilon is written to the ledger, on disk, before a coin is tossed. Raises ConsentMissing, CapReached,
        ValueOutsideDomain, Unreachable where the form is not known, StoreFailed: in each case nothing was sent, and
        in each but the last nothing was spent.
        """
        with self._store.transaction() as database:
            before = ledger.find(database, self._asked)
            if before is not None and before.state != BEGUN:
                return before
            if not ledger.consents(database, self._asked):
                raise ConsentMissing(self.collection)
        for _ in range(_ATTEMPTS):
            entry = self._maker.made(self._current(), value)
            if entry is not None:
                self._background.wake()
                return entry
            self._asking = self._given
        raise StoreFailed(str(self._store.path), "other processes keep on changing what is asked. Try again.")

    def question(self) -> Question:
        """What is asked, as a mechanism or a heavy-hitter protocol: its values and its guarantee can be shown first."""
        return self._current().question

    def entry(self) -> Entry | None:
        """The answer to this question; None if there is none."""
        with self._store.transaction() as database:
            return ledger.find(database, self._asked)

    def ledger(self) -> list[Entry]:
        """All answers of this person in the store, to whatever collections."""
        with self._store.transaction() as database:
            return ledger.entries(database, self._asked.person)

    def spent(self) -> float:
        """Epsilon of all answers of this person in the store, added up and rounded up."""
        with self._store.transaction() as database:
            return rounded_up(ledger.spent(database, self._asked.person))

    def composed(self, delta: float = 0.0) -> Composition | None:
        """What all answers of this person in the store spend together, by each rule of `dn.compose`; None if none.

        With a delta above 0, many small ones spend far less, but for this probability. The cap counts the sum.
        """
        with self._store.transaction() as database:
            return ledger.composed(database, self._asked.person, delta)

    def explain(self) -> Explanation:
        """What was sent, and in plain words what anybody can conclude from it."""
        entry = self.entry()
        if entry is None:
            raise InvalidArgument("question", "be answered before it is explained", self.collection)
        return explained(entry, self.spent(), self.cap)

    def forget(self) -> Entry | None:
        """Erase the report. What is not sent never will be, what is sent the collector is asked to delete.

        It can delete a report until that is counted; counts cannot be undone. What is spent stays spent, and the
        question stays answered. If the collector cannot be reached, `send` asks it later.
        """
        with self._store.transaction() as database:
            ledger.forget(database, self._asked, self._clock())
        self.send()
        return self.entry()

    def refresh(self) -> None:
        """Fetch the form now, and ids if the collection issues them: before the device goes offline."""
        asking = self._forms.fetch(self._clock())
        self._asking = self._given or asking
        if asking.form.issued_ids:
            self._maker.provide(asking.bucket(self._clock()))

    def send(self, wait: float = 0.0, *, hurry: bool = False) -> Sent:
        """Send what is due; with `wait`, go on for so many seconds until nothing is left.

        Failures are no errors here: what could not be sent stays, and `trouble` names the last reason. `hurry` sends
        at once what waits for its random time or after a failure, and so tells when the answer was given.
        """
        if self._sender is None:
            return Sent(next_due=self._outbox.next_due(self._clock()))
        end = time.monotonic() + between(0, DAY, wait=wait)
        total = self._sender.send(hurry=hurry)
        while total.next_due is not None and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, max(0.01, total.next_due - self._clock())))
            total = total.then(self._sender.send())
        return total

    def frames(self) -> list[bytes]:
        """What is due, as bytes for a gateway to carry; call `delivered` with each that it has taken.

        A frame that was not delivered is given again later, as the same bytes.
        """
        return self._outbox.frames(self._clock(), self._key)

    def delivered(self, frame: bytes) -> None:
        """Note that a gateway has taken a frame."""
        self._outbox.delivered(read_report(frame))

    def start(self) -> Self:
        """Send in the background from now on, until `close` or the end of the program."""
        self._background.start()
        return self

    def close(self) -> None:
        """Stop sending in the background; what waits is kept."""
        self._background.stop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _current(self) -> Asking:
        """What is asked now: as it was given, or by a form that has not expired."""
        asking, now = self._asking, self._clock()
        if asking is None or now >= asking.form.expires:
            asking = self._asking = self._forms.current(now)
        return asking
