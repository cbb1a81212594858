"""Reports of a black box as rows of numbers, of a known width, and no more of them than a bounded memory holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.auditing.empirical.adapters import Adapter
from deniable.core.arrays import Integers
from deniable.core.errors import InvalidArgument

MOST_VALUES = 64  # looked at
_STEP = 2**17  # reports made at once
_CALLS = 8  # of one report each, by which widths are learnt
_FEWEST = 1000  # reports of each value from which something can be learnt
_HELD, _AT_ONCE = 2**28, 2**26  # bytes of the rows that are kept, and of those that are made at once
_CELL = 8  # bytes


@dataclass(frozen=True)
class Samples:
    """What an adapter sends of some values. Rows hold a report, then whether it supports each of these values."""

    adapter: Adapter
    values: tuple[int, ...]

    @cached_property
    def widths(self) -> Mapping[int, int]:
        """The numbers in a report of each value; refused where they change from call to call."""
        return {value: self._width(value) for value in self.values}

    def _width(self, value: int) -> int:
        widths = {self.adapter.rows(value, 1).shape[1] for _ in range(_CALLS)}
        if len(widths) > 1:
            raise _changing(value, *sorted(widths)[:2])
        return int(widths.pop())

    @property
    def uneven(self) -> tuple[int, int] | None:
        """Two values whose reports differ in length, if there are any."""
        first = self.values[0]
        return next(((first, value) for value in self.values if self.widths[value] != self.widths[first]), None)

    def columns(self, width: int) -> int:
        """The columns of rows whose reports have this width."""
        return width + (len(self.values) if self.adapter.supports else 0)

    @property
    def _columns(self) -> int:
        return self.columns(max(self.widths.values()))

    def held(self, wanted: int, values: int) -> int:
        """How many reports of each of so many values are kept at once: as many as are wanted, or as can be."""
        return min(wanted, _HELD // (_CELL * self._columns * values))

    def rows(self, value: int, n: int) -> Integers:
        """Make n reports of a value."""
        return np.concatenate(list(self._parts(value, n)))

    def _parts(self, value: int, n: int) -> Iterator[Integers]:
        for size in self.steps(n):
            rows = self.adapter.rows(value, size)
            if rows.shape[1] != self.widths[value]:
                raise _changing(value, self.widths[value], rows.shape[1])
            marks = self.adapter.marks(rows, self.values)
            yield rows if marks is None else np.concatenate([rows, marks.astype(np.int64)], axis=1)

    def steps(self, n: int) -> Iterator[int]:
        """So many reports in parts that are made at once."""
        most = max(1, min(_STEP, _AT_ONCE // (_CELL * self._columns)))
        for start in range(0, n, most):
            yield min(most, n - start)


def most_values(adapter: Adapter) -> int:
    """How many values may be looked at, such that some reports of each can be kept."""
    width = int(adapter.rows(0, 1).shape[1])
    each = _CELL * _FEWEST
    if (width + 2) * 2 * each > _HELD:
        rule = f"return rows of at most {_HELD // (2 * each) - 2:,} numbers"
        raise InvalidArgument("sample", rule, width, "Thousands of reports are kept: audit a part of each.")
    marks = min(adapter.values, MOST_VALUES) if adapter.supports else 0
    return max(2, min(MOST_VALUES, _HELD // ((width + marks) * each)))


def _changing(value: int, one: int, other: int) -> InvalidArgument:
    hint = "Fill reports up to one width, and add their length as a number."
    return InvalidArgument("sample", f"return rows of one width for value {value}", (one, other), hint)
