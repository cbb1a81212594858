"""The law of the summed log odds of several reports, and from it delta, rounded up throughout.

With the probability `moves`, a report moves the log odds of two values: by +epsilon, with probability e/(e + 1) under
the true one, or by -epsilon. Sums lie on multiples of a unit; where epsilons have no common one, each is rounded up to
a fine grid. What floating point may lose is added: `slack` to every sum, and the share `rounding` to every probability.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deniable.core.arrays import Floats

_LATTICE = 2**14  # points on each side of the grid of log odds
_ALIKE = 1e-12  # how far a multiple of the unit may be from an epsilon; the distance goes into the slack
_GRID_ROUNDING = 1e-9  # of a unit: what a quotient may be above a whole number and still be rounded down to it
_DOUBLE, _LONG = 2.0**-52, float(np.finfo(np.longdouble).eps)
_NEGLECTED = 1e-24  # added to delta, for probabilities too small to be numbers
_RARE = 1e-30  # numbers of moving reports that are rarer are taken for the worst


class Step(NamedTuple):
    """What one report does to the log odds of two values: it moves them by epsilon, or leaves them."""

    epsilon: float
    moves: float = 1.0  # the probability that it moves them, for the two values for which it is largest


@dataclass(frozen=True, eq=False)
class OddsLaw:
    """Probabilities of the multiples of a unit from -n to n; sums are at most `slack` above theirs."""

    chances: Floats
    unit: float
    slack: float
    rounding: float
    on_grid: bool = False  # epsilons were rounded up to multiples of the unit

    def delta(self, epsilon: float) -> float:
        """At least the mean of (1 - e^(epsilon - odds))_+."""
        odds = self.unit * (np.arange(len(self.chances)) - len(self.chances) // 2) + self.slack
        above = odds > epsilon
        mean = float((self.chances[above] * -np.expm1(epsilon - odds[above])).sum())
        return min(1.0, mean * (1 + self.rounding) + _NEGLECTED)


def odds_law(spent: Counter[Step]) -> OddsLaw:
    """The law of the sum, of so many reports of each kind."""
    total = math.fsum(step.epsilon * count for step, count in spent.items())
    epsilons = {step.epsilon for step in spent}
    unit, slack = min(epsilons), 4 * _DOUBLE * total
    apart = any(_apart(epsilon, unit) > _ALIKE for epsilon in epsilons)
    on_grid = len(epsilons) > 1 and (apart or total / unit > _LATTICE)
    if on_grid:
        unit = total / _LATTICE
        slack += 2 * _GRID_ROUNDING * unit * len(spent)
    else:
        distances = ((count, step.epsilon - round(step.epsilon / unit) * unit) for step, count in spent.items())
        slack += math.fsum(count * abs(distance) for count, distance in distances)
    chances, rounding = np.ones(1), 64 * _DOUBLE
    for step, count in sorted(spent.items()):
        one = _on_grid(_sums(step, count), step.epsilon / unit)
        # sums of products of positive numbers lose at most one rounding a term
        rounding += 2 * _DOUBLE * min(len(one), len(chances)) + 48 * count * _LONG
        # by direct products: transforms would drown small probabilities in rounding
        chances = np.asarray(np.convolve(chances, one))
    return OddsLaw(chances, unit, slack, rounding, on_grid)


def _apart(epsilon: float, unit: float) -> float:
    return abs(epsilon / unit - round(epsilon / unit))


def _on_grid(sums: Floats, units: float) -> Floats:
    """Probabilities of -n to n steps, of so many units each, as those of the multiples of the unit, rounded up."""
    steps = np.arange(len(sums)) - len(sums) // 2
    places = np.ceil(steps * units - _GRID_ROUNDING).astype(np.int64)
    size = int(np.abs(places).max())
    return np.asarray(np.bincount(places + size, sums, 2 * size + 1), np.float64)


def _sums(step: Step, count: int) -> Floats:
    """The probabilities of -count to count steps up, of so many reports together."""
    odds = np.exp(np.longdouble(step.epsilon))
    found = np.zeros(2 * count + 1, np.longdouble)
    if step.moves >= 1:
        found[::2] = _binomial(count, odds)
        return np.asarray(found, np.float64)
    number = _binomial(count, np.longdouble(step.moves) / (1 - np.longdouble(step.moves)))
    for moving in np.flatnonzero(number > _RARE).tolist():
        found[count - moving : count + moving + 1 : 2] += number[moving] * _binomial(moving, odds)
    found[-1] += number[number <= _RARE].sum()
    return np.asarray(found, np.float64)


def _binomial(count: int, odds: np.longdouble) -> npt.NDArray[np.longdouble]:
    """Bin(count, odds/(odds + 1)), by ratios of neighbours from the likeliest on; each ratio has four roundings."""
    middle = min(count, int((count + 1) * float(odds / (odds + 1))))
    ups = np.arange(count, dtype=np.longdouble)
    ratios = (count - ups) / (ups + 1) * odds  # Pr[u + 1] / Pr[u]
    above, below = np.cumprod(ratios[middle:]), np.cumprod(1 / ratios[:middle][::-1])[::-1]
    weights = np.concatenate([below, np.ones(1, np.longdouble), above])
    return np.asarray(weights / weights.sum())
