"""Streams of Arrow batches: tables, readers, datasets, DuckDB relations, polars frames, and all that speak Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.batches import ROWS
from deniable.core.errors import DeniableError, InvalidArgument, MalformedReport, cut
from deniable.core.extras import needed
from deniable.core.reports import LAYOUT_KEY, Reports, read_metadata
from deniable.engines.columns import unlabelled
from deniable.engines.partitions import check_types
from deniable.engines.sources import AnyReports, Wanted, Work, check_columns, check_report_columns, coded
from deniable.grouping.counting import report_columns, reports_from, same_spec
from deniable.grouping.keys import Coded
from deniable.heavy_hitters.collected import HitterReports

_KINDS = "a path, a folder, an Arrow table, reader or dataset, a DuckDB relation or a polars frame"


@dataclass(frozen=True)
class _Batch:
    """A batch of a stream. Without labels, its reports are taken to be of the spec."""

    batch: Any
    labels: Any
    row: int
    wanted: Wanted
    source: int = 0

    def batches(self) -> Iterator[tuple[str, Any]]:
        yield f"row {self.row}", self.batch

    def read(self, batch: Any) -> tuple[AnyReports, Coded]:
        own = self.wanted
        groups = coded(batch, own.by, {})
        if self.labels is None:
            return unlabelled(own.counted, batch, bool(own.simulated)), groups
        return reports_from(own.counted, batch.replace_schema_metadata(self.labels)), groups


@dataclass(frozen=True)
class _Source:
    """A source that has been opened: batches with the metadata of what they come from."""

    schema: Any
    found: Iterator[tuple[Any, Any]]
    rows: int | None = None
    bare: bool = False  # a tool that keeps no metadata
    parts: tuple[tuple[str, Any], ...] = ()  # path and metadata of each file, if they are known


def stream(source: Any, wanted: Wanted) -> Work:
    """Cut a stream into its batches."""
    counted = wanted.counted
    with _worded(0):
        opened = _opened(source, [*report_columns(counted), *wanted.by])
        check_report_columns(opened.schema.names, counted)
        check_columns(opened.schema.names, wanted.by)
        check_types(opened.schema, wanted.types)
        if not opened.bare:
            parts = opened.parts or (("", opened.schema.metadata),)
            for path, metadata in parts:
                _check_labels(path, metadata, wanted)
            if any(_is_labelled(metadata) for _, metadata in parts):
                reports_from(counted, opened.schema.empty_table().replace_schema_metadata(parts[0][1]))
    return Work(_units(opened, wanted), opened.rows)


def _units(opened: _Source, wanted: Wanted) -> Iterator[_Batch]:
    row, found = 1, opened.found
    while True:
        with _worded(row - 1):
            batch, metadata = next(found, (None, None))
        if batch is None:
            return
        labels = None
        if not opened.bare:
            _check_labels("", metadata, wanted)
            labels = metadata if _is_labelled(metadata) else None
        if len(batch):
            yield _Batch(batch, labels, row, wanted)
        row += len(batch)


def _is_labelled(metadata: Any) -> bool:
    return LAYOUT_KEY in (metadata or {})


def _check_labels(path: str, metadata: Any, wanted: Wanted) -> None:
    """Refuse reports of another spec, and those that name none unless the caller does."""
    where = f"{path}: " if path else ""
    if not _is_labelled(metadata):
        if not wanted.unlabelled:
            hint = "If you know that they are reports of this spec, give unlabelled=True."
            raise MalformedReport(f"{where}the metadata of these reports names no fingerprint. {hint}")
        return
    if wanted.simulated is not None:
        hint = "These reports say whether they are simulated."
        raise InvalidArgument("simulated", "be left out", wanted.simulated, hint)
    what = f"{path}: a batch of reports" if path else "a table of reports"
    same_spec(wanted.counted, read_metadata(metadata)[0], what)


@contextmanager
def _worded(rows: int) -> Iterator[None]:
    """Word in one line what goes wrong in the tool that a stream comes from."""
    with needed():
        import pyarrow as pa

    try:
        yield
    except DeniableError:
        raise
    except Exception as error:
        if not isinstance(error, (pa.ArrowException, OSError)) and _owner(error) not in ("duckdb", "polars"):
            raise
        what = f"the stream breaks off after row {rows}" if rows else "the source cannot be read"
        raise MalformedReport(f"{what}: {cut(str(error), 200)}") from None


def _owner(value: object) -> str:
    """The package that a value's type comes from."""
    return type(value).__module__.partition(".")[0].lstrip("_")


def _opened(source: Any, columns: list[str]) -> _Source:
    """Schema and batches of any source."""
    with needed():
        import pyarrow as pa

    if isinstance(source, (Reports, HitterReports)):
        source = source.to_arrow()
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return _Source(source.schema, _cut(source.to_batches(ROWS), source.schema), len(source))
    owner = _owner(source)
    if owner == "polars" and type(source).__name__ == "LazyFrame":
        return _lazy(source, columns)
    bare = owner in ("polars", "duckdb")
    if owner == "duckdb" and hasattr(source, "to_arrow_reader"):
        source = source.to_arrow_reader(ROWS)
    if hasattr(source, "scanner") and hasattr(source, "schema"):
        return _dataset(source, [name for name in columns if name in source.schema.names])
    if not isinstance(source, pa.RecordBatchReader):
        if not hasattr(source, "__arrow_c_stream__"):
            raise InvalidArgument("source", f"be {_KINDS}", source)
        try:
            source = pa.RecordBatchReader.from_stream(source)
        except (pa.ArrowException, ValueError) as error:
            raise InvalidArgument("source", "be a table of reports", cut(str(error))) from None
    return _Source(source.schema, _cut(source, source.schema), bare=bare)


def _dataset(source: Any, names: list[str]) -> _Source:
    """A dataset, whose own schema has the metadata of its first file only: every file is asked."""
    with needed():
        import pyarrow as pa

    scanner = source.scanner(columns=names, batch_size=ROWS)
    if not hasattr(scanner, "scan_batches"):  # of another package than Arrow
        return _Source(source.schema, _cut(scanner.to_batches(), source.schema))
    try:
        parts = tuple((getattr(each, "path", ""), each.physical_schema.metadata) for each in source.get_fragments())
    except pa.ArrowException:
        raise
    except ValueError:  # of a filtered dataset Arrow names no files, but its batches do
        parts = ()
    found = ((tagged.record_batch, tagged.fragment.physical_schema.metadata) for tagged in scanner.scan_batches())
    return _Source(source.schema, found, parts=parts)


def _cut(batches: Any, schema: Any) -> Iterator[tuple[Any, Any]]:
    """Batches of bounded length; a reader may have its own idea of a batch."""
    for batch in batches:
        for start in range(0, len(batch), 8 * ROWS):
            yield batch.slice(start, 8 * ROWS), schema.metadata


def _lazy(frame: Any, columns: list[str]) -> _Source:
    """Batches of a polars LazyFrame, collected as they are needed."""
    with needed():
        import pyarrow as pa

    names = frame.collect_schema().names()
    narrow = frame.select([name for name in columns if name in names])  # what is missing is named by the caller
    schema = narrow.head(0).collect().to_arrow().schema

    def found() -> Iterator[Any]:
        for part in narrow.collect_batches(chunk_size=8 * ROWS, maintain_order=False):
            yield from ((batch, None) for batch in part.to_arrow().to_batches())

    return _Source(pa.schema(schema), found(), bare=True)


def keyed(reports: AnyReports, by: dict[str, Any]) -> Any:
    """An Arrow table of reports, with columns of keys beside them."""
    with needed():
        import pyarrow as pa

    table = reports.to_arrow()
    for name, column in by.items():
        if not hasattr(column, "__len__") or len(column) != len(reports):
            got = len(column) if hasattr(column, "__len__") else column
            raise InvalidArgument("by", f"have one key for each of {len(reports)} reports", f"{name}: {got}")
        try:
            keys = pa.array(np.asarray(column)) if isinstance(column, np.ndarray) else pa.array(column)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise InvalidArgument("by", "have keys of one kind in each column", name) from None
        table = table.append_column(name, keys)
    return table
