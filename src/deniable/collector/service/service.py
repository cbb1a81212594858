"""The collector without HTTP and SQL: it takes reports, answers questions, and keeps itself in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from deniable.collector.service.administering import Office
from deniable.collector.service.checking import Checker
from deniable.collector.service.clock import Clock
from deniable.collector.service.directory import Desk, Directory, Holder
from deniable.collector.service.formed import Forms
from deniable.collector.service.issued import issue
from deniable.collector.service.keeping import Keeper
from deniable.collector.service.outcomes import Outcomes
from deniable.collector.service.questions import Workshop
from deniable.collector.service.taking import Taken, checked, may_arrive
from deniable.collector.service.writing import Writer
from deniable.collector.store.protocol import StorageTrouble, Store
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.refusals import Refused

_RETRY = 2.0


class Service:
    """A collector on a store. `start` begins the background work, `close` ends it and lets go of the store."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        workshop: Workshop | None = None,
        report: Callable[[Exception], None] = lambda _: None,
    ) -> None:
        self.store = store
        self.clock = Clock() if clock is None else clock
        self.workshop = Workshop() if workshop is None else workshop
        self.outcomes = Outcomes()
        self.forms = Forms()
        self.office = Office(store, self.workshop, self.clock)
        self.directory = Directory()
        self._refreshing = threading.Lock()
        self.clock.at_least(store.latest(0))  # first, so that a wrong clock is noticed before it is remembered
        store.latest(int(self.clock.seconds()))
        self.refresh()
        self.keeper = Keeper(
            store, self.clock, lambda: self.directory, self.outcomes.unsaved, refresh=self.refresh, report=report
        )
        self.writer = Writer(store, stored=self._stored)
        self.checker = Checker(self.writer.put)

    def start(self) -> Service:
        """Begin to count in the background."""
        self.keeper.start()
        return self

    def close(self) -> None:
        """Store what waits, end the threads, and close the store. What is not counted yet is counted next time."""
        self.checker.close()
        self.writer.close()
        self.keeper.close()
        self.store.close()

    def _stored(self, new: int) -> None:
        self.outcomes.stored(new)
        self.keeper.wake()

    def refresh(self) -> None:
        """Read collections, specs and keys again if any process changed them."""
        with self._refreshing:
            if self.store.revision() != self.directory.revision:
                self.directory = Directory.read(self.store, self.workshop, self.directory)

    def take(
        self,
        frame: Frame,
        holder: Holder,
        desk: Desk,
        wake: Callable[[Sequence[Taken]], None],
        ticket: object = None,
        *,
        origin: str | None = None,
        size: int = 0,
    ) -> Taken:
        """Let a report or batch wait to be stored; `wake` is called, with others, once its outcome is known.

        `ticket` is for `wake` to know who waits; `origin` is that of the page that sent it, `size` that of the body.
        """
        if origin is not None and not allows(desk, origin):
            raise Refused("wrong-origin")
        if size > desk.settings.body_bytes:
            raise Refused("too-large", f"bodies for this collection have at most {desk.settings.body_bytes:,} bytes")
        taken = checked(frame, holder, desk, self.clock)
        taken.wake, taken.ticket = wake, ticket
        self.checker.put(taken)
        return taken

    def take_and_wait(self, frame: Frame, secret: bytes) -> int:
        """Store a report or batch and return how many of its reports were new; for callers without an event loop."""
        done = threading.Event()
        taken = self.take(frame, *self.directory.writer(secret), lambda _: done.set())
        done.wait()
        return outcome(taken)

    def delete(self, desk: Desk, holder: Holder, hour: int, report_id: bytes) -> str:
        """Delete a report by its id; return "deleted", or "counted" if it came too late.

        An id that is not known yet is remembered as deleted if its report may still arrive.
        """
        holder.allowance.take(1)
        remember = may_arrive(desk, self.clock, hour, report_id)
        found = self.store.delete_report(desk.number, hour, report_id, remember=remember)
        if found == "forgotten":
            raise Refused("too-old", "ids of this bucket are no longer known: the report may have been counted")
        if found == "unknown":
            raise Refused("no-such-report")
        return found

    def ids(self, desk: Desk, holder: Holder, count: int) -> tuple[int, list[bytes]]:
        """Draw ids for the current bucket."""
        holder.allowance.take(count)
        hour = desk.settings.buckets.at(self.clock.seconds())
        return hour, issue(desk.id_secret, hour, count)

    def holder_of(self, key: Key) -> Holder:
        """The holder of this key, or refuse it."""
        return self.directory.holder_of(key)

    def ready(self) -> None:
        """Refuse while the store is in trouble, or the machine's clock is in doubt."""
        self.store.revision()
        if self.keeper.trouble:
            raise Refused("storage", "the store was in trouble a moment ago", retry_after=_RETRY)
        if self.clock.ahead:
            raise Refused("clock", retry_after=_RETRY)


def allows(desk: Desk, origin: str) -> bool:
    """Whether pages of this origin may use the collection."""
    return origin in desk.settings.origins or "*" in desk.settings.origins


def outcome(taken: Taken) -> int:
    """How many reports were new, or raise why they were refused."""
    if isinstance(taken.outcome, Exception):
        raise taken.outcome
    assert taken.outcome is not None, "the writer woke somebody too early"
    return taken.outcome


def as_refusal(error: Exception) -> Refused | None:
    """The refusal that an error of the store amounts to."""
    if isinstance(error, Refused):
        return error
    return Refused("storage", retry_after=_RETRY) if isinstance(error, StorageTrouble) else None
