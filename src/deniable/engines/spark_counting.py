"""The driver's part of counting with Spark: what is sent to the cluster, and what becomes of its answer."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from deniable.core.errors import MalformedReport
from deniable.core.extras import needed
from deniable.engines.malformed import first_bad, without_bad
from deniable.engines.sources import check_columns, check_report_columns, coded
from deniable.engines.spark_tasks import WHERE, Count, Reader, spec_of
from deniable.engines.spark_types import columns_of, count_types, plain_key
from deniable.grouping.counting import Cells, Counted, GroupAccumulator, check_beside, check_counted, levels_of
from deniable.grouping.rows import REPORTS
from deniable.heavy_hitters.collected import HitterReports
from deniable.mechanisms.layouts.symbols import SymbolLayout


def counted_on_cluster(
    mechanism: Counted, df: Any, by: tuple[str, ...], skipped: Counter[str] | None, simulated: bool
) -> GroupAccumulator:
    """Count a DataFrame; rows that are no reports stop it, or are counted in `skipped`."""
    reader = Reader(check_counted(mechanism), by)
    check_beside(mechanism, by)
    check_report_columns(columns_of(df), mechanism, "df")
    check_columns(columns_of(df), by)
    rows = df.selectExpr(*(f"{plain_key(df, name)} AS column_{at}" for at, name in enumerate(reader.names)))
    reader.check(_batch(rows.limit(0), reader.names))  # the types, before any work is done
    symbols = all(isinstance(level.layout, SymbolLayout) for level in levels_of(mechanism))
    count = _counted_by_spark if symbols else _counted_by_tasks
    cells, reasons = count(reader, rows, skipped is not None)
    if skipped is not None:
        skipped.update(reasons)
    elif reasons:
        raise MalformedReport(min(reasons))  # several tasks may have found one
    total = GroupAccumulator(mechanism, by)
    total.add_cells(cells, simulated)
    return total


def _batch(df: Any, names: list[str]) -> Any:
    """The rows of a DataFrame, on the driver, as one batch."""
    with needed():
        import pyarrow as pa

    return pa.RecordBatch.from_arrays([column.combine_chunks() for column in df.toArrow().columns], names)


def _counted_by_spark(reader: Reader, rows: Any, skipping: bool) -> tuple[Cells, Counter[str]]:
    """Let Spark count equal rows, and check one of each kind."""
    found = _batch(rows.groupBy(*rows.columns).count(), [*reader.names, "count"])
    counts = found.column(found.num_columns - 1).to_numpy()
    kinds = found.select(list(range(found.num_columns - 1)))
    reasons: Counter[str] = Counter()
    try:
        reader.check(kinds)
    except MalformedReport as error:
        if not skipping:
            raise first_bad(kinds, reader.check, WHERE, error) from None
        kinds, kept, reasons = without_bad(kinds, reader.check, reader.counted, reader.by, counts)
        counts = counts[kept]
    reports, groups = reader.read(kinds)
    if isinstance(reports, HitterReports):
        data, levels = reports.reports.data, reports.levels.astype(np.int64)
    else:
        data, levels = reports.data, np.zeros(len(reports), np.int64)
    # a row counts in the cell of its symbol, and among the reports
    cells = np.concatenate([data.astype(np.int64), np.full(len(data), REPORTS)])
    once = Cells.of(groups, levels, cells[: len(data)], counts)
    return Cells(once.groups, np.tile(once.codes, 2), np.tile(levels, 2), cells, np.tile(counts, 2)), reasons


def _counted_by_tasks(reader: Reader, rows: Any, skipping: bool) -> tuple[Cells, Counter[str]]:
    """Let tasks count their partitions, and Spark add the counts."""
    task = Count(spec_of(reader.counted), reader.by, skipping)
    parts = rows.mapInArrow(task, count_types(rows.schema.fields[: len(reader.by)]))
    *keys, level, cell, count, reason = parts.columns
    added = parts.groupBy(*keys, level, cell, reason).sum(count)
    found = _batch(added, [*reader.by, "", "", "", ""])
    *_, reasons, counts = found.columns
    bad = found.filter(reasons.is_valid()).columns[-2:]
    sound = found.filter(reasons.is_null())
    levels, cells, _, counts = (column.to_numpy(zero_copy_only=False) for column in sound.columns[-4:])
    faults = dict(zip(*(column.to_pylist() for column in bad), strict=True))
    return Cells.of(coded(sound, reader.by, {}), levels, cells, counts), Counter(faults)
