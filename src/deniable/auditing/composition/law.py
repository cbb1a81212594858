"""The law of the summed log odds of several reports, and from it delta, rounded up throughout.

A report moves the log odds of two values by +epsilon, with probability e/(e + 1) under the true one, or by -epsilon.
Sums lie on multiples of a unit; where epsilons have no common one, each is rounded up to a fine grid. What floating
point may lose is added: `slack` to every sum, and the share `rounding` to every probability.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats

_LATTICE = 2**14  # points on each side of the grid of log odds
_ALIKE = 1e-12  # how far a multiple of the unit may be from an epsilon; the distance goes into the slack
_GRID_ROUNDING = 1e-9  # of a unit: what a quotient may be above a whole number and still be rounded down to it
_DOUBLE, _LONG = 2.0**-52, float(np.finfo(np.longdouble).eps)
_NEGLECTED = 1e-24  # added to delta, for probabilities too small to be numbers


@dataclass(frozen=True, eq=False)
class OddsLaw:
    """Probabilities of the multiples of a unit from -n to n; sums are at most `slack` above theirs."""

    chances: Floats
    unit: float
    slack: float
    rounding: float

    def delta(self, epsilon: float) -> float:
        """At least the mean of (1 - e^(epsilon - odds))_+."""
        odds = self.unit * (np.arange(len(self.chances)) - len(self.chances) // 2) + self.slack
        above = odds > epsilon
        mean = float((self.chances[above] * -np.expm1(epsilon - odds[above])).sum())
        return min(1.0, mean * (1 + self.rounding) + _NEGLECTED)


def odds_law(spent: Counter[float]) -> OddsLaw:
    """The law of the sum, of so many reports of each epsilon."""
    total = math.fsum(epsilon * count for epsilon, count in spent.items())
    unit, slack = min(spent), 4 * _DOUBLE * total
    if len(spent) > 1 and (total / unit > _LATTICE or any(_apart(epsilon, unit) > _ALIKE for epsilon in spent)):
        unit = total / _LATTICE
        slack += 2 * _GRID_ROUNDING * unit * len(spent)
    else:
        slack += math.fsum(count * abs(epsilon - round(epsilon / unit) * unit) for epsilon, count in spent.items())
    chances, rounding = np.ones(1), 64 * _DOUBLE
    for epsilon, count in sorted(spent.items()):
        one = _steps(epsilon, count, unit)
        # sums of products of positive numbers lose at most one rounding a term
        rounding += 2 * _DOUBLE * min(len(one), len(chances)) + 16 * count * _LONG
        # by direct products: transforms would drown small probabilities in rounding
        chances = np.asarray(np.convolve(chances, one))
    return OddsLaw(chances, unit, slack, rounding)


def _apart(epsilon: float, unit: float) -> float:
    return abs(epsilon / unit - round(epsilon / unit))


def _steps(epsilon: float, count: int, unit: float) -> Floats:
    """The law of `count` steps of one report each, from -n to n units."""
    downs = count - 2 * np.arange(count + 1)  # steps down less steps up
    places = np.ceil(-downs * (epsilon / unit) - _GRID_ROUNDING).astype(np.int64)
    size = int(np.abs(places).max())
    return np.asarray(np.bincount(places + size, _binomial(count, epsilon), 2 * size + 1), np.float64)


def _binomial(count: int, epsilon: float) -> Floats:
    """Bin(count, e/(e + 1)), by ratios of neighbours from the likeliest number on; each ratio has four roundings."""
    odds = np.exp(np.longdouble(epsilon))
    middle = min(count, int((count + 1) * float(odds / (odds + 1))))
    ups = np.arange(count, dtype=np.longdouble)
    ratios = (count - ups) / (ups + 1) * odds  # Pr[u + 1] / Pr[u]
    above, below = np.cumprod(ratios[middle:]), np.cumprod(1 / ratios[:middle][::-1])[::-1]
    weights = np.concatenate([below, np.ones(1, np.longdouble), above])
    return np.asarray(weights / weights.sum(), np.float64)
