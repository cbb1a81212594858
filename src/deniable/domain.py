"""The values a question allows, and the index 0..k-1 of each.

A domain may have two catch-all categories after the listed ones: "other" for values outside the
list and "no answer" for missing ones (None, NaN, null). Without them such values are refused.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from deniable.columns import array_and_missing, arrow_column, is_arrow, is_missing, item, one_dimensional
from deniable.errors import InvalidArgument, SpecError, ValueOutsideDomain
from deniable.validate import whole

Indices = npt.NDArray[np.int64]
Label = str | int

OTHER = "(other)"
NO_ANSWER = "(no answer)"
MAX_SIZE = 2**31  # an index fits 32 bits with one to spare
_OUTSIDE, _MISSING = -1, -2


@dataclass(frozen=True)
class Domain(ABC):
    """Base of all domains. Make one with `Domain.categories(...)` or `Domain.integers(...)`."""

    kind: ClassVar[str]
    _: KW_ONLY
    other: str | None = None
    no_answer: str | None = None

    @staticmethod
    def categories(
        labels: Iterable[Label], *, other: str | bool | None = None, no_answer: str | bool | None = None
    ) -> Categories:
        """Listed categories, all strings or all whole numbers.

        >>> Domain.categories(["yes", "no"], no_answer=True).k
        3
        """
        if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
            raise InvalidArgument("labels", "be a list of labels", labels)
        return Categories(tuple(labels), other=_label(other, OTHER), no_answer=_label(no_answer, NO_ANSWER))

    @staticmethod
    def integers(
        low: int, high: int, *, other: str | bool | None = None, no_answer: str | bool | None = None
    ) -> Integers:
        """The whole numbers from low to high, both included.

        >>> Domain.integers(0, 99).k
        100
        """
        return Integers(low, high, other=_label(other, OTHER), no_answer=_label(no_answer, NO_ANSWER))

    @staticmethod
    def of(domain: Domain | int | Iterable[Label]) -> Domain:
        """A domain from itself, from k (the integers 0..k-1) or from labels."""
        if isinstance(domain, Domain):
            return domain
        if isinstance(domain, Iterable):
            return Domain.categories(domain)
        return Domain.integers(0, whole(2, MAX_SIZE, k=domain) - 1)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Domain:
        """The domain a spec wrote; unknown members are refused."""
        members = dict(document)
        kind = members.pop("kind", None)
        maker = {cls.kind: cls for cls in (Categories, Integers)}.get(str(kind))
        if maker is None:
            raise SpecError(f"domain kind must be one of categories, integers, got {kind!r}")
        if isinstance(members.get("labels"), list):
            members["labels"] = tuple(members["labels"])
        try:
            return maker(**members)
        except TypeError as error:
            raise SpecError(f"domain has a missing or unknown member: {error}") from None

    def __post_init__(self) -> None:
        for name in ("other", "no_answer"):
            if getattr(self, name) is not None:
                _check_text(name, getattr(self, name))
        if self.other is not None and self.other == self.no_answer:
            raise InvalidArgument("no_answer", "differ from other", self.no_answer)
        if not 2 <= self.k <= MAX_SIZE:
            raise InvalidArgument("domain", f"have from 2 to {MAX_SIZE} values", self.k)

    @property
    @abstractmethod
    def listed(self) -> int:
        """How many values are listed, without the catch-all categories."""

    @property
    def extras(self) -> tuple[str, ...]:
        """The labels of the catch-all categories, in index order."""
        return tuple(label for label in (self.other, self.no_answer) if label is not None)

    @property
    def k(self) -> int:
        """How many values there are."""
        return self.listed + len(self.extras)

    def label(self, index: int) -> Label:
        """The label of one index."""
        index = whole(0, self.k - 1, index=index)
        return self._listed_label(index) if index < self.listed else self.extras[index - self.listed]

    def all_labels(self) -> list[Label]:
        """All labels in index order."""
        return [*map(self._listed_label, range(self.listed)), *self.extras]

    def index(self, value: object) -> int:
        """The index of one value (the path of a single device: plain Python)."""
        return self._place(_MISSING if is_missing(value) else self._find(value), value, None)

    def indices(self, values: Any) -> Indices:
        """The indices of a batch: a sequence, NumPy, pandas, polars or Arrow column."""
        found = self._lookup(values)
        if found.size and found.min() < 0:
            found = found.copy()
            for code in (_OUTSIDE, _MISSING):
                at = np.flatnonzero(found == code)
                if at.size:
                    position = int(at[0])
                    found[at] = self._place(code, item(values, position), position)
        return found

    def to_dict(self) -> dict[str, Any]:
        """The domain as the spec writes it."""
        pairs = {"other": self.other, "no_answer": self.no_answer}
        extras = {name: label for name, label in pairs.items() if label is not None}
        return {"kind": self.kind, **self._listed_members(), **extras}

    @abstractmethod
    def _listed_members(self) -> dict[str, Any]: ...

    @abstractmethod
    def _listed_label(self, index: int) -> Label: ...

    @abstractmethod
    def _find(self, value: object) -> int:
        """The index of one value that is not missing, or _OUTSIDE."""

    @abstractmethod
    def _lookup(self, values: Any) -> Indices:
        """Indices of a batch, with _OUTSIDE and _MISSING where there is none."""

    @abstractmethod
    def _rule(self) -> str: ...

    def _find_each(self, values: Iterable[object]) -> Indices:
        found = [_MISSING if is_missing(value) else self._find(value) for value in values]
        return np.array(found, np.int64)

    def _place(self, found: int, value: object, position: int | None) -> int:
        """The index of what was found: itself, a catch-all category, or an error."""
        if found >= 0:
            return found
        label = self.other if found == _OUTSIDE else self.no_answer
        if label is None:
            lacking = "other" if found == _OUTSIDE else "no answer"
            raise ValueOutsideDomain(value, f'{self._rule()} (the domain has no "{lacking}" category)', position)
        return self.listed + self.extras.index(label)


@dataclass(frozen=True)
class Categories(Domain):
    """Listed categories: all strings or all whole numbers."""

    kind: ClassVar[str] = "categories"
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        kinds = {type(label) for label in self.labels}
        if not (kinds <= {str} or kinds <= {int}):
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise InvalidArgument("labels", "be all strings or all whole numbers", found)
        for label in self.labels:
            if isinstance(label, str):
                _check_text("labels", label)
            else:
                whole(-(2**53), 2**53, labels=label)
        super().__post_init__()
        if len(self._table) < self.k:
            everything = self.all_labels()
            twice = next(label for place, label in enumerate(everything) if self._table[label] != place)
            raise InvalidArgument("labels", "be distinct", twice)

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
        return f"be one of the {self.listed} labels"

    def _find(self, value: object) -> int:
        # 1.0 and True would be found as 1
        if isinstance(value, (str, int, np.integer)) and not isinstance(value, bool):
            return self._table.get(value, _OUTSIDE)  # type: ignore[arg-type]
        return _OUTSIDE

    def _lookup(self, values: Any) -> Indices:
        if not is_arrow(values):
            return self._find_each(one_dimensional(values).tolist())
        import pyarrow as pa
        import pyarrow.compute as pc

        column = arrow_column(values)
        if pa.types.is_null(column.type):
            return np.full(len(column), _MISSING, np.int64)
        try:
            known = pa.array([*self.labels, *self.extras]).cast(column.type)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            return self._find_each(column.to_pylist())
        if pa.types.is_floating(column.type) or pa.types.is_boolean(column.type):
            return self._find_each(column.to_pylist())
        found = pc.fill_null(pc.index_in(column, known), _OUTSIDE)
        return np.where(column.is_null().to_numpy(zero_copy_only=False), _MISSING, found.to_numpy()).astype(np.int64)


@dataclass(frozen=True)
class Integers(Domain):
    """The whole numbers from low to high, both included."""

    kind: ClassVar[str] = "integers"
    low: int
    high: int

    def __post_init__(self) -> None:
        whole(-(2**53), 2**53, low=self.low)
        whole(-(2**53), 2**53, high=self.high)
        if self.high < self.low:
            raise InvalidArgument("high", f"be at least low ({self.low})", self.high)
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
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, (bool, np.bool_)):
            return _OUTSIDE
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            return _OUTSIDE
        return number - self.low if self.low <= number <= self.high else _OUTSIDE

    def _lookup(self, values: Any) -> Indices:
        array, missing = array_and_missing(values, filler=self.low)
        if array.dtype.kind in "OUTb":
            return self._find_each(array.tolist())
        if array.dtype.kind not in "iuf":
            raise InvalidArgument("values", "be whole numbers", str(array.dtype))
        fractional = array.dtype.kind == "f" and bool((array != np.floor(array)).any())
        if fractional or (array.size and (array.min() < self.low or array.max() > self.high)):
            inside = (array >= self.low) & (array <= self.high) & (array == np.floor(array))
            found = np.where(inside, np.where(inside, array, self.low).astype(np.int64) - self.low, _OUTSIDE)
        else:
            found = array.astype(np.int64, copy=False)
            found = found - self.low if self.low else found
        return found if missing is None else np.where(missing, _MISSING, found)


def _label(wanted: str | bool | None, default: str) -> str | None:
    """A catch-all's label: True takes the default one."""
    return default if wanted is True else None if wanted is False else wanted


def _check_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        raise InvalidArgument(name, "be a string", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(name, "be valid Unicode", text) from None
