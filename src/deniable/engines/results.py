"""Results of queries as tables of summaries."""

from __future__ import annotations

from typing import Any

from deniable.core.errors import FingerprintMismatch, InvalidArgument, MalformedSummary, listed
from deniable.core.extras import needed
from deniable.engines.calls import counted_of
from deniable.grouping.keys import group_columns
from deniable.grouping.table import COUNT, FINGERPRINT_KEY, LAYOUT, LAYOUT_KEY, SUMMARY, SummaryTable, summary_of


def table_of(result: Any, mechanism: Any) -> SummaryTable:
    """Read what a query gave as a table of summaries: one column of bytes, all others the keys of its groups.

    `result` is a DuckDB relation, a polars frame, an Arrow table, or anything else that speaks Arrow. A column `n`, if
    there is one, must be the number of reports in each group.
    """
    with needed():
        import pyarrow as pa

    fingerprint = counted_of(mechanism).fingerprint
    if hasattr(result, "collect") and hasattr(result, "lazy"):
        result = result.collect()
    if not hasattr(result, "__arrow_c_stream__"):
        raise InvalidArgument("result", "be a DuckDB relation, a polars frame or an Arrow table", result)
    table = pa.table(result)
    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    found = [name for name, kind in kinds.items() if _is_bytes(kind, pa)]
    if len(found) != 1:
        rule = "have one column of bytes, that of the summaries"
        raise InvalidArgument("result", rule, listed(f"{name}: {kind}" for name, kind in kinds.items()))
    by = group_columns([name for name in table.column_names if name not in (found[0], COUNT)])
    data = table[found[0]].cast(pa.large_binary())
    if data.null_count:
        raise MalformedSummary(f"column {found[0]!r} holds {data.null_count} nulls")
    made = [summary_of(each.as_buffer()) for each in data]
    for summary in made:
        if summary.fingerprint != fingerprint:
            raise FingerprintMismatch("a summary", fingerprint, summary.fingerprint)
    counts = table[COUNT] if COUNT in kinds else pa.array([summary.n for summary in made], pa.int64())
    columns = {**{name: table[name] for name in by}, COUNT: counts, SUMMARY: data}
    metadata = {LAYOUT_KEY: str(LAYOUT).encode(), FINGERPRINT_KEY: fingerprint.encode()}
    return SummaryTable.from_arrow(pa.table(columns).replace_schema_metadata(metadata))


def _is_bytes(kind: Any, pa: Any) -> bool:
    return any(test(kind) for test in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view))
