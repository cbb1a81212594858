"""Entropy, and the number of values above a share.

Both depend on every frequency, and noise moves a plain estimate of them by more than its standard error. So they
are answered from intervals that contain all frequencies at once: the least and the largest answer that any
distribution inside them has. Where every value is far above its noise, the entropy is smooth enough for a normal
interval, which is shorter.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.estimate import Estimate
from deniable.core.quantity import Quantity
from deniable.core.validate import strictly_between
from deniable.derived.labels import note_on, sums_of
from deniable.derived.shares import quantile_of_level

_CLEAR = 5.0  # standard errors above 0 at which every value must be for the normal interval
_FROM_ALL = "The interval has every answer that the intervals of all values at once allow."


def entropy(estimate: Estimate, level: float) -> Quantity:
    """The Shannon entropy of the values, in bits."""
    z = quantile_of_level(level)
    sums = sums_of(estimate)
    found, errors, _ = sums.rows(level, False)
    if (found >= _CLEAR * errors).all():
        return _normal_entropy(estimate, z, level)
    low, high = (np.clip(ends, 0.0, 1.0) for ends in estimate.interval(level, simultaneous=True))
    ends = least_entropy(low, high), largest_entropy(low, high)
    positive = np.maximum(estimate.frequencies, 0.0)
    value = min(max(float(_terms(positive / max(positive.sum(), 1e-300)).sum()), ends[0]), ends[1])
    note = f"The value is that of the frequencies by {estimate.method}, which noise moves. {_FROM_ALL}"
    return Quantity("entropy in bits", value, None, *ends, level, estimate.target, note)


def _normal_entropy(estimate: Estimate, z: float, level: float) -> Quantity:
    sums = sums_of(estimate)
    shares = sums.frequencies
    errors = sums.rows(level, False)[1]
    # second order: E[-f^ log f^] = -f log f - Var/(2 f)
    value = float((_terms(shares) + errors**2 / (2 * shares * math.log(2))).sum())
    # Var of the second-order term is at most (sum Var/f)^2/2, for any correlations
    error = math.hypot(
        math.sqrt(sums.variance(-np.log2(shares))), float((errors**2 / shares).sum()) / (math.sqrt(2) * math.log(2))
    )
    low, high = max(value - z * error, 0.0), min(value + z * error, math.log2(len(shares)))
    value = min(max(value, low), high)
    return Quantity("entropy in bits", value, error, low, high, level, estimate.target, note_on(estimate))


def distinct(estimate: Estimate, above: float, level: float) -> Quantity:
    """The number of values whose share is larger than `above`."""
    above = strictly_between(0, 1, above=above)
    low, high = estimate.interval(level, simultaneous=True)
    # m values above a share have more than m times that share together
    most = min(int((high > above).sum()), math.ceil(1 / above) - 1)
    least = min(int((low > above).sum()), most)
    value = min(max(int((estimate.frequencies > above).sum()), least), most)
    note = f"The value counts the frequencies by {estimate.method}. {_FROM_ALL}"
    return Quantity(f"values above {above:.3g}", value, None, least, most, level, estimate.target, note)


def _terms(shares: Floats) -> Floats:
    """-f log2 f, and 0 for 0."""
    return np.asarray(-shares * np.log2(np.where(shares > 0, shares, 1.0)))


def largest_entropy(low: Floats, high: Floats) -> float:
    """The largest entropy of a distribution with low <= f <= high: as even as the limits allow."""
    below, above = 0.0, 1.0  # f = clip(t, low, high) for the t at which the sum is 1
    for _ in range(60):
        middle = (below + above) / 2
        below, above = (middle, above) if np.clip(middle, low, high).sum() < 1 else (below, middle)
    return min(float(_terms(np.clip(above, low, high)).sum()), math.log2(len(low)))


def least_entropy(low: Floats, high: Floats) -> float:
    """A lower limit of the entropy of a distribution with low <= f <= high.

    Each term -f log f is at least its chord between the limits. The chords are least where the values of the least
    slope have all that the limits allow: at most one value is then between its limits, so that little is lost.
    """
    width = np.maximum(high - low, 0.0)
    first = _terms(low)
    slopes = (_terms(high) - first) / np.where(width > 0, width, 1.0)
    order = np.argsort(slopes)
    left = max(1 - float(low.sum()), 0.0)
    given = np.clip(left - (np.cumsum(width[order]) - width[order]), 0.0, width[order])
    return max(float(first.sum() + given @ slopes[order]), 0.0)
