"""What happens in the background: folding, forgetting, retention, counters, time, and news from other processes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping

from deniable.collector.service.clock import Clock
from deniable.collector.service.counting import Counter
from deniable.collector.service.directory import Desk, Directory
from deniable.collector.service.turns import Turns
from deniable.collector.store.protocol import StorageTrouble, Store
from deniable.collector.store.records import Cell
from deniable.core.errors import DeniableError

_FOLD_SECONDS = 0.5  # between two looks at what waits
_KEEP_SECONDS = 5.0  # between two rounds of the rest
_WATCH_SECONDS = 1.0  # between two looks at what other processes have changed
_MOST_AT_ONCE = 2**20  # reports of one cell in one transaction
_SPARE_HOURS = 2  # clocks of several processes may differ by this much


class Keeper:
    """A thread that counts what waits and forgets what is old. Trouble of the store is tried again.

    Another thread learns of keys and settings that other processes have changed, however long counting takes.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        directory: Callable[[], Directory],
        refusals: Callable[[], Mapping[tuple[int, int, str], int]],
        *,
        refresh: Callable[[], None],
        report: Callable[[Exception], None],
    ) -> None:
        self._store, self._clock, self._directory = store, clock, directory
        self._refusals, self._refresh, self._report = refusals, refresh, report
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._last_round = float("-inf")
        self._forgotten: dict[int, int] = {}
        self._none_kept: set[int] = set()  # collections of which no counted reports are kept, or by others alone
        self._unsaved: Mapping[tuple[int, int, str], int] = {}
        self._turns = Turns()
        self._behind = False  # whether some cells were left for the next round
        self._failed = False  # whether the last round did
        self._blind = False  # whether the last look at changes failed
        self.folded = 0  # reports, by this process
        self._threads = [
            threading.Thread(target=self._run, name="deniable-keeper", daemon=True),
            threading.Thread(target=self._watch, name="deniable-watcher", daemon=True),
        ]

    @property
    def trouble(self) -> bool:
        """Whether the store failed a moment ago."""
        return self._failed or self._blind

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def wake(self, _new: int = 0) -> None:
        """Say that reports were stored."""
        self._wake.set()

    def close(self) -> None:
        """End the threads, and save the counters."""
        self._stop.set()
        self._wake.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()
        try:
            self._save_refusals()
        except StorageTrouble:
            self._failed = True

    def _watch(self) -> None:
        while not self._stop.wait(_WATCH_SECONDS):
            try:
                self._refresh()
                self._blind = False
            except Exception as fault:
                self._blind = True
                self._report(fault)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self.fold(_KEEP_SECONDS)
                if time.monotonic() - self._last_round >= _KEEP_SECONDS:
                    self._last_round = time.monotonic()
                    self.round()
                self._failed = False
            except Exception as fault:  # /ready says so, and the next round tries again
                self._failed = True
                self._report(fault)
                self._stop.wait(_KEEP_SECONDS / 5)
            if self._behind:
                continue
            if self._wake.wait(_KEEP_SECONDS / 5):
                self._wake.clear()
                self._stop.wait(_FOLD_SECONDS)

    def fold(self, seconds: float = math.inf) -> int:
        """Count what waits, for about so long; return how many reports that were.

        A cell in trouble does not keep others waiting, nor does a collection with many of them.
        """
        done, trouble, end = 0, None, time.monotonic() + seconds
        self._behind = False
        for cell, waiting in self._turns.order(self._store.waiting()):
            desk = self._directory().numbers.get(cell.collection)
            if desk is None or self._stop.is_set():
                continue  # made by another process a moment ago
            try:
                done += self._fold_cell(cell, waiting, desk)
            except DeniableError as error:
                trouble = error
            if time.monotonic() > end:
                self._behind = True
                break
        self.folded += done
        if trouble is not None:
            raise trouble
        return done

    def _fold_cell(self, cell: Cell, waiting: int, desk: Desk) -> int:
        counter, done = Counter(desk.spec(cell.fingerprint), desk.settings.minimum), 0
        keep = desk.settings.keep_reports
        if keep:
            self._none_kept.discard(desk.number)
        while done < waiting:
            folded = self._store.fold(cell, counter, keep=keep, most=_MOST_AT_ONCE)
            if not folded:
                break  # another process was faster
            done += folded
        return done

    def round(self) -> None:
        """Remember the time, forget old ids, drop old counts and what is kept no more, save counters."""
        self._clock.at_least(self._store.latest(int(self._clock.seconds())))
        now = self._clock.hour()
        for desk in self._directory().desks.values():
            self._forget(desk, now)
        self._save_refusals()

    def _forget(self, desk: Desk, now: int) -> None:
        settings = desk.settings
        before = settings.buckets.containing(max(0, now - settings.window - _SPARE_HOURS))
        if before > max(desk.row.remembered_from, self._forgotten.get(desk.number, 0)):
            self._store.forget(desk.number, before)
            self._forgotten[desk.number] = before
        oldest = desk.oldest(now)
        if oldest is not None:
            self._store.drop(desk.number, oldest)
        if not settings.keep_reports and desk.number not in self._none_kept:
            self._store.drop_kept(desk.number)
            self._none_kept.add(desk.number)

    def _save_refusals(self) -> None:
        counts = self._unsaved = self._unsaved or self._refusals()
        if counts:
            self._store.add_refusals(counts)
        self._unsaved = {}
