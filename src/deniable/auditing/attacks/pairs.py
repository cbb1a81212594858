"""Liars who push several values at once send reports in which these values stand together too often.

With s_v(y) = 1 if y supports v, and k0, k1 the mean of (s_a - q)(s_b - q) for a sender with another value, and with a
or b,

    Z_ab = sum over reports of (s_a - q)(s_b - q) - n k0 - (k1 - k0) n (f_a + f_b)

has the mean 0 for every population of honest senders, since the estimate f is unbiased. Divided by their standard
deviations, all Z_ab together look like the noise of a random matrix, whose largest eigenvalue follows a known law; a
common push of several values adds an eigenvalue, and its eigenvector names them.

Reference: Johnstone 2001 (the law of the largest eigenvalue: Tracy and Widom's, with centre and scale for n reports).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.core.arrays import Floats, Indices, Payloads
from deniable.core.extras import needed
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.subsets.subset_selection import SubsetSelection
from deniable.mechanisms.unary.histogram_summation import SummationHistogramEncoding
from deniable.mechanisms.unary.unary_encoding import UnaryEncoding

MOST_VALUES, FEWEST_VALUES = 2000, 8
ALARM = 8.0  # the statistic that is an alarm: honest reports exceed it with a probability of about 3e-7
_FEWEST_TOGETHER = 10.0  # honest reports that support both of two values, at least: then sums are nearly normal
_ROWS = 2**15  # reports at once: counts below 2^24 are exact in single precision
_NAMED = 0.5  # of the largest entry of the eigenvector: what a target has
_SHAPE, _SCALE, _SHIFT = 46.446, 0.186054, 9.84801  # Chiani 2014: Tracy-Widom's law as a shifted gamma law


@dataclass(frozen=True)
class Pairs:
    """p and q, and the chance that a report supports both of two values: of a sender with neither, and with one."""

    channel: PureChannel
    neither: Fraction
    one: Fraction

    def moments(self) -> tuple[float, float]:
        """k0 and k1."""
        p, q = self.channel.p, self.channel.q
        return float(self.neither - q * q), float(self.one - p * q)

    def variances(self) -> tuple[float, float]:
        """What a sender with neither of two values adds to the variance of Z, and one with one of them."""
        p, q = float(self.channel.p), float(self.channel.q)
        return self._variance(q, q, float(self.neither)), self._variance(p, q, float(self.one))

    def _variance(self, first: float, second: float, both: float) -> float:
        (k0, k1), q, gain = self.moments(), float(self.channel.q), float(self.channel.gain)
        chances = {(1, 1): both, (1, 0): first - both, (0, 1): second - both, (0, 0): 1 - first - second + both}
        return sum(
            chance * ((a - q) * (b - q) - k0 - (k1 - k0) * (a + b - 2 * q) / gain) ** 2
            for (a, b), chance in chances.items()
        )


def pairs_of(mechanism: Mechanism) -> Pairs | None:
    """The chances behind the statistic, for mechanisms whose reports name the values that they support."""
    if isinstance(mechanism, SubsetSelection):
        p, w, k = mechanism.channel.p, mechanism.w, mechanism.k
        inside, outside = (
            Fraction((w - 1) * (w - 2), (k - 1) * max(k - 2, 1)),
            Fraction(w * (w - 1), (k - 1) * max(k - 2, 1)),
        )
        return Pairs(mechanism.channel, p * inside + (1 - p) * outside, p * (w - 1) / (k - 1))
    if isinstance(mechanism, UnaryEncoding):
        channel = mechanism.channel
    elif isinstance(mechanism, SummationHistogramEncoding):  # an entry supports its value above the middle
        above = Fraction(sum(mechanism.weights[mechanism.reach + 1 :]), sum(mechanism.weights))
        channel = PureChannel(1 - above, above)
    else:
        return None
    return Pairs(channel, channel.q**2, channel.p * channel.q)


@dataclass(frozen=True)
class PairTest:
    """The largest eigenvalue on its own scale, the values that its eigenvector names, and how rare it is by chance."""

    statistic: float
    rarity: float
    named: Indices

    @property
    def alarm(self) -> bool:
        return self.statistic > ALARM


def pair_test(mechanism: Mechanism, pairs: Pairs, data: Payloads) -> PairTest:
    """Test checked reports."""
    with needed():
        from scipy.linalg import eigh

    n, k = len(data), mechanism.k
    together = np.zeros((k, k))
    for rows in _supported(mechanism, data):
        together += (rows.T @ rows).astype(np.float64)
    p, q, (k0, k1), counts = float(pairs.channel.p), float(pairs.channel.q), pairs.moments(), together.diagonal()
    shares = (counts / n - q) / (p - q)
    sums = shares[:, np.newaxis] + shares
    excess = together - q * (counts[:, np.newaxis] + counts) + n * q * q - n * k0 - (k1 - k0) * n * sums
    neither, one = pairs.variances()
    inside = np.clip(shares, 0.0, 1.0)
    having = np.minimum(inside[:, np.newaxis] + inside, 1.0)
    scaled = excess / np.sqrt(n * (neither * (1 - having) + one * having))
    np.fill_diagonal(scaled, 0.0)
    values, vectors = eigh(scaled, subset_by_index=[k - 1, k - 1])
    # sums of squares of n rows of k numbers, less n on the diagonal
    root, side = math.sqrt(n - 1), math.sqrt(k)
    centre, scale = (root + side) ** 2 - n, (root + side) * (1 / root + 1 / side) ** (1 / 3)
    statistic = (float(values[0]) * math.sqrt(n) - centre) / scale
    vector = vectors[:, 0]
    towards = vector / vector[np.argmax(np.abs(vector))]  # 1 for the value that stands out most
    return PairTest(statistic, rarity(statistic), np.flatnonzero(towards > _NAMED))


def rarity(statistic: float) -> float:
    """How often honest reports exceed the statistic: the tail of Tracy-Widom's law, to two digits or from above."""
    with needed():
        from scipy.special import gammaincc

    if statistic > 4:
        return math.exp(-2 / 3 * statistic**1.5)  # the tail's leading term, a little above it
    return float(gammaincc(_SHAPE, max(0.0, statistic + _SHIFT) / _SCALE))


def why_not(mechanism: Mechanism, n: int) -> str:
    """The reason why the test does not apply; empty if it does."""
    pairs = pairs_of(mechanism)
    if pairs is None:
        return f"reports of {mechanism.name} do not list the values that they support"
    if not FEWEST_VALUES <= mechanism.k <= MOST_VALUES:
        return f"it is for {FEWEST_VALUES} to {MOST_VALUES:,} values"
    if n * pairs.neither < _FEWEST_TOGETHER:
        least = math.ceil(_FEWEST_TOGETHER / float(pairs.neither)) if pairs.neither else None
        return f"it takes {least:,} reports" if least else "reports support one value each"
    return ""


def visible_liars(mechanism: Mechanism, targets: int, n: int) -> float | None:
    """The share of liars from which they are surely seen: twice sqrt(k) q/((1 - q) r sqrt(n)); None for one target."""
    if targets < 2 or why_not(mechanism, n):
        return None
    pairs = pairs_of(mechanism)
    assert pairs is not None
    q = float(pairs.channel.q)
    return 2 * math.sqrt(mechanism.k / n) * q / ((1 - q) * targets)


def _supported(mechanism: Mechanism, data: Payloads) -> Iterator[Floats]:
    """Rows of zeros and ones, in single precision: which values a report supports."""
    for start in range(0, len(data), _ROWS):
        part = data[start : start + _ROWS]
        if isinstance(mechanism, SummationHistogramEncoding):
            marked = part > mechanism.reach
        else:
            codes = np.ascontiguousarray(part).astype("<u8", copy=False).view(np.uint8)
            marked = np.unpackbits(codes, axis=1, count=mechanism.k, bitorder="little") == 1
        yield marked.astype(np.float32)
