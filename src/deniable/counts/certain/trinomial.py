"""Weights for functions of the total of many noisy counts: all neighbours with the same total share one weight.

The weights of the totals are the coefficients of z^m in (1 + 2a - a (z + 1/z))^d, for m = -d, ..., d. They grow like
(1 + 4a)^d and alternate in sign, so everything here is computed in balls.

Reference: Lemma 22 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from operator import add, mul
from typing import Any

from deniable.core.extras import needed
from deniable.counts.certain.balls import ball
from deniable.counts.noise import DiscreteLaplace

Balls = list[Any]


def volumes(d: int, noise: DiscreteLaplace) -> Balls:
    """V_d(m) for m = -d, ..., d: the total signed weight of the neighbours of d counts whose steps add up to m."""
    with needed():
        import flint

    a = ball(noise.a)
    coefficients = (flint.arb_poly([-a, 1 + 2 * a, -a]) ** d).coeffs()
    return [*coefficients, *[ball(0)] * (2 * d + 1 - len(coefficients))]


def digits(d: int, noise: DiscreteLaplace) -> int:
    """The number of binary digits that cancel in sums with these weights."""
    return math.ceil(d * math.log2(1 + 4 * float(noise.a)))


class TotalTable:
    """A function of the total, tabulated at all totals within reach.

    `values[i]` is the function at (total - reach + i).
    """

    def __init__(self, values: Sequence[Any], reach: int) -> None:
        self.values = list(values)
        self.reach = reach

    def __mul__(self, other: TotalTable) -> TotalTable:
        return TotalTable(list(map(mul, self.values, other.values)), self.reach)

    def around(self, weights: Balls, step: int = 0) -> Any:
        """The sum over m of V(m) g(total + step + m)."""
        d = len(weights) // 2
        start = self.reach + step - d
        return dot(weights, self.values[start : start + len(weights)])


def dot(left: Sequence[Any], right: Sequence[Any]) -> Any:
    """The sum of products."""
    return reduce(add, map(mul, left, right), ball(0))
