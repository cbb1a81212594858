"""Polynomials in several counts: monomials as products, with an unbiased variance computed without cancellation.

Reference: Theorem 14 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice
from deniable.counts.answer import PLUG_IN_VARIANCE, Answer, settle
from deniable.counts.certain.joint_error import simulated_moments
from deniable.counts.continuous.noises import discrete_moment
from deniable.counts.moments import plain
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.operator.separable import ROUNDING
from deniable.counts.questions.sums import MAX_POWER, real_numbers
from deniable.counts.release import as_release
from deniable.counts.whole import fits_floats

Terms = list[tuple[float, tuple[int, ...]]]

MAX_TERMS = 200


def polynomial(
    data: Any,
    terms: Mapping[Any, float],
    *,
    reduce: str = "sum",
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """A polynomial in several counts, without bias: of a vector of counts, or summed over the rows of a matrix.

    `terms` maps powers, one per count, to coefficients: {(2, 0): 3.0, (1, 1): -1.0} is 3 x_1^2 - x_1 x_2. `reduce` is
    "none" (one answer per row), "sum" or "mean".

    Formula: x_1^i x_2^j ... becomes the product of the unbiased powers,
    y^p - 2a (C(p, 2) y^(p-2) + C(p, 4) y^(p-4) + ...).
    Cost: linear in the rows, quadratic in the terms.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0).release([3, 8], seed=1)
    >>> dn.ask.polynomial(noisy, {(1, 1): 1.0}).unbiased
    True
    """
    release = as_release(data, epsilon, sensitivity)
    choice(("none", "sum", "mean"), reduce=reduce)
    if release.values.ndim not in (1, 2) or not fits_floats(release.values):
        raise InvalidArgument("data", "be a vector or a matrix of counts below 2^53", release.shape)
    y = np.atleast_2d(release.values).astype(np.float64)
    checked = _checked(terms, y.shape[1])
    noise = release.noise
    with np.errstate(over="ignore", invalid="ignore"):
        value, naive, size = _values(checked, y, float(noise.a))
        variance = _variance(checked, y, float(noise.a))
    if not np.isfinite(size).all():
        raise InvalidArgument("terms", "have values at these counts that floats can hold", "an overflow")
    variance[~np.isfinite(variance)] = math.inf
    notes: tuple[str, ...] = ()
    wrong = variance < 0
    if wrong.any():
        variance[wrong] = _plug_in(checked, y[wrong], noise)
        notes = (f"in {int(wrong.sum()):,} of {len(y):,} rows {PLUG_IN_VARIANCE}",)

    def reduced(parts: Floats, power: int = 1) -> Any:
        if reduce == "none":
            return parts if release.values.ndim == 2 else parts[0]
        return parts.sum() / (1 if reduce == "sum" else len(parts) ** power)

    def both(values: Numbers) -> tuple[Any, Any]:
        unbiased, plainly, _ = _values(checked, np.atleast_2d(values).astype(np.float64), float(noise.a))
        return reduced(unbiased), reduced(plainly)

    largest = float(np.max(reduced(size)))
    answer = Answer(
        question="polynomial in the counts",
        value=plain(reduced(value)),
        std_error=plain(np.sqrt(reduced(variance, 2))),
        naive=plain(reduced(naive)),
        width=largest * ROUNDING * MAX_POWER,
        factor=theorem_5_factor(noise, y.shape[1]),
        scale=largest or math.inf,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: simulated_moments(both, release, reduced(naive)),
        notes=notes,
    )
    return settle(answer, best)


def _checked(terms: Mapping[Any, float], width: int) -> Terms:
    if not isinstance(terms, Mapping) or not 1 <= len(terms) <= MAX_TERMS:
        raise InvalidArgument("terms", f"map powers to coefficients, 1 to {MAX_TERMS} of them", terms)
    found = []
    for powers, coefficient in terms.items():
        given = (powers,) if isinstance(powers, int) else powers
        whole = isinstance(given, tuple) and all(
            isinstance(p, (int, np.integer)) and 0 <= p <= MAX_POWER for p in given
        )
        if not whole or len(given) != width:
            raise InvalidArgument("terms", f"have {width} powers each, whole numbers from 0 to {MAX_POWER}", powers)
        number = real_numbers([coefficient], "coefficients of terms")[0]
        found.append((number, tuple(int(p) for p in given)))
    return found


def unbiased_power(y: Floats, power: int, a: float) -> Floats:
    """The unbiased x^power: y^p minus a times the second difference, term by term."""
    return y**power - a * second_difference(y, power)


def second_difference(y: Floats, power: int) -> Floats:
    """(y + 1)^p - 2 y^p + (y - 1)^p = 2 (C(p, 2) y^(p-2) + C(p, 4) y^(p-4) + ...)."""
    out = np.zeros_like(y)
    for i in range(2, power + 1, 2):
        out += 2 * math.comb(power, i) * y ** (power - i)
    return out


def _difference(y: Floats, power: int, step: int) -> Floats:
    """(y + step)^p - y^p."""
    out = np.zeros_like(y)
    for i in range(1, power + 1):
        out += math.comb(power, i) * step**i * y ** (power - i)
    return out


def covariance_term(y: Floats, p: int, r: int, a: float) -> Floats:
    """L(x^p) L(x^r) - L(x^(p+r)), an unbiased estimate of a covariance, computed without cancellation."""
    # a^2 D_p D_r + a (up_p up_r + down_p down_r)
    second = second_difference(y, p) * second_difference(y, r)
    return a * a * second + a * sum(_difference(y, p, step) * _difference(y, r, step) for step in (1, -1))


def _values(terms: Terms, y: Floats, a: float) -> tuple[Floats, Floats, Floats]:
    value, naive, size = (np.zeros(len(y)) for _ in range(3))
    for coefficient, powers in terms:
        ours, plainly = np.full(len(y), coefficient), np.full(len(y), coefficient)
        for column, p in zip(y.T, powers, strict=True):
            ours, plainly = ours * unbiased_power(column, p, a), plainly * column**p
        value, naive, size = value + ours, naive + plainly, size + np.abs(plainly) + np.abs(ours)
    return value, naive, size


def _variance(terms: Terms, y: Floats, a: float) -> Floats:
    """f_hat^2 - L(f^2) of every row."""
    total = np.zeros(len(y))
    for i, (one, powers) in enumerate(terms):
        for j, (other, rest) in enumerate(terms[: i + 1]):
            part = _pair(y, powers, rest, a)
            total += one * other * part * (1 if i == j else 2)
    return total


def _pair(y: Floats, powers: tuple[int, ...], rest: tuple[int, ...], a: float) -> Floats:
    """prod A - prod B over counts, A = L(x^p) L(x^r), B = L(x^(p+r)), as sum of B ... B (A - B) A ... A."""
    columns = list(zip(y.T, powers, rest, strict=True))
    after = [np.ones(len(y))]
    for column, p, r in reversed(columns):
        after.append(after[-1] * unbiased_power(column, p, a) * unbiased_power(column, r, a))
    total, before = np.zeros(len(y)), np.ones(len(y))
    for (column, p, r), behind in zip(columns, reversed(after[:-1]), strict=True):
        total += before * covariance_term(column, p, r, a) * behind
        before = before * unbiased_power(column, p + r, a)
    return total


def _plug_in(terms: Terms, y: Floats, noise: DiscreteLaplace) -> Floats:
    """The variance if these counts were the true ones, from the moments of the noise."""
    a = float(noise.a)
    most = 2 * max(p for _, powers in terms for p in powers)
    moments = [float(discrete_moment(noise.q, i)) for i in range(most + 1)]

    def mean_product(column: Floats, p: int, r: int) -> Floats:
        out = np.zeros_like(column)
        for i, m in enumerate(moments[: p + r + 1]):
            if m:
                # E g(x + Z) = sum over i of g^(i)(x) E[Z^i]/i!, for the polynomial g = L(x^p) L(x^r)
                out += m / math.factorial(i) * _derivative(p, r, i, a)(column)
        return out

    total = np.zeros(len(y))
    for one, powers in terms:
        for other, rest in terms:
            product, plainly = np.ones(len(y)), np.ones(len(y))
            for column, p, r in zip(y.T, powers, rest, strict=True):
                product, plainly = product * mean_product(column, p, r), plainly * column ** (p + r)
            total += one * other * (product - plainly)
    return np.maximum(total, 0.0)


def _derivative(p: int, r: int, times: int, a: float) -> np.polynomial.Polynomial:
    both = np.polynomial.Polynomial([1.0])
    for power in (p, r):
        coefficients = np.zeros(power + 1)
        coefficients[power] = 1.0
        for i in range(2, power + 1, 2):
            coefficients[power - i] -= 2 * a * math.comb(power, i)
        both = both * np.polynomial.Polynomial(coefficients)
    return both.deriv(times) if times else both
