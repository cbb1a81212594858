"""Shares of groups of labels: sums, differences and ratios.

The interval of a sum inverts the score test, as that of a single value does. A difference is normal. The interval of
a ratio is Fieller's: all r for which a - r b is not significantly different from 0, whatever the precision of b.

Reference: Fieller 1954 (confidence sets for ratios).
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from deniable.core.estimate import Estimate
from deniable.core.quantity import Quantity
from deniable.core.validate import strictly_between
from deniable.derived.labels import Group, members_of, note_on, sums_of


def quantile_of_level(level: float) -> float:
    """z: a normal number is within z standard deviations with this probability."""
    return NormalDist().inv_cdf((1 + strictly_between(0, 1, level=level)) / 2)


def around(estimate: Estimate, value: float, margin: float, least: float, most: float) -> tuple[float, float, float]:
    """A value with the ends of its interval.

    Where the estimate is constrained, the value is first moved to what is possible, from `least` to `most`, and the
    interval is cut to it. That only adds coverage.
    """
    if estimate.unbiased:
        return value, value - margin, value + margin
    value = min(max(value, least), most)
    return value, max(value - margin, least), min(value + margin, most)


def total(estimate: Estimate, labels: Group, level: float) -> Quantity:
    """The share of users with one of these labels."""
    strictly_between(0, 1, level=level)
    members, name = members_of(estimate.domain, labels)
    value, error, low, high = sums_of(estimate).share(members, level, inside=not estimate.unbiased)
    note = note_on(estimate, float(estimate.frequencies[members].sum()), percent=True)
    return Quantity(name, value, error, low, high, level, estimate.target, note, percent=True)


def difference(estimate: Estimate, first: Group, second: Group, level: float) -> Quantity:
    """The share of the first group minus that of the second."""
    z = quantile_of_level(level)
    (a, name), (b, other) = (members_of(estimate.domain, group) for group in (first, second))
    weights = a.astype(np.float64) - b
    sums = sums_of(estimate)
    error = math.sqrt(sums.variance(weights))
    value, low, high = around(estimate, sums.value(weights), z * error, -1.0, 1.0)
    note = note_on(estimate, float(weights @ estimate.frequencies), percent=True)
    return Quantity(f"{name} - {other}", value, error, low, high, level, estimate.target, note, percent=True)


def ratio(estimate: Estimate, first: Group, second: Group, level: float) -> Quantity:
    """The share of the first group divided by that of the second."""
    z = quantile_of_level(level)
    (in_first, name), (in_second, other) = (members_of(estimate.domain, group) for group in (first, second))
    top, bottom = in_first.astype(np.float64), in_second.astype(np.float64)
    sums = sums_of(estimate)
    a, b = sums.value(top), sums.value(bottom)
    var_a, var_b = sums.variance(top), sums.variance(bottom)
    covariance = (var_a + var_b - sums.variance(top - bottom)) / 2
    low, high = fieller(a, b, var_a, var_b, covariance, z)
    value = a / b if b > 0 else math.nan
    error = math.sqrt(max(var_a - 2 * value * covariance + value**2 * var_b, 0.0)) / b if b > 0 else math.inf
    notes = [note_on(estimate)]
    if math.isinf(high):
        notes.append(f"The share of {other} may be 0, so the ratio has no upper limit.")
    if not estimate.unbiased:
        value = max(value, 0.0)
    note = " ".join(filter(None, notes))
    return Quantity(f"({name}) / ({other})", value, error, low, high, level, estimate.target, note)


def fieller(a: float, b: float, var_a: float, var_b: float, covariance: float, z: float) -> tuple[float, float]:
    """The least and the largest ratio r >= 0 with (a - r b)^2 <= z^2 Var(a - r b); the largest may be infinite.

    Where the set has two parts, with a gap between them, the ends are those of both parts together.
    """
    # A r^2 - 2 B r + C <= 0
    leading, middle, last = b * b - z * z * var_b, a * b - z * z * covariance, a * a - z * z * var_a
    discriminant = middle * middle - leading * last
    if leading > 0:
        root = math.sqrt(max(discriminant, 0.0))
        return max(0.0, (middle - root) / leading), max(0.0, (middle + root) / leading)
    if discriminant <= 0 or leading == 0:
        return 0.0, math.inf
    # all r but those between the two roots; what is below 0 cannot be
    ends = sorted((middle + sign * math.sqrt(discriminant)) / leading for sign in (1, -1))
    return (max(0.0, ends[1]) if ends[0] < 0 else 0.0), math.inf
