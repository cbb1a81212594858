"""Threads that share the work of counting: each takes units from one list, and counts them into rows of its own."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from deniable.core.errors import MalformedReport
from deniable.core.threads import workers
from deniable.core.validate import whole
from deniable.engines.malformed import first_bad, without_bad
from deniable.engines.sources import AnyReports, Unit, Work
from deniable.grouping.counting import Counted, GroupAccumulator
from deniable.grouping.keys import Coded, Group
from deniable.grouping.rows import MOST_BYTES
from deniable.grouping.table import AnySummary

Progress = Callable[[int, int | None], None]
_TICK = 0.1  # seconds between reports of progress
_SOURCE = ("source",)


@dataclass
class Counts:
    """What one thread has counted, and in the end what all have."""

    whole: GroupAccumulator
    apart: GroupAccumulator | None  # each source by itself
    taken: int = 0  # the number of the unit that the thread has taken last

    @property
    def n(self) -> int:
        """The number of reports counted so far."""
        return self.whole.n if self.apart is None else self.apart.n

    def add(self, source: int, reports: AnyReports, groups: Coded) -> None:
        """Add a batch of reports; without groups, counts of each source are enough: they add up to the whole."""
        if self.apart is None or self.whole.by:
            self.whole.add(reports, groups)
        if self.apart is not None:
            self.apart.add(reports, Coded.one((source,), len(reports)))

    def merge(self, other: Counts) -> None:
        """Add the counts of another thread."""
        self.whole.merge(other.whole)
        if self.apart is not None and other.apart is not None:
            self.apart.merge(other.apart)

    def of_sources(self) -> Mapping[Group, AnySummary]:
        """The summary of each source that has reports."""
        return {} if self.apart is None else self.apart.table().summaries


@dataclass
class Job:
    """Counts units of work; `apart` counts each source by itself, too."""

    counted: Counted
    by: tuple[str, ...]
    skipped: Counter[str] | None
    apart: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False
    _taken: int = 0

    def run(self, work: Work, threads: int | None, progress: Progress | None, before: int = 0) -> Counts:
        """Count all units, until the list is empty or one of the threads fails; `before` were counted earlier."""
        if self.skipped is not None:
            self.skipped.update(work.left_out)
        number = workers() if threads is None else whole(1, threads=threads)
        if isinstance(work.units, list):
            number = max(1, min(number, len(work.units)))
        units, parts = iter(work.units), [self._counts(MOST_BYTES // number) for _ in range(number)]
        with ThreadPoolExecutor(number, "deniable") as pool:
            running = [pool.submit(self._count, units, part) for part in parts]
            try:
                pending = set(running)
                while pending:
                    pending = wait(pending, _TICK if progress else None, FIRST_EXCEPTION)[1]
                    if progress is not None:
                        progress(before + sum(part.n for part in parts), work.rows)
                    if any(each.done() and each.exception() for each in running):
                        break
            finally:
                self._stopped = True  # also when the user interrupts: threads end after their batch
        failed = {part.taken: error for part, each in zip(parts, running, strict=True) if (error := each.exception())}
        if failed:
            raise failed[min(failed)]  # two threads may fail at once: what comes first is named
        total, *others = parts
        for other in others:
            total.merge(other)
        return total

    def _counts(self, most_bytes: int) -> Counts:
        apart = GroupAccumulator(self.counted, _SOURCE) if self.apart else None
        return Counts(GroupAccumulator(self.counted, self.by, most_bytes=most_bytes), apart)

    def _next(self, units: Iterator[Unit], part: Counts) -> Unit | None:
        with self._lock:
            self._taken += 1
            part.taken = self._taken
            return None if self._stopped else next(units, None)

    def _count(self, units: Iterator[Unit], part: Counts) -> None:
        while (unit := self._next(units, part)) is not None:
            for where, batch in unit.batches():
                if self._stopped:
                    return
                self._add(unit, where, batch, part)

    def _add(self, unit: Unit, where: str, batch: Any, part: Counts) -> None:
        def check(rows: Any) -> None:
            reports, groups = unit.read(rows)
            GroupAccumulator(self.counted, self.by).check(reports, groups)

        try:
            part.add(unit.source, *unit.read(batch))
        except MalformedReport as error:
            if self.skipped is None:
                raise first_bad(batch, check, where, error) from None
            good, _, reasons = without_bad(batch, check, self.counted, self.by)
            with self._lock:
                self.skipped.update(reasons)
            if len(good):
                part.add(unit.source, *unit.read(good))
