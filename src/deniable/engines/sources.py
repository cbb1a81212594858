"""Where reports come from: files and folders of Parquet, and streams of Arrow batches, cut into units of work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from deniable.core.batches import ROWS, rows_at_once
from deniable.core.errors import DeniableError, FingerprintMismatch, InvalidArgument, MalformedReport, cut, listed
from deniable.core.extras import needed
from deniable.core.parquet import READ, check_read, check_rows
from deniable.core.reports import Reports, read_metadata
from deniable.engines import dictionary_pages
from deniable.engines.footers import Footer
from deniable.engines.partitions import Types, check_types, folder_keys
from deniable.engines.paths import Found, paths_of
from deniable.grouping.counting import Counted, layout_of, report_columns, reports_from
from deniable.grouping.keys import Coded, Key
from deniable.heavy_hitters.collected import HitterReports

AnyReports = Reports | HitterReports
_ROWS = 8 * ROWS  # at once, of short reports: what a batch costs by itself is shared by many


class Unit(Protocol):
    """Some rows that one thread reads and counts: batches of reports with their groups, and where they stand."""

    @property
    def source(self) -> int:
        """The place of the input that they come from, among those given."""
        ...

    def batches(self) -> Iterator[tuple[str, Any]]:
        """Where each batch stands, and the batch, in Arrow."""
        ...

    def read(self, batch: Any) -> tuple[AnyReports, Coded]:
        """The reports of a batch, or of a part of it, with their groups."""
        ...


@dataclass(frozen=True)
class Wanted:
    """What is to be counted, and how the source is to be taken."""

    counted: Counted
    by: tuple[str, ...] = ()
    types: Types = field(default_factory=dict)  # of keys in the names of folders
    unlabelled: bool = False
    simulated: bool | None = None
    skipping: bool = False  # rows that belong to no group are left out
    repeats: bool = False  # a file counts as often as it is named


@dataclass(frozen=True)
class Work:
    """All units, in order, how many rows they have together, if that is known, and rows left out beforehand."""

    units: Iterable[Unit]
    rows: int | None
    left_out: Counter[str] = field(default_factory=Counter)


def work_of(source: Any, wanted: Wanted) -> Work:
    """Cut any source into units of work."""
    paths = paths_of(source, wanted.repeats)
    if paths is not None:
        if wanted.unlabelled:
            raise InvalidArgument("unlabelled", "be left out for files, which carry their fingerprint", True)
        return files(paths, wanted)
    from deniable.engines.streams import stream

    return stream(source, wanted)


@dataclass(frozen=True)
class _File:
    """A Parquet file of reports whose schema has been checked."""

    path: str
    footer: Footer
    schema: Any
    keys: Mapping[str, Key]  # that its folders name
    source: int


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file."""

    file: _File
    number: int
    counted: Counted
    by: tuple[str, ...]
    rows: int  # at once

    @property
    def source(self) -> int:
        return self.file.source

    def batches(self) -> Iterator[tuple[str, Any]]:
        with needed():
            import pyarrow as pa

        stored = [name for name in self.by if name not in self.file.keys]
        columns, row = [*report_columns(self.counted), *stored], 0
        file, schema = self.file, self.file.schema
        with reading(file.path):
            found = dictionary_pages.columns(file.footer, self.number, schema, columns)
            for part in self._parts(found, [name for name in columns if name not in found]):
                arrays = [found[name].slice(row, len(part)) if name in found else part.column(name) for name in columns]
                batch = pa.RecordBatch.from_arrays(arrays, columns)
                yield f"{file.path}: row group {self.number}, row {row + 1}", batch
                row += len(batch)
            check_read(file.footer.metadata, self.number, row)

    def _parts(self, found: Mapping[str, Any], others: list[str]) -> Iterator[Any]:
        """Parts of bounded length, with the columns that are still to be read."""
        with needed():
            import pyarrow.parquet as pq

        if not others:
            first = next(iter(found.values()))
            yield from (first.slice(start, self.rows) for start in range(0, len(first), self.rows))
            return
        texts = _texts(self.file.schema, others)
        opened = pq.ParquetFile(self.file.path, metadata=self.file.footer.metadata, read_dictionary=texts, **READ)
        with opened:
            yield from opened.iter_batches(self.rows, [self.number], others, use_threads=False)

    def read(self, batch: Any) -> tuple[AnyReports, Coded]:
        labelled = batch.replace_schema_metadata(self.file.schema.metadata)
        return reports_from(self.counted, labelled), coded(batch, self.by, self.file.keys)


def coded(batch: Any, by: tuple[str, ...], keys: Mapping[str, Key]) -> Coded:
    """The groups of the rows of a batch, of which some keys may be the same for all rows."""
    if all(name in keys for name in by):
        return Coded.one(tuple(keys[name] for name in by), len(batch))
    with needed():
        import pyarrow as pa

    constant = {
        name: pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), len(batch)), pa.array([keys[name]]))
        for name in by
        if name in keys
    }
    return Coded.of([constant[name] if name in keys else batch.column(name) for name in by], by)


def _texts(schema: Any, names: Iterable[str]) -> list[str]:
    """The columns of text, which are read as numbers of a dictionary."""
    with needed():
        import pyarrow as pa

    return [name for name in names if pa.types.is_string(schema.field(name).type)]


def files(paths: Sequence[Found], wanted: Wanted) -> Work:
    """Check the schema of every file, and cut the files into row groups."""
    counted, left_out, opened = wanted.counted, Counter[str](), list[_File]()
    for found in paths:
        file, reason = _opened(found, wanted)
        if not reason:
            opened.append(file)
        elif wanted.skipping:
            left_out[reason] += file.footer.metadata.num_rows
        else:
            raise MalformedReport(f"{found.path}: {reason}")
    rows = rows_at_once(layout_of(counted).row_bytes, _ROWS)
    units = [
        RowGroup(file, number, counted, wanted.by, rows)
        for file in opened
        for number in range(file.footer.metadata.num_row_groups)
    ]
    return Work(units, sum(file.footer.metadata.num_rows for file in opened), left_out)


def _opened(found: Found, wanted: Wanted) -> tuple[_File, str]:
    """Open and check a file; return it, and why its rows belong to no group, if they do not."""
    with needed():
        import pyarrow.parquet as pq

    path, by, counted = found.path, wanted.by, wanted.counted
    with reading(path):
        with pq.ParquetFile(path) as file:
            schema, footer = file.schema_arrow, Footer(path, file.metadata)
        check_rows(footer.metadata)
        fingerprint = read_metadata(schema.metadata)[0]
        if fingerprint != counted.fingerprint:
            raise FingerprintMismatch(f"{path}: a batch of reports", counted.fingerprint, fingerprint)
        reports_from(counted, schema.empty_table())
        stored = [name for name in by if name in schema.names]
        named = folder_keys(path, [name for name in by if name not in stored], wanted.types)
        check_columns(schema.names, [name for name in by if name not in named])
        check_types(schema, wanted.types)
    missing = [name for name, key in named.items() if key is None]
    reason = f"the folder has no value of {missing[0]!r}, so its rows are in no group" if missing else ""
    keys = {name: key for name, key in named.items() if key is not None}
    return _File(path, footer, schema, keys, found.source), reason


def check_columns(names: Sequence[str], by: Iterable[str]) -> None:
    """Refuse to group by columns that are missing or there more than once."""
    for name in by:
        if names.count(name) != 1:
            raise InvalidArgument("by", f"name columns that occur once in {listed(names)}", name)


def check_report_columns(names: Sequence[str], counted: Counted, what: str = "source") -> None:
    """Refuse a source without the columns that reports have."""
    for name in report_columns(counted):
        if names.count(name) != 1:
            raise InvalidArgument(what, f"have one column {name!r}", listed(names), "Is it a table of reports?")


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Word what goes wrong with a file: damage, a file that is gone, a layout that is no report's."""
    with needed():
        import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise MalformedReport(f"{path}: there is no such file, or it is gone") from None
    except MalformedReport as error:
        raise MalformedReport(f"{path}: {error}") from None
    except OSError as error:
        if error.errno is None:  # how Arrow words damage
            raise MalformedReport(f"{path}: the file is damaged: {cut(str(error), 200)}") from None
        raise MalformedReport(f"{path}: the file cannot be read: {error.strerror}") from None
    except (ValueError, pa.ArrowException) as error:
        if isinstance(error, DeniableError):
            raise
        raise MalformedReport(f"{path}: this is no Parquet file, or it is damaged: {cut(str(error), 200)}") from None
