"""Symmetric polynomials in the counts: sums over pairs, triples and more, and powers of sums.

A product over different counts is estimated by the product of unbiased factors (Theorem 14 of Hillebrand et al. 2026);
the sums over all such products are coefficients of a product of small polynomials, one per count.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.counts.answer import Answer, settle
from deniable.counts.certain.joint_error import NEGATIVE, Pair, simulated_moments, variance_of
from deniable.counts.operator.debias import admissible, theorem_5_factor
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import is_endless
from deniable.counts.operator.separable import ROUNDING
from deniable.counts.release import Release, as_release
from deniable.counts.whole import fits_floats

MAX_ORDER = 8


def power_of_sum(
    data: Any,
    f: Any,
    power: int = 2,
    *,
    below: Any = None,
    slope: float = 1.0,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
    question: str | None = None,
) -> Answer:
    """Estimate (f(x_1) + ... + f(x_n))^power without bias, for a power up to 8.

    Formula: power! times the coefficient of t^power in the product over i of the sum over j of L(f^j)(y_i) t^j/j!,
    since the product of e^(t f(x_i)) is e^(t sum).
    The terms are taken relative to f(y), so that little cancels. Cost: n power^2.
    """
    release = as_release(data, epsilon, sensitivity)
    power = whole(1, MAX_ORDER, power=power)
    function = Function.of(f, below)
    growth = admissible(Function.of(lambda x: np.asarray(function(x), np.float64) ** power), release.noise)
    if not fits_floats(release.values):
        raise InvalidArgument("data", "be counts below 2^53", "larger counts")

    def both(values: Numbers) -> tuple[float, float]:
        found, at = _series(function, Release(values, release.noise), power)
        return slope * (at**power + _shifted(found, at, power)), slope * at**power

    series, here = _series(function, release, 2 * power)
    naive = here**power
    # moments of u = sum - here give those of F = (u + here)^power, of F - naive and of F^2 - naive^2
    value, square = (_shifted(series, here, p) for p in (power, 2 * power))
    squared = square - 2 * naive * value  # (F - naive)^2 = F^2 - naive^2 - 2 naive (F - naive)
    variance, estimated = variance_of(Pair(value, squared))
    if is_endless(growth, release.noise.rate):
        variance, estimated = math.inf, True
    scale = abs(naive) + abs(naive + value)
    answer = Answer(
        question=question or f"power {power} of a sum",
        value=slope * (naive + value),
        std_error=abs(slope) * math.sqrt(variance),
        naive=slope * naive,
        width=abs(slope) * (scale + abs(value)) * ROUNDING * release.size,
        factor=theorem_5_factor(release.noise, release.size),
        scale=abs(slope) * scale or math.inf,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: simulated_moments(both, release, slope * naive),
        notes=() if estimated else (NEGATIVE,),
    )
    return settle(answer, best)


def triangles(
    data: Any,
    edges: int,
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The expected number of triangles in a random graph with these degrees and a public number of edges.

    (sum of x (x - 1))^3 / (6 (2 edges)^3), the expectation in the configuration model up to terms of lower order: a
    baseline for the number of triangles in the true graph.
    """
    m = whole(1, edges=edges)
    return power_of_sum(
        data,
        lambda x: x * (x - 1),
        3,
        slope=1 / (6 * (2.0 * m) ** 3),
        epsilon=epsilon,
        sensitivity=sensitivity,
        best=best,
        question="triangles expected from degrees",
    )


def _series(function: Function, release: Release, order: int) -> tuple[Floats, float]:
    """Return the product of the debiased series e^(t (f(x_i) - f(y_i))) over all counts, and the sum of f(y_i)."""
    flat = release.values.reshape(-1)
    distinct, counts = np.unique(flat, return_counts=True)
    a = float(release.noise.a)
    down, here, up = function.around(distinct.astype(np.float64))
    # L((f - f(y))^j)(y) = -a ((f(y+1) - f(y))^j + (f(y-1) - f(y))^j), j >= 1
    lower, upper = down - here, up - here
    series = np.zeros(order + 1)
    series[0] = 1.0
    for low, high, many in zip(lower, upper, counts, strict=True):
        one = np.array([1.0, *(-a * (high**j + low**j) / math.factorial(j) for j in range(1, order + 1))])
        series = _multiply(series, _power(one, int(many), order), order)
    return series, math.fsum(counts * here)


def _shifted(series: Floats, here: float, power: int) -> float:
    """The unbiased (u + here)^power - here^power."""
    # sum over j >= 1 of C(power, j) here^(power - j) times the unbiased u^j, which is j! times coefficient j
    return math.fsum(
        math.comb(power, j) * here ** (power - j) * math.factorial(j) * float(series[j]) for j in range(1, power + 1)
    )


def _multiply(left: Floats, right: Floats, order: int) -> Floats:
    return np.convolve(left, right)[: order + 1]


def _power(series: Floats, exponent: int, order: int) -> Floats:
    found = np.zeros(order + 1)
    found[0] = 1.0
    while exponent:
        if exponent & 1:
            found = _multiply(found, series, order)
        series = _multiply(series, series, order)
        exponent >>= 1
    return found
