"""Named sums over all counts: totals, moments, stars of a graph, polynomials in degrees, partition functions.

Reference: sections 6, E.1 and E.3 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice, whole
from deniable.counts.answer import Answer
from deniable.counts.operator.function import Function
from deniable.counts.operator.separable import check_axis, sum_answer
from deniable.counts.release import as_release

MAX_POWER = 64


def total(
    data: Any,
    *,
    axis: int | None = None,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The sum of the counts."""
    release = as_release(data, epsilon, sensitivity)
    return sum_answer("sum of the counts", Function.of(lambda x: x), release, axis=axis, best=best)


def moment(
    data: Any,
    power: int = 2,
    *,
    reduce: str = "mean",
    axis: int | None = None,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The mean (or sum) of the counts raised to a power."""
    release = as_release(data, epsilon, sensitivity)
    power = whole(0, MAX_POWER, power=power)
    mean = choice(("mean", "sum"), reduce=reduce) == "mean"
    check_axis(axis, release)
    many = release.size if axis is None else release.shape[axis]
    name = f"{reduce} of x^{power}"
    rule = Function.of(lambda x: x**power)
    return sum_answer(name, rule, release, axis=axis, slope=1 / many if mean else 1.0, best=best)


def stars(
    data: Any,
    k: int = 2,
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The number of k-stars of a graph whose degrees are the counts: the sum of C(x, k).

    Below zero C(x, k) is extended by the polynomial x (x - 1) ... (x - k + 1)/k!. One edge changes two degrees by one:
    the sensitivity is 2 if one party publishes all degrees, and 1 if every node publishes its own.
    """
    release = as_release(data, epsilon, sensitivity)
    k = whole(1, MAX_POWER, k=k)

    def choose(x: Any) -> Any:
        product = x * 1
        for i in range(1, k):
            product = product * (x - i)
        return product // math.factorial(k) if product.dtype == object else product / math.factorial(k)

    return sum_answer(f"{k}-stars", Function.of(choose), release, best=best)


def degree_polynomial(
    data: Any,
    coefficients: Sequence[float],
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The sum over all counts of c_0 + c_1 x + c_2 x^2 + ..., with the coefficients starting at c_0."""
    release = as_release(data, epsilon, sensitivity)
    numbers = real_numbers(coefficients, "coefficients")
    if not 1 <= len(numbers) <= MAX_POWER:
        raise InvalidArgument("coefficients", f"be 1 to {MAX_POWER} numbers", coefficients)

    def horner(x: Any) -> Any:
        exact = [Fraction(number) for number in numbers] if x.dtype == object else numbers
        value = x * 0 + exact[-1]
        for number in reversed(exact[:-1]):
            value = value * x + number
        return value

    return sum_answer("sum of a polynomial", Function.of(horner), release, best=best)


def partition(
    data: Any,
    beta: float,
    *,
    below: Any = "f",
    axis: int | None = None,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The partition function Z(beta): the sum of e^(beta x) over all counts.

    The answer is lambda times the naive sum, lambda = 1 - a (e^beta - 2 + e^-beta). It exists only for
    |beta| < log(1/q), and its standard error for half of that. A negative beta beyond this limit needs
    `below="constant"`, which is harmless because counts are not negative.
    """
    release = as_release(data, epsilon, sensitivity)
    rate = real_numbers([beta], "beta")[0]
    rule = Function.of(lambda x: np.exp(rate * x.astype(np.float64)), below)
    return sum_answer(f"partition function at {rate:g}", rule, release, axis=axis, best=best)


def real_numbers(given: Any, name: str) -> list[float]:
    """Return a flat list of finite numbers."""
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InvalidArgument(name, "be finite numbers", given) from None
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InvalidArgument(name, "be a list of finite numbers", given)
    return [float(number) for number in array]
