"""Group keys: what rows are grouped by, as plain Python values in memory and as columns in Arrow.

A key is a text, a whole number, a truth value, a date or a time. Columns of other widths of the same kind (`int32`, a
dictionary of strings, dates in milliseconds) give equal keys, so that tables from several tools can be added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from deniable.core.arrays import Groups, Indices
from deniable.core.errors import InvalidArgument, MalformedReport, cut, shown
from deniable.core.extras import needed
from deniable.kernels.response import count_into

Key = str | int | bool | date | datetime
Group = tuple[Key, ...]

RESERVED = ("n", "summary")  # columns that a table of summaries has beside its groups
_NARROW = 2**16  # range of whole numbers that are their own codes
_DENSE = 2**20  # codes that are found by counting, not by sorting
_KINDS = "text, whole numbers, true and false, dates or times"


def group_columns(by: object) -> tuple[str, ...]:
    """Return the names of the columns to group by: one name, or several, each once."""
    names = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, Sequence) else ()
    if not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidArgument("by", "be the name of a column, or several", by)
    if len(set(names)) < len(names):
        raise InvalidArgument("by", "name every column once", list(names))
    for name in RESERVED:
        if name in names:
            hint = "A table of summaries has a column of that name: rename yours."
            raise InvalidArgument("by", f"not be called {name!r}", list(names), hint)
    return names


@dataclass(frozen=True, eq=False)
class Coded:
    """The groups of a batch of rows: row i is in the group `groups[codes[i]]`; without codes all are in the first."""

    groups: list[Group]
    codes: Groups | None
    sizes: Indices  # how many rows each group has

    @staticmethod
    def one(group: Group, rows: int) -> Coded:
        """All rows in one group."""
        return Coded([group], None, np.array([rows]))

    @staticmethod
    def of(columns: Sequence[Any], names: Sequence[str]) -> Coded:
        """Find the groups in columns of keys, as Arrow arrays of equal length."""
        codes, groups, sizes = _single(columns[0], names[0])
        for column, name in zip(columns[1:], names[1:], strict=True):
            own, more, _ = _single(column, name)
            # a pair of codes is one code; then only those that occur are kept
            pairs = codes.astype(np.int64) * len(more) + own
            codes, present, sizes = _compact(pairs, len(groups) * len(more))
            groups = [groups[place // len(more)] + more[place % len(more)] for place in present.tolist()]
        return Coded(groups, codes if len(groups) > 1 else None, sizes)


def _single(column: Any, name: str) -> tuple[Groups, list[Group], Indices]:
    """Codes, groups and sizes of the groups of one column."""
    codes, keys = _coded(column, name)
    codes, present, sizes = _compact(codes, len(keys))
    return codes, [(keys[place],) for place in present.tolist()], sizes


def _compact(codes: Groups, size: int) -> tuple[Groups, Indices, Indices]:
    """Renumber codes below `size` so that all occur; return them, the old codes by the new, and how often each is."""
    if size > max(_DENSE, len(codes)):
        present, codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
        return codes, present, sizes
    sizes = np.zeros(size, np.int64)
    count_into(codes, sizes)
    present = np.flatnonzero(sizes)
    if len(present) < size:
        codes, sizes = (np.cumsum(sizes > 0) - 1).astype(codes.dtype)[codes], sizes[present]
    return codes, present, sizes


def _coded(column: Any, name: str) -> tuple[Groups, list[Key]]:
    """Codes of a column's entries, and the key of each code."""
    with needed():
        import pyarrow as pa
        import pyarrow.compute as pc

    if column.null_count:
        first = pc.index(pc.is_null(column), True).as_py()
        raise NullKey(name, first)
    kind = column.type
    if pa.types.is_integer(kind) and len(column):
        numbers = column.to_numpy(zero_copy_only=False)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < _NARROW:
            # the difference is below 2^16, and so the same modulo 2^16
            return numbers.astype(np.uint16) - np.uint16(low % _NARROW), list(range(low, high + 1))
    if not pa.types.is_dictionary(kind):
        check_kind(kind, name)
        column = column.dictionary_encode()
    check_kind(column.type.value_type, name)
    if column.dictionary.null_count:
        found = [place for place, key in enumerate(column.to_pylist()) if key is None]
        if found:
            raise NullKey(name, found[0])
    return _distinct(column.indices.to_numpy(zero_copy_only=False).astype(np.int64), keys_of(column.dictionary))


def _distinct(codes: Groups, keys: list[Key]) -> tuple[Groups, list[Key]]:
    """Give equal keys one code: a dictionary may list a key twice, and several times of a day are one date."""
    places: dict[Key, int] = {}
    merged = [places.setdefault(key, len(places)) for key in keys]
    return (codes, keys) if len(places) == len(keys) else (np.array(merged, np.int64)[codes], list(places))


class NullKey(MalformedReport):
    """A row without a group."""

    def __init__(self, name: str, position: int) -> None:
        self.name, self.position = name, position
        super().__init__(
            f"column {shown(name)} has no value at position {position}, so that row is in no group. "
            "Fill the gaps, or leave those rows out."
        )


def check_kind(kind: Any, name: str) -> None:
    """Refuse a column of a type that is no key, such as fractions, whose equality is a matter of rounding."""
    with needed():
        import pyarrow as pa

    of = pa.types
    tests = (of.is_string, of.is_large_string, of.is_string_view, of.is_integer, of.is_boolean, of.is_date)
    if not (any(test(kind) for test in tests) or of.is_timestamp(kind)):
        raise InvalidArgument("by", f"name columns of {_KINDS}", f"{cut(name)}: {cut(str(kind))}")


def keys_of(values: Any) -> list[Key]:
    """The keys in an Arrow array, as Python values; times in UTC, and whole in microseconds."""
    with needed():
        import pyarrow as pa

    if pa.types.is_timestamp(values.type):
        try:
            values = values.cast(pa.timestamp("us", values.type.tz))
        except pa.ArrowInvalid:
            raise InvalidArgument("by", "name times that are whole in microseconds", str(values.type)) from None
    try:
        found: list[Any] = values.to_pylist()
    except (OverflowError, ValueError):
        rule = "name columns with dates and times of the years 1 to 9999"
        raise InvalidArgument("by", rule, f"{values.type} beyond them") from None
    return [key.astimezone(UTC) if isinstance(key, datetime) and key.tzinfo else as_key(key) for key in found]


def as_key(key: object) -> Key:
    """Return a key as a plain value, or refuse what is none."""
    plain = key.item() if isinstance(key, np.generic) else key
    if isinstance(plain, (str, bool, date, datetime)):
        return plain
    if isinstance(plain, int):
        if not -(2**63) <= plain < 2**63:
            raise InvalidArgument("group", "have whole numbers of 64 bits", plain)
        return plain
    if plain is None:
        return None  # type: ignore[return-value]  # only in a dictionary, where no row need have it
    raise InvalidArgument("group", f"be made of {_KINDS}", plain)


def column_of(keys: Sequence[Key], name: str) -> Any:
    """An Arrow array of keys of one kind."""
    with needed():
        import pyarrow as pa

    kinds = set(kinds_of([(key,) for key in keys], (name,)))
    types = {
        "text": pa.string(),
        "number": pa.int64(),
        "truth": pa.bool_(),
        "date": pa.date32(),
        "time": pa.timestamp("us"),
        "time in UTC": pa.timestamp("us", "UTC"),
    }
    return pa.array(keys, types[kinds.pop() if kinds else "text"])


def kinds_of(groups: Iterable[Group], by: Sequence[str]) -> tuple[str, ...]:
    """The kind of key in each column, of which there must be one; nothing if there are no groups."""
    found: set[tuple[str, ...]] = {tuple(map(kind_of_key, group)) for group in groups}
    if len(found) > 1:
        columns = zip(by, zip(*found, strict=True), strict=True)
        name, kinds = next((name, set(kinds)) for name, kinds in columns if len(set(kinds)) > 1)
        raise InvalidArgument("groups", f"have one kind of key in column {shown(name)}", sorted(kinds))
    return next(iter(found), ())


def differing(by: Sequence[str], one: Sequence[str], other: Sequence[str]) -> str:
    """The first column whose kinds of key differ, in words; nothing if there is none."""
    clashes = ((name, {a, b}) for name, a, b in zip(by, one, other, strict=False) if a != b)
    return next((f"{cut(name)}: {' and '.join(sorted(kinds))}" for name, kinds in clashes), "")


def kind_of_key(key: object) -> str:
    """What a key is: keys of two kinds are never the same, though Python has 1 == True."""
    if isinstance(key, datetime):
        return "time in UTC" if key.tzinfo else "time"
    return {bool: "truth", int: "number", str: "text", date: "date"}.get(type(key), type(key).__name__)


def order_of(group: Group) -> tuple[Any, ...]:
    """What groups are sorted by: kind and value of every key, since kinds do not compare with each other."""
    return tuple((kind_of_key(key), key) for key in group)
