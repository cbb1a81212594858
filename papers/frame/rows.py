"""The results of an experiment: a table of plain rows, in a fixed order."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.errors import InvalidArgument

Row = Mapping[str, Any]


class Rows(Sequence[Row]):
    """An immutable table of rows with named numbers and words; every query returns a new one."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = tuple(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Rows: ...
    def __getitem__(self, place: int | slice) -> Row | Rows:
        return Rows(self._rows[place]) if isinstance(place, slice) else self._rows[place]

    def where(self, **wanted: Any) -> Rows:
        """Return the rows whose members have these values; a list or range means any of its values."""
        tests = {name: _test(value) for name, value in wanted.items()}
        return Rows(row for row in self if all(name in row and test(row[name]) for name, test in tests.items()))

    def column(self, name: str) -> Floats:
        """Return one member of all rows, as numbers."""
        if any(name not in row for row in self):
            raise InvalidArgument("column", "be a member of every row", name)
        return np.array([row[name] for row in self], float)

    def values(self, name: str) -> list[Any]:
        """Return the distinct values of one member, in order of appearance."""
        return list(dict.fromkeys(row[name] for row in self if name in row))

    def groups(self, *names: str) -> Iterator[tuple[dict[str, Any], Rows]]:
        """Group the rows by these members, in order of appearance."""
        found: dict[tuple[Any, ...], list[Row]] = {}
        for row in self:
            found.setdefault(tuple(row[name] for name in names), []).append(row)
        for key, rows in found.items():
            yield dict(zip(names, key, strict=True)), Rows(rows)

    def average(self, metric: str, *by: str, using: Callable[[Floats], Any] = np.mean) -> Rows:
        """Return, for each group, the mean (or another statistic) of a metric, its standard error, and the count."""
        made = []
        for key, rows in self.groups(*by):
            numbers = rows.column(metric)
            error = float(numbers.std(ddof=1)) / math.sqrt(len(numbers)) if len(numbers) > 1 else math.nan
            made.append({**key, metric: float(using(numbers)), "error": error, "count": len(numbers)})
        return Rows(made)

    def to_csv(self) -> str:
        """Return all rows as CSV; the same rows give the same text."""
        names = list(dict.fromkeys(name for row in self for name in row))
        out = io.StringIO()
        writer = csv.DictWriter(out, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _written(value) for name, value in row.items()} for row in self)
        return out.getvalue()


def _test(value: Any) -> Callable[[Any], bool]:
    if isinstance(value, Collection) and not isinstance(value, str):
        return lambda found: found in value
    return lambda found: bool(found == value)


def _written(value: Any) -> Any:
    return repr(value) if isinstance(value, float) else value
