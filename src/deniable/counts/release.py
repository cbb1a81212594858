"""A release: published noisy counts, with the parameters of their noise.

JSON layout 1 (stable): an object with the members `deniable.release` (the layout), `epsilon`, `sensitivity`,
`ratio` (2^128 q as a decimal string), `simulated`, `shape` and `values`, flat and in row-major order; integers
beyond 2^53 are decimal strings. A newer layout is refused.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.arrays import Numbers
from deniable.core.display import brief
from deniable.core.documents import is_one, read_json
from deniable.core.errors import InvalidArgument, MalformedReport, UnsupportedVersion, cut, listed, shown
from deniable.core.extras import needed
from deniable.core.guarantee import Guarantee
from deniable.core.reports import as_table
from deniable.counts.whole import EXACT, whole_counts

if TYPE_CHECKING:
    from deniable.counts.noise import DiscreteLaplace

LAYOUT = 1
_LAYOUT_MEMBER = "deniable.release"
_MEMBERS = {_LAYOUT_MEMBER, "epsilon", "sensitivity", "ratio", "simulated", "shape", "values"}
_OPTIONAL = {"columns", "labels"}  # what the command line adds
_IN_METADATA = sorted((_MEMBERS | {"columns"}) - {"values"})
MOST_DIGITS = 4000  # of a count in a file: Python reads no more than 4,300
_DECIMAL = re.compile(f"0|-?[1-9][0-9]{{0,{MOST_DIGITS - 1}}}")
_TOO_LARGE = 10**MOST_DIGITS
_MOST_DIMENSIONS = 32


@dataclass(frozen=True, eq=False)
class Release:
    """Frozen noisy counts: `values` (a number, vector or matrix), their `noise`, and whether it was `simulated`."""

    values: Numbers
    noise: DiscreteLaplace
    simulated: bool = False

    def __post_init__(self) -> None:
        values = whole_counts(self.values, "values")
        if values.size == 0:
            raise InvalidArgument("values", "hold at least one count", "none")
        if values.flags.writeable:  # the caller may hold it and change it
            values = values.copy()
            values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def epsilon(self) -> float:
        """The epsilon the release cost."""
        return self.noise.epsilon

    @property
    def sensitivity(self) -> int:
        """The largest change one person can cause, as the sum of absolute changes."""
        return self.noise.sensitivity

    @property
    def std_error(self) -> float:
        """The standard deviation of the noise of one count."""
        return self.noise.std_error

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the counts."""
        return self.values.shape

    @property
    def size(self) -> int:
        """The number of counts."""
        return int(self.values.size)

    def guarantee(self) -> Guarantee:
        """The exact privacy guarantee, which every answer about this release inherits."""
        return self.noise.guarantee()

    def __getitem__(self, places: Any) -> Release:
        """Return some of the counts, as a release with the same noise."""
        return Release(np.asarray(self.values[places]), self.noise, self.simulated)

    def __len__(self) -> int:
        if not self.values.ndim:
            raise TypeError("a release of one number has no length")
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        same = self.noise == other.noise and self.simulated == other.simulated and self.shape == other.shape
        return same and bool((self.values == other.values).all())

    def __reduce__(self) -> tuple[object, ...]:
        return Release, (np.array(self.values), self.noise, self.simulated)

    def __repr__(self) -> str:
        shape = " x ".join(map(str, self.shape)) or "1"
        return brief(self, "simulated" if self.simulated else "", counts=shape, noise=self.noise)

    def _repr_html_(self) -> str:
        from deniable.counts.cards import release_card

        return release_card(self)

    def __str__(self) -> str:
        kind = " (simulated: it protects nobody)" if self.simulated else ""
        size = " x ".join(map(str, self.shape)) or "1"
        return (
            f"{size} noisy counts{kind}, epsilon {self.epsilon:g} at sensitivity {self.sensitivity}, "
            f"standard error {self.std_error:.4g} each"
        )

    def to_json(self) -> str:
        """Return the release as text in the stable layout."""
        flat = self.values.reshape(-1).tolist()
        document = {
            _LAYOUT_MEMBER: LAYOUT,
            "epsilon": self.epsilon,
            "sensitivity": self.sensitivity,
            "ratio": str(int(self.noise.q * 2**128)),
            "simulated": self.simulated,
            "shape": list(self.shape),
            "values": [value if abs(value) <= EXACT else _digits(value) for value in flat],
        }
        return json.dumps(document)

    @staticmethod
    def from_json(text: str | bytes) -> Release:
        """Read a release from text; damaged or incomplete text is refused."""
        found = read_json(text, "the release", limits=None, wrong=MalformedReport)
        if not isinstance(found, dict) or _LAYOUT_MEMBER not in found:
            raise MalformedReport("this text is not a release: it has no member 'deniable.release'")
        return _from_members(found)

    def to_arrow(self) -> Any:
        """Return an Arrow table with one column, `count`, in row-major order, and everything else in its metadata."""
        with needed():
            import pyarrow as pa

        flat = self.values.reshape(-1)
        large = flat.dtype == object
        column = pa.array([_digits(value) for value in flat] if large else flat)
        document = json.loads(self.to_json())
        metadata = {name: json.dumps(value) for name, value in document.items() if name != "values"}
        return pa.table({"count": column}).replace_schema_metadata(metadata)

    @staticmethod
    def from_arrow(table: Any) -> Release:
        """Read a release from an Arrow table; if it has several columns, the metadata name them in `columns`."""
        with needed():
            import pyarrow as pa

        table = as_table(table)
        said = table.schema.metadata or {}
        found = {
            name: read_json(said[key], "the release is damaged: its metadata", limits=None, wrong=MalformedReport)
            for name in _IN_METADATA
            if (key := name.encode()) in said
        }
        if _LAYOUT_MEMBER not in found:
            raise MalformedReport("this table is not a release: its metadata have no member 'deniable.release'")
        names = found.get("columns", ["count"])
        if not isinstance(names, list) or any(table.column_names.count(name) != 1 for name in names):
            raise MalformedReport(f"the table must have one column each of {shown(names)}")
        columns = [table.column(name) for name in names]
        for column in columns:
            if not pa.types.is_integer(column.type) and not pa.types.is_string(column.type):
                raise MalformedReport(
                    f"a column of counts must hold whole numbers, or text, got {cut(str(column.type))}"
                )
        rows = zip(*(column.to_pylist() for column in columns), strict=True)
        return _from_members({**found, "values": [value for row in rows for value in row]})


def _digits(count: int) -> str:
    """A count as decimal digits, if they can be read again."""
    if abs(count) >= _TOO_LARGE:
        raise InvalidArgument("values", f"have at most {MOST_DIGITS:,} digits to be written", "a longer one")
    return str(count)


def _from_members(found: dict[str, Any]) -> Release:
    """Make a release of its members; any that is missing, unknown or not as it would be written is refused."""
    from deniable.counts.noise import DiscreteLaplace

    layout = found[_LAYOUT_MEMBER]
    if type(layout) is int and layout > LAYOUT:
        raise UnsupportedVersion("layout of the release", layout, LAYOUT)
    if not is_one(layout):
        raise MalformedReport(f"the release is damaged: its layout must be {LAYOUT}, got {shown(layout)}")
    if wrong := sorted((found.keys() ^ _MEMBERS) - _OPTIONAL):
        raise MalformedReport(f"the release is damaged: it has a missing or unknown member: {listed(wrong)}")
    try:
        noise = DiscreteLaplace(found["epsilon"], found["sensitivity"])
    except InvalidArgument as error:
        raise MalformedReport(f"the release is damaged: {error}") from None
    shape, values = found["shape"], found["values"]
    if not isinstance(values, list) or not isinstance(shape, list) or not all(type(each) is int for each in shape):
        raise MalformedReport("the release is damaged: its values and its shape must be lists of whole numbers")
    if len(shape) > _MOST_DIMENSIONS or min(shape, default=0) < 0 or math.prod(shape) != len(values):
        raise MalformedReport(f"the release is damaged: its shape must hold {len(values)} values, got {shown(shape)}")
    if found["ratio"] != str(int(noise.q * 2**128)) or not isinstance(found["simulated"], bool):
        raise MalformedReport("the release is damaged: its ratio is not that of its epsilon and sensitivity")
    counts = np.array([_whole(value) for value in values], object).reshape(shape)
    try:
        return Release(counts, noise, found["simulated"])
    except InvalidArgument as error:  # no counts at all
        raise MalformedReport(f"the release is damaged: {error}") from None


def as_release(data: Any, epsilon: object = None, sensitivity: object = None) -> Release:
    """Return a release as it is, or make one of noisy counts and the epsilon of their discrete Laplace noise."""
    from deniable.counts.noise import DiscreteLaplace

    if isinstance(data, Release):
        if epsilon is not None or sensitivity is not None:
            hint = "A release knows its noise."
            raise InvalidArgument("epsilon", "be omitted for a release", epsilon or sensitivity, hint)
        return data
    if epsilon is None:
        raise InvalidArgument("epsilon", "be given with noisy counts that are not a Release", epsilon)
    noise = DiscreteLaplace(epsilon, 1 if sensitivity is None else sensitivity)  # type: ignore[arg-type]
    return Release(whole_counts(data, "noisy counts"), noise)


def _whole(value: object) -> int:
    """Read a count: a number, or decimal digits as `str` writes them."""
    if type(value) is int or (isinstance(value, str) and _DECIMAL.fullmatch(value)):
        return int(value)
    raise MalformedReport(f"the release is damaged: a count must be a whole number, got {shown(value)}")
