"""Where reports come from: files and folders of Parquet, and streams of Arrow batches, cut into units of work."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from deniable.core.batches import ROWS, rows_at_once
from deniable.core.errors import DeniableError, FingerprintMismatch, InvalidArgument, MalformedReport, cut, listed
from deniable.core.extras import needed
from deniable.core.reports import Reports, read_metadata
from deniable.grouping.counting import Counted, layout_of, report_columns, reports_from
from deniable.grouping.keys import Coded, Key
from deniable.heavy_hitters.collected import HitterReports

AnyReports = Reports | HitterReports
_ROWS = 8 * ROWS  # at once, of short reports: what a batch costs by itself is shared by many
_NO_KEY = "__HIVE_DEFAULT_PARTITION__"  # how folders are called whose key is missing
_FOLDER = re.compile("([^=]+)=(.*)", re.DOTALL)
_NUMBER = re.compile("-?(0|[1-9][0-9]{0,17})")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Unit(Protocol):
    """Some rows that one thread reads and counts: batches of reports with their groups, and where they stand."""

    def batches(self) -> Iterator[tuple[str, Any]]:
        """Where each batch stands, and the batch, in Arrow."""
        ...

    def read(self, batch: Any) -> tuple[AnyReports, Coded]:
        """The reports of a batch, or of a part of it, with their groups."""
        ...


@dataclass(frozen=True)
class Work:
    """All units, in order, and how many rows they have together, if that is known."""

    units: Iterable[Unit]
    rows: int | None


def work_of(source: Any, counted: Counted, by: tuple[str, ...], loose: bool, simulated: bool | None) -> Work:
    """Cut any source into units of work."""
    paths = _paths(source)
    if paths is not None:
        if loose:
            raise InvalidArgument("unlabelled", "be left out for files, which carry their fingerprint", True)
        return files(paths, counted, by)
    from deniable.engines.streams import stream

    return stream(source, counted, by, loose, simulated)


def _paths(source: Any) -> list[str] | None:
    """The Parquet files of paths, patterns and folders, in order; None if the source is none of these."""
    several = source if isinstance(source, (list, tuple)) else [source]
    if not several or not all(isinstance(each, (str, os.PathLike)) for each in several):
        return None
    found = [path for each in several for path in _expanded(os.fspath(each))]
    seen: dict[str, str] = {}
    for path in found:
        real = os.path.realpath(path)
        if real in seen:
            raise InvalidArgument("source", "name every file once", path, f"It is the same file as {seen[real]}.")
        seen[real] = path
    return found


def _expanded(path: str) -> list[str]:
    if os.path.isdir(path):
        found = sorted(str(each) for each in Path(path).rglob("*.parquet") if _is_data(each.relative_to(path)))
        if not found:
            raise InvalidArgument("source", "hold files whose names end in .parquet", path)
        return found
    if glob.has_magic(path) and not os.path.exists(path):
        found = sorted(each for each in glob.glob(path, recursive=True) if os.path.isfile(each))
        if not found:
            raise InvalidArgument("source", "match a file", path)
        return found
    return [path]


def _is_data(path: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in path.parts)  # as Spark writes its own marks


@dataclass(frozen=True)
class _File:
    """A Parquet file of reports whose schema has been checked."""

    path: str
    metadata: Any  # the file's footer
    schema: Any
    keys: Mapping[str, Key]  # that its folders name


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file."""

    file: _File
    number: int
    counted: Counted
    by: tuple[str, ...]
    rows: int  # at once

    def batches(self) -> Iterator[tuple[str, Any]]:
        with needed():
            import pyarrow as pa
            import pyarrow.parquet as pq

        stored = [name for name in self.by if name not in self.file.keys]
        columns, row = [*report_columns(self.counted), *stored], 1
        with reading(self.file.path):
            opened = pq.ParquetFile(
                self.file.path, metadata=self.file.metadata, read_dictionary=_texts(self.file.schema, stored, pa)
            )
            with opened:
                for batch in opened.iter_batches(self.rows, [self.number], columns, use_threads=False):
                    yield f"{self.file.path}: row group {self.number}, row {row}", batch
                    row += len(batch)

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


def _texts(schema: Any, names: Iterable[str], pa: Any) -> list[str]:
    """The columns of text, which are read as numbers of a dictionary."""
    return [name for name in names if pa.types.is_string(schema.field(name).type)]


def files(paths: Sequence[str], counted: Counted, by: tuple[str, ...]) -> Work:
    """Check the schema of every file, and cut the files into row groups."""
    named = _folder_keys(paths, by)
    opened = [_opened(path, counted, by, keys) for path, keys in zip(paths, named, strict=True)]
    rows = rows_at_once(layout_of(counted).row_bytes, _ROWS)
    units = [
        RowGroup(file, number, counted, by, rows) for file in opened for number in range(file.metadata.num_row_groups)
    ]
    return Work(units, sum(file.metadata.num_rows for file in opened))


def _folder_keys(paths: Sequence[str], by: tuple[str, ...]) -> list[dict[str, Key]]:
    """The keys that folders name as `day=2026-01-31`, as numbers or dates where all folders have them."""
    found = [
        {m[1]: unquote(m[2]) for part in Path(path).parts[:-1] if (m := _FOLDER.fullmatch(part))} for path in paths
    ]
    keys: list[dict[str, Key]] = [{} for _ in paths]
    for name in by:
        texts = [each[name] for each in found if name in each]
        number, day = (all(form.fullmatch(text) for text in texts) for form in (_NUMBER, _DAY))
        for own, named, path in zip(keys, found, paths, strict=True):
            if name in named:
                if named[name] == _NO_KEY:
                    raise MalformedReport(f"{path}: its folder has no value of {name!r}, so its rows are in no group")
                own[name] = int(named[name]) if number else date.fromisoformat(named[name]) if day else named[name]
    return keys


def _opened(path: str, counted: Counted, by: tuple[str, ...], keys: dict[str, Key]) -> _File:
    with needed():
        import pyarrow.parquet as pq

    with reading(path):
        with pq.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
        fingerprint = read_metadata(schema.metadata)[0]
        if fingerprint != counted.fingerprint:
            raise FingerprintMismatch(f"{path}: a batch of reports", counted.fingerprint, fingerprint)
        reports_from(counted, schema.empty_table())
        keys = {name: key for name, key in keys.items() if name not in schema.names}
        check_columns(schema.names, [name for name in by if name not in keys])
    return _File(path, metadata, schema, keys)


def check_columns(names: Sequence[str], wanted: Iterable[str]) -> None:
    """Refuse to group by columns that are missing or there more than once."""
    for name in wanted:
        if names.count(name) != 1:
            raise InvalidArgument("by", f"name columns that occur once in {listed(names)}", name)


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Word what goes wrong with a file: damage, a file that is gone, a layout that is no report's."""
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
    except ValueError as error:
        if isinstance(error, DeniableError):
            raise
        raise MalformedReport(f"{path}: this is no Parquet file, or it is damaged: {cut(str(error), 200)}") from None
