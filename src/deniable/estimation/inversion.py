"""Linear inversion of a pure channel: the unbiased estimate, and its rescaled positive part."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from deniable.estimation.channel import PureChannel
from deniable.estimation.consistency import rescaled

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def unbiased(counts: Counts, n: int, channel: PureChannel) -> Floats:
    """f = (count/n - q) / (p - q). Unbiased; sums to 1 for randomised response; may be negative.

    Reference: Kairouz, Bonawitz, Ramage 2016, section 4.1 (Inv in Pinzon et al. 2026, eq. 2).
    """
    frequencies: Floats = _excess(counts, n, channel) / float(n * channel.gain)
    return frequencies


def normalized(counts: Counts, n: int, channel: PureChannel) -> Floats:
    """The positive part of the unbiased estimate, rescaled to sum to 1. Biased.

    Reference: InvN in Pinzon et al. 2026, section 2.3.
    """
    return rescaled(_excess(counts, n, channel))


def _excess(counts: Counts, n: int, channel: PureChannel) -> Floats:
    """count - n q: the integer part of n q is taken off exactly, so large counts do not cancel."""
    expected: Fraction = n * channel.q
    whole = expected.numerator // expected.denominator
    return (counts - whole).astype(np.float64) - float(expected - whole)
