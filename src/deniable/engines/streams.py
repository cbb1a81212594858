"""Streams of Arrow batches: tables, readers, datasets, DuckDB relations, polars frames, and all that speak Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.batches import ROWS
from deniable.core.errors import InvalidArgument, MalformedReport, cut
from deniable.core.extras import needed
from deniable.core.reports import LAYOUT_KEY, Reports, read_metadata
from deniable.engines.columns import unlabelled
from deniable.engines.sources import AnyReports, Work, check_columns, coded
from deniable.grouping.counting import Counted, report_columns, reports_from, same_spec
from deniable.grouping.keys import Coded
from deniable.heavy_hitters.collected import HitterReports

_KINDS = "a path, a folder, an Arrow table, reader or dataset, a DuckDB relation or a polars frame"


@dataclass(frozen=True)
class _Batch:
    """A batch of a stream."""

    batch: Any
    row: int
    stream: _Stream

    def batches(self) -> Iterator[tuple[str, Any]]:
        yield f"row {self.row}", self.batch

    def read(self, batch: Any) -> tuple[AnyReports, Coded]:
        own = self.stream
        if own.labels is None:
            return unlabelled(own.counted, batch, own.simulated), coded(batch, own.by, {})
        return reports_from(own.counted, batch.replace_schema_metadata(own.labels)), coded(batch, own.by, {})


@dataclass(frozen=True)
class _Stream:
    """A stream whose schema has been checked. Without labels, its reports are taken to be of the spec."""

    found: Iterator[Any]
    labels: Any
    counted: Counted
    by: tuple[str, ...]
    simulated: bool

    def __iter__(self) -> Iterator[_Batch]:
        with needed():
            import pyarrow as pa

        row = 1
        try:
            for batch in self.found:
                if len(batch):
                    yield _Batch(batch, row, self)
                row += len(batch)
        except pa.ArrowException as error:
            raise MalformedReport(f"the stream breaks off after row {row - 1}: {cut(str(error), 200)}") from None


def stream(source: Any, counted: Counted, by: tuple[str, ...], loose: bool, simulated: bool | None) -> Work:
    """Cut a stream into its batches."""
    schema, found, rows, bare = _reader(source, [*report_columns(counted), *by])
    check_columns(schema.names, [*report_columns(counted), *by])
    metadata = schema.metadata or {}
    if bare or (loose and LAYOUT_KEY not in metadata):
        return Work(_Stream(found, None, counted, by, bool(simulated)), rows)
    if LAYOUT_KEY not in metadata:
        hint = "If you know that they are reports of this spec, give unlabelled=True."
        raise MalformedReport(f"the metadata of these reports names no fingerprint. {hint}")
    if simulated is not None:
        raise InvalidArgument("simulated", "be left out for reports that say whether they are simulated", simulated)
    same_spec(counted, read_metadata(metadata)[0], "a table of reports")
    reports_from(counted, schema.empty_table())
    return Work(_Stream(found, metadata, counted, by, False), rows)


def _reader(source: Any, columns: list[str]) -> tuple[Any, Iterator[Any], int | None, bool]:
    """Schema and batches of a source, its rows if known, and whether its kind keeps no metadata."""
    with needed():
        import pyarrow as pa

    if isinstance(source, (Reports, HitterReports)):
        source = source.to_arrow()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return source.schema, _cut(source.to_batches(ROWS)), len(source), False
    owner, kind = type(source).__module__.partition(".")[0], type(source).__name__
    if owner == "polars" and kind == "LazyFrame":
        return _lazy(source, columns)
    if owner in ("duckdb", "_duckdb") and hasattr(source, "to_arrow_reader"):
        source, bare = source.to_arrow_reader(ROWS), True
    else:
        bare = owner == "polars"
    if hasattr(source, "scanner") and hasattr(source, "schema"):  # a dataset, whose scanner forgets the metadata
        names = [name for name in columns if name in source.schema.names]
        return source.schema, iter(source.scanner(columns=names, batch_size=ROWS).to_batches()), None, False
    if not isinstance(source, pa.RecordBatchReader):
        if not hasattr(source, "__arrow_c_stream__"):
            raise InvalidArgument("source", f"be {_KINDS}", source)
        try:
            source = pa.RecordBatchReader.from_stream(source)
        except (pa.ArrowException, ValueError) as error:
            raise InvalidArgument("source", "be a table of reports", cut(str(error))) from None
    return source.schema, _cut(source), None, bare


def _cut(batches: Any) -> Iterator[Any]:
    """Batches of bounded length; a reader may have its own idea of a batch."""
    for batch in batches:
        for start in range(0, len(batch), 8 * ROWS):
            yield batch.slice(start, 8 * ROWS)


def _lazy(frame: Any, columns: list[str]) -> tuple[Any, Iterator[Any], None, bool]:
    """Batches of a polars LazyFrame, collected as they are needed."""
    with needed():
        import pyarrow as pa

    names = frame.collect_schema().names()
    check_columns(names, columns)
    narrow = frame.select(columns)
    schema = narrow.head(0).collect().to_arrow().schema

    def found() -> Iterator[Any]:
        for part in narrow.collect_batches(chunk_size=8 * ROWS, maintain_order=False):
            yield from part.to_arrow().to_batches()

    return pa.schema(schema), found(), None, True


def keyed(reports: AnyReports, by: dict[str, Any]) -> Any:
    """An Arrow table of reports, with columns of keys beside them."""
    with needed():
        import pyarrow as pa

    table = reports.to_arrow()
    for name, column in by.items():
        keys = pa.array(np.asarray(column)) if isinstance(column, np.ndarray) else pa.array(column)
        if len(keys) != len(reports):
            raise InvalidArgument("by", f"have one key for each of {len(reports)} reports", f"{name}: {len(keys)}")
        table = table.append_column(name, keys)
    return table
