"""The one thread that stores reports: it takes all that waits, checks the payloads together, and commits them at once.

The more reports arrive, the more share one commit. A report is acknowledged when its commit is durable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from queue import SimpleQueue
from typing import TypeVar

from deniable.collector.service.taking import Taken
from deniable.collector.store.protocol import StorageTrouble, Store
from deniable.collector.store.records import TOO_OLD, Delivery
from deniable.core.errors import DeniableError, MalformedReport
from deniable.wire.refusals import Refused

MOST_WAITING = 20_000  # requests
MOST_BYTES = 2**26  # of what waits
_MOST_AT_ONCE = 2_000  # requests in one commit
_MOST_BYTES_AT_ONCE = 2**24
_GATHERING = 0.002  # seconds: a commit costs about as much, however many share it
_RETRY_BUSY, _RETRY_STORAGE = 1.0, 2.0
_Key = TypeVar("_Key")


class Writer:
    """A bounded queue and the thread that empties it."""

    def __init__(self, store: Store, *, stored: Callable[[int], None] = lambda _: None) -> None:
        self._store = store
        self._stored = stored  # called with the number of new reports after each commit
        self._queue: SimpleQueue[Taken | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._bytes = 0
        self._closed = False
        self._last = 0  # requests in the last commit
        self._thread = threading.Thread(target=self._run, name="deniable-writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Requests that are not answered yet."""
        return self._waiting

    def put(self, taken: Taken) -> None:
        """Let reports wait for the next commit, or refuse them if too many wait."""
        size = taken.bytes
        with self._lock:
            if self._closed:
                raise Refused("stopping", retry_after=_RETRY_STORAGE)
            if self._waiting >= MOST_WAITING or (self._bytes + size > MOST_BYTES and self._waiting):
                raise Refused("busy", retry_after=_RETRY_BUSY)
            self._waiting += 1
            self._bytes += size
        self._queue.put(taken)

    def close(self) -> None:
        """Store what waits, and end the thread."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        more = True
        while more:
            group, more = self._group()
            self._last = len(group)
            if group:
                self._answer(group)

    def _group(self) -> tuple[list[Taken], bool]:
        """All that waits, up to a limit; and whether there may be more."""
        queue, group, size = self._queue, list[Taken](), 0
        first = queue.get()
        if self._last > 1 and first is not None and queue.qsize() < self._last:
            time.sleep(_GATHERING)  # those who were answered a moment ago are about to send again
        while first is not None:
            group.append(first)
            size += first.bytes
            if queue.empty() or len(group) >= _MOST_AT_ONCE or size >= _MOST_BYTES_AT_ONCE:
                return group, True
            first = queue.get()
        return group, False

    def _answer(self, group: list[Taken]) -> None:
        try:
            good = checked_together([taken for taken in group if taken.late is None])
            self._commit([taken for taken in good if taken.outcome is None])
            self._recognise([taken for taken in group if taken.late is not None])
        except (StorageTrouble, DeniableError):  # each request was good by itself: what is left is not its sender's
            _refuse(group, Refused("storage", retry_after=_RETRY_STORAGE))
        except Exception as fault:
            _refuse(group, fault)
        with self._lock:
            self._waiting -= len(group)
            self._bytes -= sum(taken.bytes for taken in group)
        for wake, woken in _by(group, lambda taken: taken.wake):
            wake(woken)

    def _commit(self, good: list[Taken]) -> None:
        if not good:
            return
        deliveries = joined(good)
        new = self._store.commit([delivery for delivery, _ in deliveries])
        for (_, members), count in zip(deliveries, new, strict=True):
            for taken in members:
                taken.outcome = Refused("too-old") if count == TOO_OLD else count
        self._stored(sum(count for count in new if count != TOO_OLD))

    def _recognise(self, late: list[Taken]) -> None:
        """Acknowledge what was taken before, though it would be refused now."""
        for (number, hour), members in _by(late, lambda taken: (taken.desk.number, taken.frame.hour)):
            known = self._store.known(number, hour, [each for taken in members for each in taken.ids])
            for taken in members:
                taken.outcome = 0 if known.issuperset(taken.ids) else taken.late


def _refuse(group: Iterable[Taken], why: Exception) -> None:
    for taken in group:
        if taken.outcome is None:
            taken.outcome = why


def _by(group: Iterable[Taken], key: Callable[[Taken], _Key]) -> Iterable[tuple[_Key, list[Taken]]]:
    found: dict[_Key, list[Taken]] = {}
    for taken in group:
        found.setdefault(key(taken), []).append(taken)
    return found.items()


def checked_together(group: list[Taken]) -> list[Taken]:
    """Decode the payloads of each spec together; where one is wrong, one by one, so that only it is refused."""
    for (asked, has_ids), members in _by(group, lambda taken: (taken.asked, bool(taken.frame.ids))):
        payloads = asked.payloads(has_ids)
        try:
            ids = [each for taken in members for each in taken.ids] if has_ids else []
            payloads.read(b"".join([taken.frame.payloads for taken in members]), ids)
        except MalformedReport as error:
            if len(members) == 1:
                members[0].outcome = Refused("bad-payload", str(error))
            else:
                half = len(members) // 2
                checked_together(members[:half])
                checked_together(members[half:])
    return group


def joined(group: Sequence[Taken]) -> list[tuple[Delivery, list[Taken]]]:
    """The deliveries of a group: single reports of one cell and bucket together, each batch by itself."""
    singles: dict[object, list[Taken]] = {}
    deliveries: list[tuple[Delivery, list[Taken]]] = []
    for taken in group:
        frame = taken.frame
        if frame.batch is None:
            singles.setdefault((taken.cell, frame.hour), []).append(taken)
        else:
            whole = not frame.ids
            delivery = Delivery(taken.cell, frame.hour, taken.ids, frame.payloads, frame.n, whole=whole)
            deliveries.append((delivery, [taken]))
    for members in singles.values():
        first = members[0]
        ids = tuple([taken.ids[0] for taken in members])
        payloads = b"".join([taken.frame.payloads for taken in members])
        deliveries.append((Delivery(first.cell, first.frame.hour, ids, payloads, len(members)), members))
    return deliveries
