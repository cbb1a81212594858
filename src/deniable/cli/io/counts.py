"""Counts in files, true or noisy: CSV, Parquet, or one number per line; and releases, which record their noise.

A release is written as JSON (layout of Release.to_json), as Parquet (metadata of Release.to_arrow and `columns`), or as
CSV with counts in columns called `<name>@epsilon=<e> sensitivity=<s>`, and ` simulated` at the end of a simulated one.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from deniable.cli.io.files import PARQUET, TEXT, csv_header, csv_table, kind_of, parquet, reading
from deniable.cli.io.reports import is_report_column
from deniable.cli.running import SHOW_VALUES, CommandError, about
from deniable.core.arrays import Numbers
from deniable.core.documents import read_json
from deniable.core.errors import cut, listed, shown
from deniable.core.reports import LAYOUT_KEY
from deniable.core.suggest import did_you_mean
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.release import MOST_DIGITS, Release, as_release
from deniable.counts.whole import whole_counts

_MARK = "@epsilon="
_NOISE = re.compile(r"(\S+) sensitivity=([0-9]+)( simulated)?")
_FLOAT = re.compile("[0-9]{1,20}([.][0-9]{1,20})?(e[+-]?[0-9]{1,3})?")
_SMALL = "^-?[0-9]{1,18}$"  # numbers that certainly fit 64 bits
_WHOLE = re.compile(rf"(-?[0-9]{{1,{MOST_DIGITS}}})(?:\.0*)?")  # pandas writes 3 as "3.0" in a column with gaps
_BARE = "count"  # the column of a file of bare numbers
_SAYS = b"deniable.release"


class Counts(NamedTuple):
    """Counts of a file, a vector or (from several columns) a matrix, and the other columns beside them."""

    values: Numbers
    columns: tuple[str, ...]
    others: Any  # an Arrow table


class _Tag(NamedTuple):
    """The name of a column of a release in CSV: as it stands, and its parts."""

    column: str
    name: str
    epsilon: str
    sensitivity: str
    simulated: str | None


class Published(NamedTuple):
    """A release, the names of its columns, and the labels published with it (an Arrow table)."""

    release: Release
    columns: tuple[str, ...]
    labels: Any


def read_counts(name: str, columns: Sequence[str], *, show: bool = False) -> Counts:
    """Read true counts from a file, and refuse a release; errors quote a cell only if `show` says so."""
    with reading(name) as file, about(name):
        if _is_json(file):
            raise CommandError("counts cannot be read from JSON. Give CSV, Parquet, or text with one number per line.")
        table = _table(file, name, show=show)
        if _tags(table) or _SAYS in (table.schema.metadata or {}):
            raise CommandError("this file is a release already: its counts are noisy")
        return _counts(table, columns, show=show)


def is_bare(counts: Counts) -> bool:
    """Whether the counts are bare numbers, or a single column that is called a count."""
    return counts.columns == (_BARE,) and not counts.others.num_columns


def read_release(name: str, columns: Sequence[str], epsilon: float | None, sensitivity: int | None) -> Published:
    """Read a release, or noisy counts from elsewhere with the given epsilon and sensitivity."""
    with reading(name) as file, about(name):
        published = _said(file, name, columns)
        if isinstance(published, Counts):
            if epsilon is None:
                raise CommandError(
                    "the file does not record the noise in its counts. Give --epsilon; "
                    "if the counts are true ones, publish them first with deniable release."
                )
            made = as_release(published.values, epsilon, sensitivity)
            return Published(made, published.columns, published.others)
        _check_same("--epsilon", epsilon, published.release.epsilon)
        _check_same("--sensitivity", sensitivity, published.release.sensitivity)
        return published


def header_of(name: str, release: Release) -> str:
    """The name of a column of a release in CSV."""
    mark = " simulated" if release.simulated else ""
    return f"{name}@epsilon={release.epsilon!r} sensitivity={release.sensitivity}{mark}"


def _said(file: io.BufferedReader, name: str, columns: Sequence[str]) -> Published | Counts:
    """The release that a file records, or its counts if it records no noise."""
    if _is_json(file):
        text = file.read()
        release, found = Release.from_json(text), read_json(text, "the release", limits=None)
        return _some(release, _names(found.get("columns"), release), _labels(found.get("labels")), columns)
    table = _table(file, name)
    metadata = table.schema.metadata or {}
    if LAYOUT_KEY in metadata or any(is_report_column(column) for column in table.column_names):
        raise CommandError("this file holds reports, not noisy counts. Use deniable estimate.")
    if _SAYS in metadata:
        release, said_names = Release.from_arrow(table), json.loads(metadata.get(b"columns", b"null"))
        return _some(release, _names(said_names, release), table.drop_columns(said_names or [_BARE]), columns)
    tags = _tags(table)
    if not tags:
        return _counts(table, columns)
    said = {(tag.epsilon, tag.sensitivity, tag.simulated) for tag in tags}
    if len(said) > 1:
        raise CommandError("all columns of a release must have the same epsilon and sensitivity")
    epsilon, sensitivity, simulated = said.pop()
    try:
        noise = DiscreteLaplace(float(epsilon if _FLOAT.fullmatch(epsilon) else "nan"), int(sensitivity))
    except ValueError:
        raise CommandError(
            f"the release is damaged: its noise is epsilon {cut(epsilon)} at sensitivity {cut(sensitivity)}"
        ) from None
    counts = _counts(table, [tag.column for tag in tags])
    names = [tag.name for tag in tags]
    return _some(Release(counts.values, noise, simulated is not None), names, counts.others, columns)


def _names(found: Any, release: Release) -> list[str]:
    """The names of the columns of a release; numbers if it does not record names."""
    width = release.shape[1] if release.values.ndim == 2 else 1
    if found is None:
        return [_BARE] if width == 1 else [str(place) for place in range(width)]
    if not isinstance(found, list) or len(found) != width or not all(isinstance(name, str) for name in found):
        raise CommandError(f"the release is damaged: it must name its {width} columns, got {shown(found)}")
    return found


def _some(release: Release, names: list[str], labels: Any, wanted: Sequence[str]) -> Published:
    """Select the columns asked for: part of a release is a release."""
    if not wanted:
        return Published(release, tuple(names), labels)
    _check_names(names, wanted)
    if release.values.ndim == 2:
        release = release[:, [names.index(name) for name in wanted] if len(wanted) > 1 else names.index(wanted[0])]
    return Published(release, tuple(wanted), labels)


def _is_json(file: io.BufferedReader) -> bool:
    return file.peek(64)[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


def _table(file: io.BufferedReader, name: str, *, show: bool = True) -> Any:
    """Read all columns: of any type from Parquet, as text otherwise."""
    kind = kind_of(file)
    if kind not in (PARQUET, TEXT):
        raise CommandError(f"this file is a {kind}, not a table of counts")
    if kind == PARQUET:
        with parquet(file) as source:
            _check_distinct(source.schema_arrow.names)
            return source.read()
    header = csv_header(file)
    _check_distinct(header)
    bare = [_WHOLE.fullmatch(cell.strip()) for cell in header]
    if not all(bare):
        return csv_table(file, header, show=show)
    if len(header) > 1 or name.lower().endswith(".csv"):
        line = f", {shown(','.join(header))}," if show else ""
        raise CommandError(
            f"the first line{line} has a count in place of a column name. "
            "Add a header, or give bare numbers, one per line, in a .txt file or through -."
        )
    rest = csv_table(file, [_BARE], show=show)
    return pa.concat_tables([pa.table({_BARE: [header[0]]}), rest])


def _tags(table: Any) -> list[_Tag]:
    return [tag for name in table.column_names if (tag := _tag(name)) is not None]


def _tag(column: str) -> _Tag | None:
    """The noise that the name of a column records, after the last mark in it."""
    name, mark, noise = column.rpartition(_MARK)
    match = _NOISE.fullmatch(noise) if mark else None
    return None if match is None else _Tag(column, name, *match.groups())


def _counts(table: Any, columns: Sequence[str], *, show: bool = True) -> Counts:
    """The counts in these columns, or in the only column of numbers."""
    chosen = list(columns) or _columns_of_numbers(table)
    _check_names(table.column_names, chosen)
    if table.num_rows == 0:
        raise CommandError("there are no counts in this file")
    values = [_whole(table.column(name), name, show) for name in chosen]
    return Counts(
        values[0] if len(values) == 1 else np.stack(values, axis=1), tuple(chosen), table.drop_columns(chosen)
    )


def _columns_of_numbers(table: Any) -> list[str]:
    names = table.column_names
    found = names if len(names) == 1 else [name for name in names if is_numeric(table.column(name))]
    if len(found) != 1:
        raise CommandError(
            f"exactly one column must hold numbers. Choose columns with --column: {listed(map(shown, names))}"
        )
    return list(found)


def _check_distinct(names: Sequence[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise CommandError(f"there is more than one column {shown(twice[0])}. Give each a name of its own.")


def is_numeric(column: Any) -> bool:
    """Whether the first cell of a column that is not empty is a number."""
    first: Any = next((cell.as_py() for cell in column if cell.is_valid), None)
    try:
        float(first)
    except (TypeError, ValueError):
        return False
    return not isinstance(first, bool)


def _check_names(names: Sequence[str], wanted: Sequence[str]) -> None:
    for name in wanted:
        if list(names).count(name) != 1 or list(wanted).count(name) != 1:
            problem, hint = "there is no column", did_you_mean(name, names)
            if name in names:
                problem = "there is more than one column"
                hint = "Give each a name of its own." if list(names).count(name) > 1 else "Name it once."
            known = listed(map(shown, names))
            raise CommandError(f"{problem} {shown(name)}. The columns are {known}. {hint}".rstrip())


def _whole(column: Any, name: str, show: bool) -> Numbers:
    """The counts of a column. An error names the first bad cell by its row, from 1 and without the header."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return whole_counts(column.to_numpy())
    if pa.types.is_string(column.type) and not column.null_count:
        column = pc.utf8_trim_whitespace(column)
        if pc.all(pc.match_substring_regex(column, _SMALL), min_count=0).as_py():
            return whole_counts(column.cast(pa.int64()).to_numpy())
    return whole_counts([_count(cell, name, row, show) for row, cell in enumerate(column.to_pylist(), 1)])


def _count(cell: Any, name: str, row: int, show: bool) -> int:
    if cell is not None and not isinstance(cell, bool) and (match := _WHOLE.fullmatch(str(cell))):
        return int(match[1])
    got = "an empty cell" if cell is None else shown(cell) if show else f"another value; {SHOW_VALUES}"
    most = f" of at most {MOST_DIGITS:,} digits" if len(str(cell)) > MOST_DIGITS else ""
    raise CommandError(f"count in row {row} of column {shown(name)} must be a whole number{most}, got {got}")


def _labels(found: Any) -> Any:
    """The labels of a release in JSON, as a table."""
    if found is None:
        return pa.table({})
    if not isinstance(found, dict) or not all(isinstance(cells, list) for cells in found.values()):
        raise CommandError("the release is damaged: its labels must be lists")
    if len({len(cells) for cells in found.values()}) > 1:
        raise CommandError("the release is damaged: its labels must be lists of the same length")
    return pa.table({name: [str(cell) for cell in cells] for name, cells in found.items()})


def _check_same(option: str, given: float | None, said: float) -> None:
    if given is not None and given != said:
        raise CommandError(f"{option} is {given:g}, but the file records {said:g}. Leave the option out.")
