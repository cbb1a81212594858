"""What an estimate answers beyond its table: by label, as plain data, and derived numbers with error bars.

The work is done in deniable/derived, which is loaded when it is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from deniable.core.defaults import LEVEL
from deniable.core.domain import Label
from deniable.core.errors import MissingExtra

if TYPE_CHECKING:
    from deniable.core.estimate import Estimate, Row
    from deniable.core.quantity import Quantity
    from deniable.derived.groups import Differences


class Derivable:
    """Methods of `Estimate`, which `self` is.

    Where a derived number takes a label, a list of labels stands for all of them together.
    """

    def __len__(self: Any) -> int:
        return len(self.frequencies)

    def __getitem__(self: Any, label: Label) -> Row:
        """The row of one label; for an integer domain the label is the number itself, not a position."""
        from deniable.derived.labels import place_of

        row: Row = self.rows(places=[place_of(self.domain, label)])[0]
        return row

    def __iter__(self: Any) -> Iterator[Row]:
        return iter(self.rows())

    def __sub__(self: Any, other: Estimate) -> Differences:
        """The difference of every label; the estimates must come from separate reports."""
        from deniable.core.estimate import Estimate
        from deniable.derived.groups import Differences

        return Differences.of(self, other) if isinstance(other, Estimate) else NotImplemented

    def facts(self: Any, level: float = LEVEL) -> dict[str, Any]:
        """What there is to say about the estimate besides its rows, as plain data."""
        return {
            "n": self.n,
            "method": self.method,
            "target": self.target,
            "level": level,
            "unbiased": self.unbiased,
            "interval_note": self.interval_note,
            "simulated": self.simulated,
            "details": dict(self.details),
            "fingerprint": self.fingerprint,
        }

    def to_dict(self: Any, level: float = LEVEL, *, simultaneous: bool = False) -> dict[str, Any]:
        """Everything as plain data, as `deniable estimate --json` prints it."""
        rows = [row._asdict() for row in self.rows(level, simultaneous=simultaneous)]
        return {**self.facts(level), "simultaneous": simultaneous, "values": rows}

    def to_polars(self: Any, level: float = LEVEL, *, simultaneous: bool = False) -> Any:
        """A polars data frame: label, frequency, std_error, low, high, users."""
        try:
            import polars as pl
        except ImportError:
            raise MissingExtra("to_polars", "polars") from None
        return pl.from_arrow(self.to_arrow(level, simultaneous=simultaneous))

    def sum(self: Any, labels: Label | Iterable[Label], level: float = LEVEL) -> Quantity:
        """The share of users who have one of these labels."""
        from deniable.derived.shares import total

        return total(self, labels, level)

    def difference(
        self: Any, first: Label | Iterable[Label], second: Label | Iterable[Label], level: float = LEVEL
    ) -> Quantity:
        """The share of the first label minus that of the second."""
        from deniable.derived.shares import difference

        return difference(self, first, second, level)

    def ratio(
        self: Any, first: Label | Iterable[Label], second: Label | Iterable[Label], level: float = LEVEL
    ) -> Quantity:
        """The share of the first label divided by that of the second; the interval may have no upper limit."""
        from deniable.derived.shares import ratio

        return ratio(self, first, second, level)

    def mean(self: Any, level: float = LEVEL) -> Quantity:
        """The mean of the values, which must be whole numbers."""
        from deniable.derived.numbers import mean

        return mean(self, level)

    def variance(self: Any, level: float = LEVEL) -> Quantity:
        """The variance of the values among users, which must be whole numbers; not that of the estimate."""
        from deniable.derived.numbers import variance

        return variance(self, level)

    def cdf(self: Any, at: float, level: float = LEVEL) -> Quantity:
        """The share of users whose value, a whole number, is at most `at`."""
        from deniable.derived.numbers import distribution

        return distribution(self, at, level)

    def quantile(self: Any, share: float, level: float = LEVEL) -> Quantity:
        """The least whole number that at least this share of users does not exceed; 0.5 for the median."""
        from deniable.derived.numbers import quantile

        return quantile(self, share, level)

    def entropy(self: Any, level: float = LEVEL) -> Quantity:
        """The Shannon entropy of the values, in bits."""
        from deniable.derived.diversity import entropy

        return entropy(self, level)

    def distinct(self: Any, above: float, level: float = LEVEL) -> Quantity:
        """The number of values whose share is larger than `above`."""
        from deniable.derived.diversity import distinct

        return distinct(self, above, level)
