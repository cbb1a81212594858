"""The values a question allows, and the index 0..k-1 of each.

A domain may have two catch-all categories after the listed values: "other" for values outside the
list and "no answer" for missing values (None, NaN, null). Without them such values are refused.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deniable.core.arrays import Indices, Numbers
from deniable.core.caches import FieldsOnly
from deniable.core.domain.columns import Column, is_missing, item, plain, read
from deniable.core.errors import InvalidArgument, SpecError, ValueOutsideDomain, shown
from deniable.core.errors import listed as named  # `listed` is a module here
from deniable.core.extremes import extremes
from deniable.core.validate import whole

if TYPE_CHECKING:
    from deniable.core.domain.listed import Categories, Integers
    from deniable.core.domain.open import Open

Label = str | int

OTHER = "(other)"
NO_ANSWER = "(no answer)"
MAX_SIZE = 2**31  # an index fits 32 bits with one to spare
OUTSIDE, MISSING = -1, -2  # codes in place of an index


@dataclass(frozen=True)
class Domain(FieldsOnly, ABC):
    """Base of all domains. Make one with `Domain.categories(...)`, `Domain.integers(...)` or `Domain.open()`.

    The classes of the three kinds are in listed.py and open.py.
    """

    kind: ClassVar[str]
    _: KW_ONLY
    other: str | None = None
    no_answer: str | None = None

    @staticmethod
    def categories(
        labels: Iterable[Label], *, other: str | bool | None = None, no_answer: str | bool | None = None
    ) -> Categories:
        """Listed categories: all strings, all whole numbers, or True and False.

        >>> Domain.categories(["yes", "no"], no_answer=True).k
        3
        """
        from deniable.core.domain.listed import Categories

        listed = isinstance(labels, Iterable) and getattr(labels, "ndim", 1) == 1
        if isinstance(labels, (str, bytes)) or not listed:
            raise InvalidArgument("labels", "be a list of labels", labels)
        if isinstance(labels, (set, frozenset)):
            raise InvalidArgument("labels", "be a list", labels, hint="A set has no order, so indices would vary.")
        return Categories(tuple(map(plain, labels)), other=_label(other, OTHER), no_answer=_label(no_answer, NO_ANSWER))

    @staticmethod
    def integers(
        low: int, high: int, *, other: str | bool | None = None, no_answer: str | bool | None = None
    ) -> Integers:
        """The whole numbers from low to high, both included.

        >>> Domain.integers(0, 99).k
        100
        """
        from deniable.core.domain.listed import Integers

        return Integers(low, high, other=_label(other, OTHER), no_answer=_label(no_answer, NO_ANSWER))

    @staticmethod
    def open(
        *,
        max_bytes: int = 256,
        key: str = "",
        other: str | bool | None = None,
        no_answer: str | bool | None = None,
    ) -> Open:
        """Any string or bytes; candidates are named when reports are decoded.

        `key` makes the hashes of this domain differ from those of other domains. Values longer than `max_bytes` are
        refused, or counted as "other" if there is such a category.

        >>> Domain.open().index("example.org") == Domain.open().index(b"example.org")
        True
        """
        from deniable.core.domain.open import Open

        return Open(max_bytes, key, other=_label(other, OTHER), no_answer=_label(no_answer, NO_ANSWER))

    @staticmethod
    def of(domain: Domain | int | Iterable[Label]) -> Domain:
        """Return a domain as it is, or make one from k (the integers 0..k-1) or from labels."""
        if isinstance(domain, Domain):
            return domain
        if isinstance(domain, Iterable):
            return Domain.categories(domain)
        return Domain.integers(0, whole(2, MAX_SIZE, k=domain) - 1)

    @staticmethod
    def from_dict(document: Mapping[str, Any]) -> Domain:
        """Read a domain as written in a spec; unknown members are refused."""
        from deniable.core.domain.listed import Categories, Integers
        from deniable.core.domain.open import Open

        members = dict(document)
        kind = members.pop("kind", None)
        kinds: dict[str, Callable[..., Domain]] = {cls.kind: cls for cls in (Categories, Integers, Open)}
        maker = kinds.get(str(kind))
        if maker is None:
            raise SpecError(f"domain kind must be one of {', '.join(kinds)}, got {shown(kind)}")
        if "labels" in members:
            if not isinstance(members["labels"], list):
                raise SpecError(f"domain labels must be a list, got {shown(members['labels'])}")
            members["labels"] = tuple(members["labels"])
        for extra in ("other", "no_answer"):
            if extra in members and members[extra] is None:
                raise SpecError(f"domain member {extra} must be a label. Leave it out where there is no such category.")
        own = {each.name for each in fields(kinds[str(kind)])}  # type: ignore[arg-type]
        if wrong := sorted((members.keys() ^ own) - {"other", "no_answer"}, key=str):
            raise SpecError(f"domain has a missing or unknown member: {named(wrong)}")
        return maker(**members)

    def __post_init__(self) -> None:
        self._check_extras()
        if not 2 <= self.k <= MAX_SIZE:
            raise InvalidArgument("domain", f"have from 2 to {MAX_SIZE} values", self.k)

    def _check_extras(self) -> None:
        for name in ("other", "no_answer"):
            if getattr(self, name) is not None:
                check_text(name, getattr(self, name))
        if self.other is not None and self.other == self.no_answer:
            raise InvalidArgument("no_answer", "differ from other", self.no_answer)

    @property
    @abstractmethod
    def listed(self) -> int:
        """The number of listed values, without the catch-all categories."""

    @property
    def extras(self) -> tuple[str, ...]:
        """The labels of the catch-all categories, in index order."""
        return tuple(label for label in (self.other, self.no_answer) if label is not None)

    @property
    def k(self) -> int:
        """The number of values, catch-all categories included."""
        return self.listed + len(self.extras)

    def label(self, index: int) -> Label:
        """The label of one index."""
        index = whole(0, self.k - 1, index=index)
        return self._listed_label(index) if index < self.listed else self.extras[index - self.listed]

    def all_labels(self) -> list[Label]:
        """All labels in index order."""
        return [*map(self._listed_label, range(self.listed)), *self.extras]

    def index(self, value: object) -> int:
        """Return the index of one value, in plain Python, as a single device does."""
        found = MISSING if is_missing(value) else self._find(value)
        if found >= 0:
            return found
        catch_all = self._catch_all(found)
        if catch_all is None:
            raise self._refusal(found, value, None)
        return catch_all

    def indices(self, values: Any) -> Indices:
        """Return the indices of a batch: a sequence, or a NumPy, pandas, polars or Arrow column."""
        column = read(values)
        found = self._find_in_array(column) if isinstance(column, np.ndarray) else self._find_in_nullable(column)
        if found.size and extremes(found)[0] < 0:
            found = found.copy()
            for code in (OUTSIDE, MISSING):
                at = np.flatnonzero(found == code)
                if at.size:
                    catch_all = self._catch_all(code)
                    if catch_all is None:
                        raise self._refusal(code, item(column, int(at[0])), int(at[0]))
                    found[at] = catch_all
        return found

    def to_dict(self) -> dict[str, Any]:
        """The domain as written in a spec."""
        pairs = {"other": self.other, "no_answer": self.no_answer}
        extras = {name: label for name, label in pairs.items() if label is not None}
        return {"kind": self.kind, **self._listed_members(), **extras}

    @abstractmethod
    def _listed_members(self) -> dict[str, Any]: ...

    @abstractmethod
    def _listed_label(self, index: int) -> Label: ...

    @abstractmethod
    def _find(self, value: object) -> int:
        """Return the index of one value that is not missing, or OUTSIDE."""

    @abstractmethod
    def _find_in_array(self, array: Numbers) -> Indices:
        """Return the indices of the values in a NumPy array, with OUTSIDE or MISSING where there is none."""

    @abstractmethod
    def _find_in_arrow(self, column: Column) -> Indices:
        """Return the indices of the values in an Arrow array of strings, integers or floats, without nulls."""

    @abstractmethod
    def _rule(self) -> str: ...

    def _find_each(self, values: Iterable[object]) -> Indices:
        found = [MISSING if is_missing(value) else self._find(value) for value in values]
        return np.array(found, np.int64)

    def _find_in_nullable(self, column: Column) -> Indices:
        if not column.null_count:
            return self._find_in_arrow(column)
        found = np.full(len(column), MISSING, np.int64)
        found[column.is_valid().to_numpy(zero_copy_only=False)] = self._find_in_arrow(column.drop_null())
        return found

    def _catch_all(self, code: int) -> int | None:
        """Return the index of the "other" category for OUTSIDE, or "no answer" for MISSING, if it exists."""
        label = self.other if code == OUTSIDE else self.no_answer
        return None if label is None else self.listed + self.extras.index(label)

    def _refusal(self, code: int, value: object, position: int | None) -> ValueOutsideDomain:
        lacking = "other" if code == OUTSIDE else "no answer"
        return ValueOutsideDomain(value, self._rule(), position, f'The domain has no "{lacking}" category.')


def _label(wanted: str | bool | None, default: str) -> str | None:
    """Return the label of a catch-all category; True stands for the default label."""
    return default if wanted is True else None if wanted is False else wanted


def check_text(name: str, text: object) -> None:
    """Refuse anything but a string that can be encoded as UTF-8."""
    if not isinstance(text, str):
        raise InvalidArgument(name, "be a string", text)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(name, "be valid Unicode", text) from None
