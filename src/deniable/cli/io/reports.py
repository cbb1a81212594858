"""Reports in files: Parquet in the layout of Reports.to_arrow, or CSV with the fingerprint in its header.

The CSV column is called `report@<fingerprint>`, or `simulated_report@<fingerprint>`, because a header is
the one thing about a column that every CSV tool keeps.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from deniable.cli.io.engine import Counting, is_dataset
from deniable.cli.io.files import (
    PARQUET,
    SUMMARY,
    csv_column,
    csv_header,
    kind_of,
    parquet,
    parquet_batches,
    reading,
    writing,
)
from deniable.cli.io.inputs import Other, added_up
from deniable.cli.running import STANDARD, CommandError, about
from deniable.core.batches import row_bytes, rows_at_once, slices
from deniable.core.errors import MalformedReport, shown
from deniable.core.parquet import how_written
from deniable.core.reports import COLUMN, Reports, read_metadata
from deniable.core.summary import Summary
from deniable.grouping.table import is_summary_table, table_fingerprint
from deniable.mechanisms.base.accumulator import Accumulator
from deniable.mechanisms.base.mechanism import Mechanism

_HEADER = re.compile(f"(simulated_)?{COLUMN}@([0-9a-f]{{64}})")
_DECIMAL = "0|[1-9][0-9]{0,19}"
_FORMATS = (".parquet", ".csv")
_TEXT_GROWTH = 16  # a word of a report takes this many times its bytes while it is text: a number, digits, a cell
_DIGITS = 21  # of a word in CSV, with the space after it


def is_report_column(name: str) -> bool:
    """Whether a column of CSV is one of reports, by its name."""
    return _HEADER.fullmatch(name) is not None


def check_format(path: Path) -> None:
    """Refuse a file name that does not determine the format of reports."""
    if str(path) != STANDARD and path.suffix.lower() not in _FORMATS:
        raise CommandError(f"{path}: reports are written to {' or '.join(_FORMATS)} files, or to - as CSV")


@contextmanager
def writing_reports(path: Path, example: Reports) -> Iterator[Callable[[Reports], None]]:
    """Open a file and return a function that writes batches of reports like the example (which is not written)."""
    columnar = path.suffix.lower() == ".parquet"
    layout, growth = (Reports.to_arrow, 1) if columnar else (_to_csv, _TEXT_GROWTH)

    def write(reports: Reports) -> None:
        for part in slices(len(reports), growth * row_bytes(reports.data)):
            writer.write_table(layout(reports[part]))  # in Parquet, each is a row group, which readers take as a whole

    with writing(path) as file, _writer(file, path, layout(example[:0]).schema, example) as writer:
        yield write


def _writer(file: BinaryIO, path: Path, schema: Any, example: Reports) -> Any:
    if path.suffix.lower() == ".parquet":
        return pa.parquet.ParquetWriter(file, schema, **how_written())
    file.write(f"{'simulated_' if example.simulated else ''}{COLUMN}@{example.fingerprint}\n".encode())
    options = pa.csv.WriteOptions(include_header=False, quoting_style="none")
    return pa.csv.CSVWriter(file, schema, write_options=options)


def _to_csv(reports: Reports) -> Any:
    """A column with one cell per report: its number, or its numbers separated by spaces."""
    if reports.data.ndim == 1:
        return reports.to_arrow()
    return pa.table({COLUMN: pa.array([" ".join(map(str, row)) for row in reports.data.tolist()], pa.string())})


def _numbers(column: Any) -> Any:
    """Read one number from each cell, written as decimal digits and nothing else; Arrow would take 0x1 and 00 too."""
    right = pc.match_substring_regex(column, f"^(?:{_DECIMAL})$")
    try:
        if pc.all(right, min_count=0).as_py():
            return column.cast(pa.uint64()).to_numpy()
    except pa.ArrowInvalid:  # beyond 64 bits
        right = pc.less(pc.utf8_length(column), 20)
    found = column.filter(pc.invert(right))[0].as_py()
    raise MalformedReport(f"a report must be a decimal number below 2^64, got {shown(found)}")


def _from_csv(column: Any, width: int) -> Any:
    """Read `width` numbers from each cell of a column."""
    rows = [cell.split(" ") for cell in column.to_pylist()]
    for row in rows:
        if len(row) != width or not all(re.fullmatch(_DECIMAL, text) and int(text) < 2**64 for text in row):
            raise MalformedReport(f"a report must be {width} numbers below 2^64, got {shown(' '.join(row))}")
    return np.array(rows, object).astype(np.uint64).reshape(-1, width)


def summary_of(
    names: list[str], mechanism: Mechanism, *, allow_repeats: bool = False, how: Counting | None = None
) -> Summary:
    """Add up files of reports and summaries, and refuse the same reports twice."""
    how = Counting() if how is None else how
    return added_up(names, mechanism, other_input(mechanism), how, allow_repeats=allow_repeats)  # type: ignore[return-value]


def other_input(mechanism: Mechanism) -> Other:
    """Count a summary, CSV, or what comes through a pipe."""

    def count(name: str) -> tuple[Summary, bool]:
        with reading(name) as file, about(name):
            kind, total = kind_of(file), mechanism.accumulator()
            if kind == SUMMARY:
                total.merge(Summary.from_bytes(file.read()))
            else:
                _count_stream(file, kind, total)
        return total.summary(), kind != SUMMARY

    return count


def fingerprint_of(name: str) -> str:
    """Read the fingerprint of a file of reports or of a summary."""
    with reading(name) as file, about(name):
        kind = kind_of(file)
        if kind == SUMMARY:
            return Summary.from_bytes(file.read()).fingerprint
        if kind == PARQUET:
            with parquet(file) as source:
                metadata = source.schema_arrow.metadata
                return table_fingerprint(metadata) if is_summary_table(metadata) else read_metadata(metadata)[0]
        return _report_column(csv_header(file))[1]


def _count_stream(file: io.BufferedReader, kind: str, total: Accumulator) -> None:
    """Add the reports of an open file. The first batch is empty: a file without reports is checked too."""
    row = 1
    for reports in _parquet_batches(file) if kind == PARQUET else _csv_batches(file, total.mechanism):
        try:
            total.add(reports)
        except MalformedReport as error:
            raise CommandError(f"in rows {row} to {row + len(reports) - 1}: {error}") from None
        row += len(reports)


def kept_reports(name: str, mechanism: Mechanism) -> Reports:
    """Read all reports of one file into memory, for tests that need more than their counts."""
    if is_dataset(name):
        raise CommandError(f"{name}: give one file of reports here, not a folder or a pattern")
    with reading(name) as file, about(name):
        kind = kind_of(file)
        if kind == SUMMARY:
            raise CommandError("this is a summary; the reports themselves are needed")
        batches = _parquet_batches(file) if kind == PARQUET else _csv_batches(file, mechanism)
        return Reports.concatenate(list(batches))


def _parquet_batches(file: io.BufferedReader) -> Iterator[Reports]:
    with parquet(file) as source:
        empty = Reports.from_arrow(source.schema_arrow.empty_table())
        yield empty
        for batch in parquet_batches(source, rows_at_once(row_bytes(empty.data)), [COLUMN]):
            yield Reports.from_arrow(batch.replace_schema_metadata(source.schema_arrow.metadata))


def _csv_batches(file: io.BufferedReader, mechanism: Mechanism) -> Iterator[Reports]:
    header = csv_header(file)
    name, fingerprint, simulated = _report_column(header)
    empty = mechanism.layout.empty(0)
    yield Reports(empty, fingerprint, simulated)
    longest = 0 if empty.ndim == 1 else _DIGITS * empty.shape[1]
    for column in csv_column(file, header, name, show=True, line_bytes=2 * longest):
        if column.null_count:
            raise MalformedReport(f"column {name} has {column.null_count} empty cells")
        data = _numbers(column) if empty.ndim == 1 else _from_csv(column, empty.shape[1])
        yield Reports(data, fingerprint, simulated)


def _report_column(header: list[str]) -> tuple[str, str, bool]:
    """The name of the column of reports, its fingerprint, and whether the reports are simulated."""
    matches = [match for name in header if (match := _HEADER.fullmatch(name))]
    if len(matches) != 1:
        # without their names: these may be values, and without a header the first of them
        found = f"{len(matches)} such columns" if matches else "no such column"
        raise MalformedReport(
            f"exactly one column must be called {COLUMN}@<fingerprint>, got {found}. "
            "These look like values: run deniable privatize first."
        )
    return matches[0][0], matches[0][2], matches[0][1] is not None
