"""Settings of a grid as evidence: how each speaks about a claim, and which difference it could have shown.

A setting speaks for or against a claim when Student's test says so; otherwise it is open, and supports nothing. A claim
about all settings holds if each speaks for it, so each is tested at 1% (an intersection-union test); it is contradicted
if any speaks against it, at 1% shared among the settings (Bonferroni). Either way, a wrong verdict has a chance of at
most 1%. The power of a setting is the smallest difference that its test finds with a probability of 90%, computed from
the scatter of its own runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from deniable.core.arrays import Floats
from papers.frame.rows import Rows

WRONG = 0.01  # probability of a wrong verdict, either way
DETECTED = 0.9  # probability with which the stated difference is found
TOLERANCE = 0.02  # where a claim has no margin of its own, this share of the larger mean counts as no difference
_ROUNDING = 1e-9


class State(IntEnum):
    """What a setting says of a claim; `min` is the logical and of several, `max` the or."""

    AGAINST = -1
    OPEN = 0
    FOR = 1


@dataclass(frozen=True)
class Levels:
    """The levels at which each comparison is tested in favour of a claim, and against it."""

    in_favour: float
    against: float


def levels(tests: int, *, looks: int = 1) -> Levels:
    """The levels if one of `tests` against a claim contradicts it, and the best of `looks` speaks for a setting."""
    return Levels(WRONG / looks, WRONG / max(tests, 1))


@dataclass(frozen=True)
class Difference:
    """A mean difference in favour of a claim, its standard error, and the freedom of that error.

    `near` is the difference against the claim that counts as none, and `scale` that of which differences are shares.
    """

    mean: float
    error: float
    freedom: int
    near: float = 0.0
    scale: float = 1.0

    def state(self, levels: Levels) -> State:
        """What the difference says of the claim; of one run it says nothing."""
        if self.freedom == 0:
            return State.OPEN
        if self.mean + self.error * critical(levels.against, self.freedom) < 0:
            return State.AGAINST
        lowest = self.mean - self.error * critical(levels.in_favour, self.freedom)
        return State.FOR if lowest >= -self.near else State.OPEN

    def detectable(self, levels: Levels) -> float:
        """The smallest difference against the claim, as a share of the scale, that the test finds in 90% of cases."""
        from scipy.special import nctdtrinc

        if self.freedom == 0:
            return math.inf
        if self.error == 0:
            return 0.0
        away = float(nctdtrinc(self.freedom, 1 - DETECTED, critical(levels.against, self.freedom)))
        return away * self.error / self.scale


def critical(level: float, freedom: int) -> float:
    """The number of standard errors that Student's distribution exceeds with this probability."""
    from scipy.special import stdtrit

    return float(-stdtrit(freedom, level))


def difference(values: Floats, *, near: float = 0.0, scale: float = 1.0) -> Difference:
    """Return the mean of some numbers with its standard error."""
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    if abs(mean) <= _ROUNDING * scale and error <= _ROUNDING * scale:
        mean = error = 0.0
    return Difference(mean, error, len(values) - 1, near, scale)


def below(group: Rows, metric: str, among: str, low: str, high: str, slack: float = 0.0) -> Difference:
    """Compare two methods in one setting, paired by seed: by how much `low` lies below `high` times 1 + slack."""
    small, large = (group.where(**{among: name}) for name in (low, high))
    paired = {row.get("seed"): row[metric] for row in small}
    both = [(paired[row.get("seed")], row[metric]) for row in large if row.get("seed") in paired]
    if not both:
        return Difference(0.0, 0.0, 0)
    one, other = np.array(both, float).T
    scale = float(np.abs(other).mean()) or 1.0
    return difference(other * (1 + slack) - one, near=0.0 if slack else TOLERANCE * scale, scale=scale)


@dataclass(frozen=True)
class Setting:
    """One setting of the grid: its description, what it says of the claim, and what it could have shown."""

    name: str
    state: State
    detectable: float
    ratio: float = math.nan  # the larger it is, the worse for the claim
    other: str = ""  # the method that the ratio is of


def counted(settings: Sequence[Setting]) -> dict[State, int]:
    """The number of settings in each state."""
    return {state: sum(each.state == state for each in settings) for state in State}


def median_and_largest(values: Iterable[float]) -> tuple[float, float]:
    """The median and the largest of some numbers."""
    found = sorted(values)
    return float(np.median(found)), found[-1]
