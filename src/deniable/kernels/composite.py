"""Passes over counts of bits for the composite likelihood: frequencies at a multiplier (estimation/composite.py).

`whole` and `rest` are the integer and the fractional part of n q, taken off each count apart, so that nothing
cancels. The gain d = a - q of a value solves mu d^2 - b d + c = 0 with
    b = 1 + mu (1 - 2q),   c = T/n - q - mu q(1-q),   root = sqrt(b^2 - 4 mu c),
    d = 2 c / (b + root)   or, for negative b,   (b - root) / (2 mu),
and is zero unless c > 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def _gain(count: Any, n: Any, whole: Any, rest: float, q: float, mu: float) -> tuple[float, float]:
    """d and the root, for one count."""
    c = (float(count - whole) - rest) / n - mu * q * (1 - q)
    # b^2 - 4 mu c = (1 - mu)^2 + 4 mu (1 - T/n) = (1 + mu)^2 - 4 mu T/n, whichever adds
    if mu > 0:
        root = math.sqrt((1 - mu) ** 2 + 4 * mu * (float(n - count) / n))
    else:
        root = math.sqrt((1 + mu) ** 2 - 4 * mu * (float(count) / n))
    b = 1 + mu * (1 - 2 * q)
    if c <= 0:
        return 0.0, root
    return (2 * c / (b + root) if b >= 0 else (b - root) / (2 * mu)), root


@compiled
def total_gain(counts: Counts, n: Any, whole: Any, rest: float, q: float, mu: float) -> tuple[float, float, int]:
    """Sum of d, its derivative by mu, and how many d are positive. The sum is compensated (Kahan)."""
    total = 0.0
    lost = 0.0
    slope = 0.0
    size = 0
    for i in range(counts.shape[0]):
        d, root = _gain(counts[i], n, whole, rest, q, mu)
        if d > 0:
            more = d - lost
            larger = total + more
            lost = (larger - total) - more
            total = larger
            slope -= (q + d) * (1 - q - d) / root
            size += 1
    return total, slope, size


@compiled
def gains(counts: Counts, n: Any, whole: Any, rest: float, q: float, mu: float, out: Floats) -> None:
    """out = d."""
    for i in range(counts.shape[0]):
        out[i], _ = _gain(counts[i], n, whole, rest, q, mu)


@compiled
def largest_violation(
    counts: Counts, n: Any, whole: Any, rest: float, q: float, gain: float, mu: float, theta: Floats
) -> float:
    """How far the slope T/(n a) - (1 - T/n)/(1 - a) is from mu: either way where theta > 0, above it elsewhere."""
    worst = 0.0
    for i in range(counts.shape[0]):
        d = gain * theta[i]
        a = q + d
        # the slope is (T/n - a) / (a (1 - a))
        apart = ((float(counts[i] - whole) - rest) / n - d) / (a * (1 - a)) - mu
        worst = max(worst, abs(apart) if theta[i] > 0 else apart)
    return worst
