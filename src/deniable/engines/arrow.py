"""One machine: files, folders and streams of reports into a summary, or a table of them, on all cores.

A row group of a Parquet file, or a batch of a stream, is the unit of work. Each thread counts the units that it takes
into counts of its own, and these are added at the end: addition is exact, so the result does not depend on who
counted what. Memory holds a batch and the counts of each thread, however many reports there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.core.reports import Reports
from deniable.engines.jobs import Job, Progress
from deniable.engines.partitions import typed_columns
from deniable.engines.paths import paths_of
from deniable.engines.sources import Wanted, Work, files, work_of
from deniable.engines.streams import keyed
from deniable.grouping.counting import Counted, check_beside, check_counted, levels_of
from deniable.grouping.keys import group_columns
from deniable.grouping.table import AnySummary, SummaryTable
from deniable.heavy_hitters.collected import HitterReports

_APART_BYTES = 2**26  # of the counts of sources that are counted each by itself, for each thread


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
    return Job(counted, (), skipped).run(work_of(source, wanted), threads, progress).whole.summary()


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
    return Job(counted, names, skipped).run(work_of(source, wanted), threads, progress).whole.table()


def summarize_each(
    mechanism: Counted,
    sources: Sequence[str],
    by: str | list[str] | tuple[str, ...] = (),
    *,
    threads: int | None = None,
    skipped: Counter[str] | None = None,
    repeats: bool = False,
    progress: Progress | None = None,
) -> tuple[AnySummary | SummaryTable, list[AnySummary]]:
    """Count files, folders and patterns in one job: all of them together, and each by itself.

    Those of each tell whether two hold the same reports. Cost: besides that of the groups, memory for the counts of
    some sources at a time.
    """
    counted = check_counted(mechanism)
    names, types = typed_columns(by) if by else ((), {})
    check_beside(counted, names)
    found = paths_of(list(sources), repeats)
    if found is None:
        raise InvalidArgument("sources", "be paths, folders or patterns", sources)
    work = files(found, Wanted(counted, names, types, skipping=skipped is not None, repeats=repeats))
    if skipped is not None:
        skipped.update(work.left_out)
    total, each = SummaryTable(names, {}, counted.fingerprint) if names else None, list[AnySummary]()
    step = max(2, _APART_BYTES // sum(8 * level.layout.cells for level in levels_of(counted)))
    for start in range(0, len(sources), step):
        part = Work([unit for unit in work.units if start <= unit.source < start + step], work.rows)
        before = sum(summary.n for summary in each)
        counts = Job(counted, names, skipped, apart=True).run(part, threads, progress, before)
        own = counts.of_sources()
        each += [own.get((place,), counted.empty_summary()) for place in range(start, min(start + step, len(sources)))]
        total = total + counts.whole.table() if total is not None else None
    return sum(each[1:], start=each[0]) if total is None else total, each
