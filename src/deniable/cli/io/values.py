"""Values from a file, batch by batch, as indices of a domain."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from deniable.cli.io.files import (
    PARQUET,
    SUMMARY,
    TEXT,
    csv_column,
    csv_header,
    kind_of,
    parquet,
    parquet_batches,
    reading,
)
from deniable.cli.running import SHOW_VALUES, STANDARD, CommandError, about
from deniable.cli.terminal import note
from deniable.core.arrays import Indices
from deniable.core.batches import ROWS, slices
from deniable.core.domain import Domain
from deniable.core.domain.columns import entries, is_missing, read
from deniable.core.domain.listed import Categories
from deniable.core.domain.open import Open
from deniable.core.errors import ValueOutsideDomain, listed, shown
from deniable.core.suggest import did_you_mean

T = TypeVar("T")

_MANY = 10_000  # labels that a value is compared with
_WHOLE = "^-?[0-9]{1,18}$"  # numbers that certainly fit 64 bits
_WHOLE_AS_FLOAT = re.compile(r"(-?[0-9]{1,18})(?:\.0*)?")  # pandas writes 3 as "3.0" in a column with gaps


def index_batches(
    file: io.BufferedReader, name: str, column: str | None, domain: Domain, size: int, *, show: bool
) -> Iterator[Indices]:
    """Read the indices of all values in a file, in batches for reports of `size` bytes.

    Errors name the file and the row (from 1, no header). A value is a person's secret, and an error may end in a log:
    it quotes the value only if `show` says so.
    """

    def indices(batch: Any) -> Indices:
        return domain.indices(_from_text(batch, domain) if _is_text(batch) else batch)

    return converted_batches(file, name, column, domain, indices, size, show=show)


def converted_batches(
    file: io.BufferedReader,
    name: str,
    column: str | None,
    domain: Domain,
    convert: Callable[[Any], T],
    size: int,
    *,
    show: bool,
) -> Iterator[T]:
    """Convert the values in a file, batch by batch, for rows that become `size` bytes. Errors say where."""
    row = 1
    with about(name):
        for batch in _parts(_columns(file, name, column, domain, show=show), size):
            try:
                yield convert(batch)
            except ValueOutsideDomain as error:
                place = row + (error.position or 0)
                got = shown(error.value) if show else "an empty cell" if is_missing(error.value) else "another value"
                found = f"value in row {place} must {error.rule}, got {got}"
                raise CommandError(f"{found}. {_suggestion(error.value, domain, show)}") from None
            row += len(batch)


def _parts(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Divide batches that would be too large if each row took this many bytes."""
    for batch in batches:
        for part in slices(len(batch), size):
            yield batch[part]


def _suggestion(value: Any, domain: Domain, show: bool) -> str:
    """The label that may be meant, or the categories that a spec can have for all other values."""
    if is_missing(value):
        return "A spec made with --no-answer has a category for missing values."
    if not show:
        return f"A spec made with --other has a category for other values; {SHOW_VALUES}."
    known = domain.all_labels() if isinstance(domain, Categories) and domain.k <= _MANY else ()
    return did_you_mean(value, known) or "A spec made with --other has a category for other values."


def read_candidates(name: str, column: str | None) -> list[Any]:
    """Read distinct candidates from a column of a .csv or Parquet file, or one per line; blank ones are skipped."""
    with reading(name) as file, about(name):
        lines = kind_of(file) == TEXT and not name.lower().endswith(".csv")
        if lines and column is not None:
            raise CommandError("--column is for .csv and .parquet files. Leave it out: this file is read line by line.")
        batches = _lines(file) if lines else _columns(file, name, column, Domain.open(), show=True)
        found = [text for batch in batches for text in entries(batch) if text is not None and text != ""]
        distinct = list(dict.fromkeys(found))
        if not distinct:
            raise CommandError("there are no candidates in this file")
    if len(distinct) < len(found):
        note(f"warning: {len(found) - len(distinct):,} repeated candidates are dropped")
    return distinct


def _columns(file: io.BufferedReader, name: str, column: str | None, domain: Domain, *, show: bool) -> Iterator[Any]:
    """Read the chosen column, batch by batch: of any type from Parquet, as text otherwise."""
    kind = kind_of(file)
    if kind == PARQUET:
        with parquet(file) as source:
            chosen = _choose(source.schema_arrow.names, column)
            for batch in parquet_batches(source, ROWS, [chosen]):
                yield read(batch.column(0))
    elif kind == SUMMARY:
        raise CommandError("this file is a summary, not a list of values")
    elif name == STANDARD and column is None:
        yield from _lines(file)
    else:
        header = csv_header(file)
        # where a name is a value, the first line may be a person's row
        chosen = _choose(header, column, show=show or not any(_is_value(cell, domain) for cell in header))
        if column is None and _is_value(chosen, domain):
            line, named = (f", {shown(chosen)},", chosen) if show else ("", "NAME")
            raise CommandError(
                f"the first line{line} is a value of the domain, not a column name. "
                f"If it is the name, use --column {named}; if the file has no header, pipe it to -."
            )
        yield from csv_column(file, header, chosen, show=show)


def _lines(file: io.BufferedReader) -> Iterator[Any]:
    """Read one value per line, unchanged after any byte-order mark; an empty line is a missing value."""
    text = io.TextIOWrapper(file, "utf-8-sig")
    while lines := text.readlines(8 * ROWS):
        yield pa.array([line.rstrip("\n") or None for line in lines], pa.string())


def _choose(names: list[str], wanted: str | None, *, show: bool = True) -> str:
    """The column that is wanted, or the only one. An error lists all names if `show` says so."""
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted is not None and names.count(wanted) == 1:
        return wanted
    several = wanted is not None and wanted in names
    problem = "there is more than one column" if several else "there is no column"
    problem = "the file has several columns" if wanted is None else f"{problem} {shown(wanted)}"
    if not show:
        raise CommandError(
            f"{problem}, and the first line, which should name them, holds a value of the domain; {SHOW_VALUES}"
        )
    known = listed(map(shown, names))
    if wanted is None:
        raise CommandError(f"{problem}. Choose one with --column: {known}")
    hint = "Give each a name of its own." if several else did_you_mean(wanted, names)
    raise CommandError(f"{problem}. The columns are {known}. {hint}".rstrip())


def _from_text(column: Any, domain: Domain) -> Any:
    """Convert text to labels of the domain's type; other text stays, for the domain to accept or refuse."""
    kind = _type_of(domain)
    return column if kind is str else _numbers(column) if kind is int else _truths(column)


def _type_of(domain: Domain) -> type:
    return str if isinstance(domain, Open) else type(domain.label(0))


def as_value(text: str, domain: Domain) -> object:
    """Convert one text to a label of the domain's type; other text stays, for the domain to accept or refuse."""
    return {str: text, int: _number(text), bool: _truth(text)}[_type_of(domain)]


def _is_text(column: Any) -> bool:
    kind = getattr(column, "type", None)  # a NumPy array has none
    return kind in (pa.string(), pa.large_string())


def _is_value(text: str, domain: Domain) -> bool:
    """Whether the text is a listed value, and so hardly a column name."""
    if isinstance(domain, Open):
        return False
    try:
        return domain.index(as_value(text, domain)) < domain.listed
    except ValueOutsideDomain:
        return False


def _numbers(column: Any) -> Any:
    """Convert text to whole numbers, except where it is none."""
    if pc.all(pc.match_substring_regex(column, _WHOLE), min_count=0).as_py():
        return column.cast(pa.int64())
    return [None if text is None else _number(text) for text in column.to_pylist()]


def _number(text: str) -> int | str:
    match = _WHOLE_AS_FLOAT.fullmatch(text)
    return int(match[1]) if match else text


def _truths(column: Any) -> list[Any]:
    """Convert text to True and False, except where it is neither."""
    return [None if text is None else _truth(text) for text in column.to_pylist()]


def _truth(text: str) -> bool | str:
    return {"true": True, "false": False}.get(text.lower(), text)
