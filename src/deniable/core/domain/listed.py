"""The closed domains, which list their values: categories, and the integers of a range."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Indices, Numbers
from deniable.core.display import brief, described
from deniable.core.domain import MISSING, OUTSIDE, Domain, Label, check_text
from deniable.core.domain.columns import Column, entries
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.extremes import extremes
from deniable.core.validate import whole

_FEW, _SHORT = 6, 60  # labels that an error message lists, and their characters in all
LARGEST = 2**53 - 1  # the largest integer that canonical JSON (RFC 8785) can write


@dataclass(frozen=True)
class Categories(Domain):
    """Listed categories: all strings, all whole numbers, or True and False."""

    kind: ClassVar[str] = "categories"
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        kinds = {type(label) for label in self.labels}
        if not (kinds <= {str} or kinds <= {int} or kinds <= {bool}):
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InvalidArgument("labels", "be all strings, all whole numbers, or True and False", found)
        for label in self.labels:
            if isinstance(label, str):
                check_text("labels", label)
            elif not isinstance(label, bool):
                whole(-LARGEST, LARGEST, labels=label)
        super().__post_init__()
        if len(self._table) < self.k:
            everything = self.all_labels()
            twice = next(label for place, label in enumerate(everything) if self._table[label] != place)
            raise InvalidArgument("labels", "be distinct", twice)

    def __repr__(self) -> str:
        return brief(self, described(self.to_dict()), k=f"{self.k:,}")

    @cached_property
    def _table(self) -> dict[Label, int]:
        return {label: index for index, label in enumerate((*self.labels, *self.extras))}

    @property
    def listed(self) -> int:
        return len(self.labels)

    def _listed_members(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

    def _listed_label(self, index: int) -> Label:
        return self.labels[index]

    def _rule(self) -> str:
        few = self.listed <= _FEW and sum(len(str(label)) for label in self.labels) <= _SHORT
        listed = f" ({', '.join(map(str, self.labels))})" if few else ""
        return f"be one of the {self.listed} labels{listed}"

    def _find(self, value: object) -> int:
        # 1.0 and True would be found as 1, and NumPy counts time spans as integers
        if isinstance(value, (bool, np.bool_)):
            return self._table.get(bool(value), OUTSIDE) if self._truths else OUTSIDE
        if self._truths and not isinstance(value, str):
            return OUTSIDE
        if isinstance(value, (str, int, np.integer)) and not isinstance(value, np.timedelta64):
            return self._table.get(value, OUTSIDE)  # type: ignore[arg-type]
        return OUTSIDE

    @property
    def _truths(self) -> bool:
        """Whether the labels are True and False, which are no whole numbers here."""
        return isinstance(self.labels[0], bool)

    def _find_in_array(self, array: Numbers) -> Indices:
        return self._find_each(entries(array))

    def _find_in_arrow(self, column: Column) -> Indices:
        with needed():
            import pyarrow as pa
            import pyarrow.compute as pc

        if pa.types.is_floating(column.type):
            return self._find_each(entries(column))
        # strings are looked up among strings only, integers among integers
        kind, arrow_kind = (int, pa.int64()) if pa.types.is_integer(column.type) else (str, column.type)
        try:
            column = column.cast(arrow_kind)
        except pa.ArrowInvalid:  # unsigned numbers of 2^63 and above
            return self._find_each(entries(column))
        known = {label: place for label, place in self._table.items() if type(label) is kind}
        found = pc.fill_null(pc.index_in(column, pa.array(list(known), arrow_kind)), len(known))
        places: Indices = np.array([*known.values(), OUTSIDE], np.int64)[found.to_numpy()]
        return places


@dataclass(frozen=True)
class Integers(Domain):
    """The whole numbers from low to high, both included."""

    kind: ClassVar[str] = "integers"
    low: int
    high: int

    def __post_init__(self) -> None:
        # the result of `whole`, so that a NumPy integer is stored as an int
        object.__setattr__(self, "low", whole(-LARGEST, LARGEST, low=self.low))
        object.__setattr__(self, "high", whole(-LARGEST, LARGEST, high=self.high))
        if self.high < self.low:
            raise InvalidArgument("high", f"be at least low, which is {self.low}", self.high)
        super().__post_init__()

    @property
    def listed(self) -> int:
        return self.high - self.low + 1

    def _listed_members(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    def _listed_label(self, index: int) -> Label:
        return self.low + index

    def _rule(self) -> str:
        return f"be a whole number from {self.low} to {self.high}"

    def _find(self, value: object) -> int:
        if isinstance(value, str) and value in self.extras:
            return self.listed + self.extras.index(value)
        if isinstance(value, (float, np.floating)) and value.is_integer():
            value = int(value)
        if isinstance(value, (bool, np.bool_)):
            return OUTSIDE
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except Exception:  # also one of the object's own, whose text may be the value
            return OUTSIDE
        return number - self.low if self.low <= number <= self.high else OUTSIDE

    def _find_in_array(self, array: Numbers) -> Indices:
        if array.dtype.kind == "f":
            return self._find_in_floats(array)
        if array.dtype.kind not in "iu":
            return self._find_each(entries(array))
        found = array.astype(np.int64, copy=False)
        if array.size:
            least, most = extremes(array)  # before the cast, which wraps around beyond 2^63
            if least < self.low or most > self.high:
                return np.where((array >= self.low) & (array <= self.high), found - self.low, OUTSIDE)
        return found - self.low if self.low else found

    def _find_in_floats(self, array: Numbers) -> Indices:
        # at least double precision, where the limits are exact
        array = array.astype(np.promote_types(array.dtype, np.float64), copy=False)
        inside = (array >= self.low) & (array <= self.high) & (array == np.floor(array))
        found = np.where(inside, array, self.low).astype(np.int64) - self.low
        return np.where(inside, found, np.where(np.isnan(array), MISSING, OUTSIDE))

    def _find_in_arrow(self, column: Column) -> Indices:
        with needed():
            import pyarrow as pa

        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            return self._find_each(entries(column))
        return self._find_in_array(column.to_numpy(zero_copy_only=False))
