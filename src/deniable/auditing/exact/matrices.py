"""The channel of a matrix: a row per value, a column per report."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from deniable.auditing.exact.channel import Channel, Witness, of_column, ordered
from deniable.core.errors import InvalidArgument, shown

_TOLERANCE = Fraction(1, 10**9)  # what a row of rounded numbers may lack of 1
MOST_ENTRIES = 2**22
_LONGEST = 400  # characters of a number, and the largest exponent
_LABELS = ("", "value")  # names of a first column that holds labels, also where they are numbers
_EXPONENT = re.compile(r"[eE][+-]?0*(\d+)\s*$")


@dataclass(frozen=True)
class Matrix:
    """Exact probabilities, with names for the values."""

    rows: tuple[tuple[Fraction, ...], ...]
    labels: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()

    def label(self, index: int) -> str:
        """The name of a value."""
        return self.labels[index] if self.labels else str(index)


def channel_of(matrix: Matrix) -> Channel:
    """The classes of reports by the ratio of their column, and the attack rate."""
    found: dict[Fraction | None, Witness] = {}
    best = Fraction(0)
    for report, column in enumerate(zip(*matrix.rows, strict=True)):
        best += max(column)
        if max(column) > 0:  # else nobody ever sends it
            ratio, witness = of_column(column, report)
            found.setdefault(ratio, witness)
    k, count = len(matrix.rows), len(matrix.rows[0])
    names = matrix.reports

    def describe(report: int) -> str:
        return names[report] if names else f"{report}"

    return Channel(k, ordered(found), best / k, False, count, "enumeration", describe=describe)


def checked(rows: Sequence[Sequence[Any]], labels: Sequence[str] = (), reports: Sequence[str] = ()) -> Matrix:
    """Return a matrix of exact probabilities, or raise InvalidArgument saying which entry or row is wrong."""
    if len(rows) < 2:
        raise InvalidArgument("matrix", "have a row for each of two values or more", len(rows))
    width = len(rows[0])
    if width * len(rows) > MOST_ENTRIES:
        raise InvalidArgument("matrix", f"have at most {MOST_ENTRIES:,} entries", f"{len(rows)} by {width}")
    exact = []
    for place, row in enumerate(rows):
        name = f"row {place + 1}" + (f" ({labels[place]})" if labels else "")
        if len(row) != width or not width:
            raise InvalidArgument(name, f"have {width} probabilities, as the first row has", len(row))
        entries = tuple(_entry(name, column, entry) for column, entry in enumerate(row))
        total = sum(entries, Fraction(0))
        if abs(total - 1) > _TOLERANCE:
            hint = "A row holds the probabilities of all reports for one value; are rows and columns exchanged?"
            raise InvalidArgument(name, "sum to 1", float(total), hint)
        exact.append(entries)
    return Matrix(tuple(exact), tuple(labels), tuple(reports))


def _entry(row: str, column: int, entry: Any) -> Fraction:
    try:
        number = _number(str(entry).strip()) if isinstance(entry, str | Decimal) else Fraction(entry)
    except (ValueError, TypeError, OverflowError, ZeroDivisionError):
        raise InvalidArgument(f"{row}, column {column + 1}", "be a probability such as 0.25 or 1/4", entry) from None
    if not 0 <= number <= 1:
        raise InvalidArgument(f"{row}, column {column + 1}", "lie from 0 to 1", entry)
    return number


def from_csv(path: Path) -> Matrix:
    """Read a matrix: a first row and a first column without numbers are names of reports and values."""
    text = path.read_text(encoding="utf-8-sig")
    rows = [[cell.strip() for cell in row] for row in csv.reader(io.StringIO(text)) if any(map(str.strip, row))]
    if not rows:
        raise InvalidArgument("matrix", "have a row for each of two values or more", 0)
    if len(rows[0]) > 1 and rows[0] == [str(place) for place in range(len(rows[0]))]:
        hint = "If it names the reports, give them names that are no numbers, or leave it out; else write 0.0 and 1.0."
        raise InvalidArgument("row 1", "be probabilities or names, which cannot be told from 0, 1, ...", rows[0], hint)
    header = not any(map(_is_number, rows[0]))
    names = rows.pop(0) if header else []
    labelled = bool(rows) and (not any(_is_number(row[0]) for row in rows) or (header and names[0] in _LABELS))
    labels = [row.pop(0) for row in rows] if labelled else []
    return checked(rows, labels, names[1:] if labelled else names)


def from_parquet(path: Path) -> Matrix:
    """Read a matrix: columns are reports; a first one of a name for labels, or one of text, names the values."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    if not table.num_rows:
        raise InvalidArgument("matrix", "have a row for each of two values or more", 0)
    names = table.column_names
    texts = [name for name in names if not _is_number(shown(table[name][0].as_py()).strip("'"))]
    named = names[:1] if names[0] in _LABELS else texts[:1]
    labels = [str(label) for name in named for label in table[name].to_pylist()]
    columns = [name for name in names if name not in named]
    return checked(list(zip(*(table[name].to_pylist() for name in columns), strict=True)), labels, columns)


def _number(text: str) -> Fraction:
    """A number as a fraction; ValueError where it is none, or would fill the memory."""
    exponent = _EXPONENT.search(text)
    if len(text) > _LONGEST or (exponent and (len(exponent[1]) > 4 or int(exponent[1]) > _LONGEST)):
        raise ValueError(f"a number must have at most {_LONGEST} digits, before and after the point")
    return Fraction(text)


def _is_number(text: str) -> bool:
    if len(text) > _LONGEST or _EXPONENT.search(text):
        return text[:1].isdigit() or text[:1] in "+-."
    try:
        Fraction(text)
    except (ValueError, ZeroDivisionError):
        return False
    return True
