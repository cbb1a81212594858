"""Estimates on the simplex by dropping small counts: linear time, no sort, exact on integer counts.

Both the Euclidean projection and the likelihood of randomised response are maximised by a vector that
is zero below some count and affine above it. With s the sum and R the number of the counts still
in, every count below a threshold T(s, R) can be dropped at once; dropping them never lowers T, so a
few passes over fewer and fewer counts end at the answer. T is an exact rational, rounded up, because
a whole number lies below T exactly when it lies below ceil(T).

Reference: Michelot 1986 for the projection; Kairouz, Bonawitz, Ramage 2016, section F, and Pinzon et
al. 2026, Theorem 1, for the likelihood, both stated there with a sort.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deniable.estimation.channel import PureChannel

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Survivors:
    """The counts that reach the final threshold: how many (R) and their sum (s)."""

    threshold: int
    size: int
    total: int


def survivors(counts: Counts, threshold: Callable[[int, int], int]) -> Survivors:
    """Drop counts below threshold(s, R) until none is left to drop."""
    from deniable.kernels.selection import keep_at_least, total_at_least

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
    Reference: InvP in Pinzon et al. 2026, section 2.3; Norm-Sub in Wang et al. 2020.
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
    from deniable.kernels.selection import share_out

    out = np.empty(len(counts))
    share_out(counts, left.threshold, centre, float(left.size), float(rest), slope, share, offset, out)
    return out
