"""Mean, variance, distribution function and quantiles of values that are numbers.

Answers are about the users who gave a number: those with "other" or "no answer" are left out.
"""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats, Integers, Mask
from deniable.core.errors import InvalidArgument
from deniable.core.estimate import Estimate, WeightedSums
from deniable.core.quantity import Quantity
from deniable.core.validate import strictly_between
from deniable.derived.labels import note_on, numbers_of, sums_of
from deniable.derived.shares import around, quantile_of_level

PROBED = 256  # places at which the distribution function is tested for a quantile


def mean(estimate: Estimate, level: float) -> Quantity:
    """The mean of the values."""
    z = quantile_of_level(level)
    sums, numbers, answered, answering = _opened(estimate)
    middle, variance = _mean(sums, numbers, answered, answering)
    error = math.sqrt(variance)
    value, low, high = around(estimate, middle, z * error, *_range(numbers, answered))
    shown = _plugged(estimate, numbers, answered)
    note = _note(estimate, answered, shown)
    return Quantity("mean", value, error, low, high, level, estimate.target, note)


def variance(estimate: Estimate, level: float) -> Quantity:
    """The variance of the values."""
    z = quantile_of_level(level)
    sums, numbers, answered, answering = _opened(estimate)
    middle, of_mean = _mean(sums, numbers, answered, answering)
    squares = np.where(answered, (numbers - middle) ** 2, 0.0)
    # the mean square about the estimated mean is too small by Var[mean] on average
    found = sums.value(squares) / answering
    # linear in the frequencies, and the square of the mean's error, which has the variance 2 Var[mean]^2
    linear = np.where(answered, (squares - found) / answering, 0.0)
    error = math.sqrt(sums.variance(linear) + 2 * of_mean**2)
    least, most = _range(numbers, answered)
    value, low, high = around(estimate, found + of_mean, z * error, 0.0, (most - least) ** 2 / 4)
    note = _note(estimate, answered)
    return Quantity("variance", value, error, low, high, level, estimate.target, note)


def distribution(estimate: Estimate, at: float, level: float) -> Quantity:
    """The share of users whose value is at most `at`."""
    _, numbers, answered, answering = _opened(estimate)
    below = answered & (numbers <= at)
    value, error, low, high = _share_below(estimate, below, answered, answering, level)
    note = _note(estimate, answered)
    return Quantity(f"share at most {at:g}", value, error, low, high, level, estimate.target, note, percent=True)


def quantile(estimate: Estimate, share: float, level: float) -> Quantity:
    """The least value that at least this share of users does not exceed.

    The interval has all values that the test of "a share `share` of users has at most this value" does not rule out.
    It is right unless the one test at the true quantile fails, so that nothing is divided among the values; it
    needs no smooth distribution. In large domains only some of the values are tested, and it ends at those.
    Reference: Woodruff 1952.
    """
    share = strictly_between(0, 1, share=share)
    sums, numbers, answered, answering = _opened(estimate)
    order = np.argsort(np.where(answered, numbers, np.inf), kind="stable")[: int(answered.sum())]
    places = _probes(len(order))
    low, high = np.empty(len(places)), np.empty(len(places))
    below = np.zeros(len(answered), np.bool_)
    for number, place in enumerate(places):
        below[order[: place + 1]] = True
        low[number], high[number] = _share_below(estimate, below, answered, answering, level)[2:]
    low[-1] = high[-1] = 1.0  # all users who answered
    first = int(np.argmax(high >= share))
    last = int(np.flatnonzero(np.append(True, low[:-1] < share))[-1])
    # between two places tested, the true quantile may be the value after the first, or the second itself
    least = 0 if first == 0 else int(places[first - 1]) + 1
    most = int(places[last])
    where = _crossing(np.cumsum(sums.frequencies[order]) / answering, share)
    values = numbers[order]
    where = min(max(where, least), most)
    ends = float(values[least]), float(values[most])
    coarse = f"Tested at {PROBED} of {len(order):,} values." if len(places) < len(order) else ""
    note = " ".join(filter(None, [_note(estimate, answered), coarse]))
    return Quantity(f"{share:g} quantile", float(values[where]), None, *ends, level, estimate.target, note)


def _opened(estimate: Estimate) -> tuple[WeightedSums, Floats, Mask, float]:
    """The sums, the number that each value is, which values are numbers, and the share of users who gave one."""
    sums = sums_of(estimate)
    numbers, answered = numbers_of(estimate.domain)
    answering = 1.0 if answered.all() else sums.value(answered.astype(np.float64))
    if answering <= 0:
        raise InvalidArgument("estimate", "have users who gave a number", answering, "Collect more reports.")
    return sums, numbers, answered, answering


def _mean(sums: WeightedSums, numbers: Floats, answered: Mask, answering: float) -> tuple[float, float]:
    """The mean among those who answered, and its variance, to first order if not all did."""
    middle = sums.value(np.where(answered, numbers, 0.0)) / answering
    return middle, sums.variance(np.where(answered, (numbers - middle) / answering, 0.0))


def _share_below(
    estimate: Estimate, below: Mask, answered: Mask, answering: float, level: float
) -> tuple[float, float, float, float]:
    sums = sums_of(estimate)
    if answered.all():
        return sums.share(below, level, inside=not estimate.unbiased)
    value = sums.value(below.astype(np.float64)) / answering
    error = math.sqrt(sums.variance(np.where(answered, (below - value) / answering, 0.0)))
    value, low, high = around(estimate, value, quantile_of_level(level) * error, 0.0, 1.0)
    return value, error, low, high


def _probes(count: int) -> Integers:
    """The places of up to `PROBED` values, evenly spaced, the last one included."""
    if count <= PROBED:
        return np.arange(count)
    return (np.arange(1, PROBED + 1) * count) // PROBED - 1


def _crossing(shares: Floats, share: float) -> int:
    """Where a noisy distribution function, made monotone from both sides, first reaches a share."""
    rising = (np.maximum.accumulate(shares) + np.minimum.accumulate(shares[::-1])[::-1]) / 2
    return min(int(np.searchsorted(rising, share - 1e-12)), len(shares) - 1)


def _range(numbers: Floats, answered: Mask) -> tuple[float, float]:
    return float(numbers[answered].min()), float(numbers[answered].max())


def _plugged(estimate: Estimate, numbers: Floats, answered: Mask) -> float | None:
    total = float(estimate.frequencies[answered].sum())
    return float(estimate.frequencies[answered] @ numbers[answered]) / total if total > 0 else None


def _note(estimate: Estimate, answered: Mask, shown: float | None = None) -> str:
    given = "" if answered.all() else "Among the users who gave a number."
    return " ".join(filter(None, [note_on(estimate, shown), given]))
