"""One machine: files, folders and streams of reports into a summary, or a table of them, on all cores.

A row group of a Parquet file, or a batch of a stream, is the unit of work. Each thread counts the units that it takes
into counts of its own, and these are added at the end: addition is exact, so the result does not depend on who
counted what. Memory holds a batch and the counts of each thread, however many reports there are.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from deniable.core.errors import InvalidArgument, MalformedReport
from deniable.core.reports import Reports
from deniable.core.threads import workers
from deniable.core.validate import whole
from deniable.engines.malformed import first_bad, without_bad
from deniable.engines.partitions import typed_columns
from deniable.engines.sources import Unit, Wanted, Work, work_of
from deniable.engines.streams import keyed
from deniable.grouping.counting import Counted, GroupAccumulator, check_beside, check_counted
from deniable.grouping.keys import group_columns
from deniable.grouping.rows import MOST_BYTES
from deniable.grouping.table import AnySummary, SummaryTable
from deniable.heavy_hitters.collected import HitterReports

Progress = Callable[[int, int | None], None]
_TICK = 0.1  # seconds between reports of progress


def summarize(
    mechanism: Counted,
    source: Any,
    *,
    threads: int | None = None,
    skipped: Counter[str] | None = None,
    unlabelled: bool = False,
    simulated: bool | None = None,
    repeats: bool = False,
    progress: Progress | None = None,
) -> AnySummary:
    """Count the reports of any source into one summary.

    `mechanism` may also be heavy hitters. `source` is a Parquet file, a folder or a pattern of them (or a list of
    these), an Arrow table, reader or dataset, a DuckDB relation, a polars frame, or anything else that speaks Arrow.
    DuckDB and polars drop the metadata that names the spec, and so do others with `unlabelled`: then the reports are
    taken to be of this spec, and `simulated` says whether they are simulated.

    A malformed row stops the job with an error that says where it is; if a Counter is given as `skipped`, such rows
    are left out and counted in it, by reason. A file that is named twice is refused, unless `repeats` says that it is
    to count twice. `progress(rows, of)` is called now and then.
    """
    counted = check_counted(mechanism)
    wanted = Wanted(counted, unlabelled=unlabelled, simulated=simulated, skipping=skipped is not None, repeats=repeats)
    return _Job(counted, (), skipped).run(work_of(source, wanted), threads, progress).summary()


def summarize_by(
    mechanism: Counted,
    source: Any,
    by: str | list[str] | tuple[str, ...] | Mapping[str, Any],
    *,
    threads: int | None = None,
    skipped: Counter[str] | None = None,
    unlabelled: bool = False,
    simulated: bool | None = None,
    repeats: bool = False,
    progress: Progress | None = None,
) -> SummaryTable:
    """Count the reports of any source into one summary for each group, as `engines.arrow.summarize` does into one.

    `by` names columns beside the reports, or the keys of partitioned folders (`day=2026-01-31/`). Keys in the names of
    folders are text, unless their type is given: `day:date`, `version:int`. Beside a batch of `Reports` it maps names
    to keys, one per report.
    """
    counted = check_counted(mechanism)
    if isinstance(by, Mapping):
        if not isinstance(source, (Reports, HitterReports)):
            raise InvalidArgument("by", "name columns of the source", by, "Keys are given beside Reports only.")
        names, types = group_columns(tuple(by)), dict[str, str]()
        source = keyed(source, dict(by))
    else:
        names, types = typed_columns(by)
    check_beside(counted, names)
    wanted = Wanted(counted, names, types, unlabelled, simulated, skipped is not None, repeats)
    return _Job(counted, names, skipped).run(work_of(source, wanted), threads, progress).table()


@dataclass
class _Job:
    """Threads that take units from one list until it is empty or one of them fails."""

    counted: Counted
    by: tuple[str, ...]
    skipped: Counter[str] | None
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(self, work: Work, threads: int | None, progress: Progress | None) -> GroupAccumulator:
        if self.skipped is not None:
            self.skipped.update(work.left_out)
        number = workers() if threads is None else whole(1, threads=threads)
        if isinstance(work.units, list):
            number = max(1, min(number, len(work.units)))
        units, parts = iter(work.units), [self._rows(MOST_BYTES // number) for _ in range(number)]
        with ThreadPoolExecutor(number, "deniable") as pool:
            running = [pool.submit(self._count, units, part) for part in parts]
            try:
                pending = set(running)
                while pending:
                    pending = wait(pending, _TICK if progress else None, FIRST_EXCEPTION)[1]
                    if progress is not None:
                        progress(sum(part.n for part in parts), work.rows)
                    if any(each.done() and each.exception() for each in running):
                        break
            finally:
                self._stopped = True  # also when the user interrupts: threads end after their batch
        errors = [error for each in running if (error := each.exception()) is not None]
        if errors:
            raise min(errors, key=str)  # two threads may fail at once
        total, *others = parts
        for other in others:
            total.merge(other)
        return total

    def _rows(self, most_bytes: int) -> GroupAccumulator:
        return GroupAccumulator(self.counted, self.by, most_bytes=most_bytes)

    def _next(self, units: Iterator[Unit]) -> Unit | None:
        with self._lock:
            return None if self._stopped else next(units, None)

    def _count(self, units: Iterator[Unit], part: GroupAccumulator) -> None:
        while (unit := self._next(units)) is not None:
            for where, batch in unit.batches():
                if self._stopped:
                    return
                self._add(unit, where, batch, part)

    def _add(self, unit: Unit, where: str, batch: Any, part: GroupAccumulator) -> None:
        def check(rows: Any) -> None:
            reports, groups = unit.read(rows)
            GroupAccumulator(self.counted, self.by).check(reports, groups)

        try:
            reports, groups = unit.read(batch)
            part.add(reports, groups)
        except MalformedReport as error:
            if self.skipped is None:
                raise first_bad(batch, check, where, error) from None
            good, _, reasons = without_bad(batch, check, self.counted, self.by)
            with self._lock:
                self.skipped.update(reasons)
            if len(good):
                part.add(*unit.read(good))
