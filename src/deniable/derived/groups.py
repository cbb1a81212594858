"""Two or more estimates of the same labels: their difference, and a test that they are alike.

The estimates must come from separate reports, so that their noise is independent: other people, or other reports of
the same people. For the target "population" the people must be other ones, too, or the intervals are too wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.core.defaults import LEVEL, SHOWN
from deniable.core.display import brief
from deniable.core.domain import Label
from deniable.core.errors import InvalidArgument
from deniable.core.estimate import Estimate, Interval
from deniable.core.quantity import ABOUT, Quantity
from deniable.core.validate import strictly_between, whole
from deniable.derived.labels import place_of, sums_of


@dataclass(frozen=True, eq=False)
class Differences:
    """The frequencies of one estimate minus those of another, both unbiased, for every label.

    Intervals combine the intervals of the two estimates (Zou and Donner 2008, MOVER), so that they are as good at
    small counts as those.
    """

    first: Estimate
    second: Estimate
    _places: Indices  # of the labels in the second estimate

    @staticmethod
    def of(first: Estimate, second: Estimate) -> Differences:
        """first - second; the labels may be listed in another order."""
        if first is second:
            raise InvalidArgument("estimate", "be from other reports than the first", "the same estimate")
        check_targets([first, second])
        return Differences(first, second, places_in(first, second))

    def __len__(self) -> int:
        return len(self._places)

    @property
    def target(self) -> str:
        """What the errors refer to, as in the two estimates."""
        return self.first.target

    @property
    def values(self) -> Floats:
        """The difference of every label, in the order of the first estimate."""
        return self._parts(LEVEL, False)[0]

    @property
    def std_error(self) -> Floats:
        """The standard error of every difference."""
        return self._parts(LEVEL, False)[1]

    def interval(self, level: float = LEVEL, *, simultaneous: bool = False) -> Interval:
        """Confidence intervals at this level, for each label or for all labels at once."""
        return self._parts(strictly_between(0, 1, level=level), simultaneous)[2]

    def _parts(self, level: float, simultaneous: bool) -> tuple[Floats, Floats, Interval]:
        (a, error_a, ends_a), (b, error_b, ends_b) = (
            sums_of(each).rows(level, simultaneous) for each in (self.first, self.second)
        )
        b, error_b, low_b, high_b = (part[self._places] for part in (b, error_b, ends_b.low, ends_b.high))
        values = a - b
        low = values - np.hypot(a - ends_a.low, high_b - b)
        high = values + np.hypot(ends_a.high - a, b - low_b)
        return values, np.hypot(error_a, error_b), Interval(low, high)

    def __getitem__(self, label: Label) -> Quantity:
        return self._quantities(LEVEL, False, [place_of(self.first.domain, label)])[0]

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self.rows())

    def rows(self, level: float = LEVEL, *, simultaneous: bool = False) -> list[Quantity]:
        """The differences of all labels."""
        return self._quantities(level, simultaneous, range(len(self)))

    def largest(self, count: int = SHOWN, level: float = LEVEL) -> list[Quantity]:
        """The largest differences in units of their standard error; intervals hold for all labels at once."""
        values, errors, _ = self._parts(level, True)
        order = np.argsort(-np.abs(values) / np.maximum(errors, 1e-300), kind="stable")
        return self._quantities(level, True, order[: whole(1, count=count)])

    def _quantities(self, level: float, simultaneous: bool, places: Any) -> list[Quantity]:
        values, errors, (low, high) = self._parts(strictly_between(0, 1, level=level), simultaneous)
        note = "The interval holds for all labels at once." if simultaneous else ""
        return [
            Quantity(
                str(self.first.domain.label(int(at))),
                float(values[at]),
                float(errors[at]),
                float(low[at]),
                float(high[at]),
                level,
                self.target,
                note,
                percent=True,
            )
            for at in places
        ]

    def to_dict(self, level: float = LEVEL, *, simultaneous: bool = False) -> dict[str, Any]:
        """Everything as plain data."""
        rows = [each.to_dict() for each in self.rows(level, simultaneous=simultaneous)]
        return {"n": [self.first.n, self.second.n], "target": self.target, "level": level, "values": rows}

    @property
    def title(self) -> str:
        """One line: the numbers of reports, what the errors refer to, and what the intervals promise."""
        title = f"differences of {self.first.n:,} and {self.second.n:,} reports, about {ABOUT[self.target]}"
        return f"{title}; intervals hold for all labels at once"

    def __repr__(self) -> str:
        return brief(self, k=f"{len(self):,}", n=f"{self.first.n:,} and {self.second.n:,}", target=self.target)

    def _repr_html_(self) -> str:
        from deniable.cards.intervals import differences_card

        return differences_card(self)

    def __str__(self) -> str:
        lines = [str(each).rpartition(",")[0] + ")" for each in self.largest(SHOWN)]
        left = len(self) - len(lines)
        return "\n".join([self.title, *lines, *([f"... and {left:,} more"] if left else [])])


def check_targets(estimates: list[Estimate]) -> None:
    """Refuse estimates whose errors refer to different things."""
    targets = {each.target for each in estimates}
    if len(targets) > 1:
        raise InvalidArgument("estimates", "have the same target", sorted(targets), "Give estimate(..., target=...).")


def places_in(first: Estimate, second: Estimate) -> Indices:
    """The places of the first estimate's labels in the second, which must have the same labels."""
    if first.domain == second.domain:
        return np.arange(first.domain.k)
    labels, others = first.domain.all_labels(), second.domain.all_labels()
    if different := sorted(map(str, set(labels) ^ set(others))):
        raise InvalidArgument("estimates", "have the same labels", ", ".join(different[:5]))
    places = {label: place for place, label in enumerate(others)}
    return np.array([places[label] for label in labels])
