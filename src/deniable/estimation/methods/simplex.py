"""Estimates on the simplex by dropping small counts: linear time, no sort, exact on integer counts.

The Euclidean projection and the maximum likelihood under randomised response are both zero below some
count and affine above it. With s the sum and R the number of the counts not yet dropped, every count
below a threshold T(s, R) can be dropped at once; dropping them never lowers T, so a few passes over
fewer and fewer counts end at the solution. T is an exact rational, rounded up, because a whole number
lies below T exactly when it lies below ceil(T).

Reference: Michelot 1986 for the projection; Kairouz, Bonawitz, Ramage 2016, section F, and Pinzón et
al. 2026, Theorem 1, for the likelihood, both stated there with a sort.

`nearest_distribution` does the same in floats, for unbiased estimates that are not an affine function of counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.estimation.channel import PureChannel


@dataclass(frozen=True)
class Survivors:
    """The counts that reach the final threshold: their number R and their sum s."""

    threshold: int
    size: int
    total: int


def survivors(counts: Counts, threshold: Callable[[int, int], int]) -> Survivors:
    """Drop counts below threshold(s, R) until all remaining counts reach it."""
    from deniable.kernels.histograms import keep_at_least, total_at_least

    size, total = len(counts), int(counts.sum())
    least = threshold(total, size)
    left = total_at_least(counts, least)
    kept = counts
    while left[0] < size:
        size, total = map(int, left)  # Python's integers: the thresholds must not overflow
        least = threshold(total, size)
        out = np.empty(size + 1, np.int64) if kept is counts else kept
        left = keep_at_least(kept, least, out)
        kept = out[: left[0]]
    return Survivors(least, size, total)


def projected(counts: Counts, n: int, channel: PureChannel) -> Floats:
    """Euclidean projection of the unbiased estimate onto the simplex. Biased.

    Formula: with g = n(p - q), drop count < (s - g)/R;  f = (count - s/R)/g + 1/R.
    Reference: InvP in Pinzón et al. 2026, section 2.3; Norm-Sub in Wang et al. 2020.
    """
    gain = n * channel.gain
    num, den = gain.numerator, gain.denominator
    left = survivors(counts, lambda s, size: -((num - s * den) // (size * den)))
    centre, rest = divmod(left.total, left.size)
    slope = float(1 / (left.size * gain))
    return shared_out(counts, left, centre, rest, slope, share=0.0, offset=1 / left.size)


def shared_out(
    counts: Counts, left: Survivors, centre: int, rest: int, slope: float, share: float, offset: float
) -> Floats:
    """((count - centre) R - rest) slope + count share + offset for the survivors, 0 for the others."""
    from deniable.kernels.histograms import share_out

    out = np.empty(len(counts))
    share_out(counts, left.threshold, centre, float(left.size), float(rest), slope, share, offset, out)
    return out


def nearest_distribution(frequencies: Floats) -> Floats:
    """The point of the simplex nearest to these numbers.

    Formula: f = max(0, number - t), with t such that f sums to 1. Start from all numbers; while some lie
    below t = (sum - 1)/R of the R numbers not yet dropped, drop them all. Dropping raises t, so none returns.
    Numbers more than 1 below the largest are always dropped, so the sums are of numbers in [-1, 0] relative
    to the largest, and nothing cancels however large the numbers are.
    Guarantee: sums to 1 within a few roundings.
    Cost: a few passes over fewer and fewer numbers.
    Reference: Michelot 1986.
    """
    from deniable.kernels.histograms import keep_above, lower

    moved: Floats = frequencies - frequencies.max()
    kept = np.empty_like(moved)
    size, total = keep_above(moved, -1.0, kept)
    while True:
        shift = (total - 1.0) / size
        kept = kept[:size]
        size, total = keep_above(kept, shift, kept)
        if size == len(kept):
            break
    out: Floats = np.empty_like(moved)
    lower(moved, shift, out)
    # the sum of many numbers has rounded: distribute the difference from 1, by a sum that rounds less
    missing = (1.0 - float(out.sum())) / size
    lower(moved, shift - missing, out)
    return out
