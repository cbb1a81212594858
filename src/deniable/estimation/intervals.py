"""Confidence intervals for frequencies: the score test of the count, inverted; or its exact tails.

Score: all f with (f^ - f)^2 <= z^2 V(f)/n, where f^ is the unbiased estimate and V(f)/n its variance at f
(channel.py), a quadratic in f: two roots in closed form, nothing estimated but f itself.

Exact (Clopper-Pearson on the count): no normal approximation, for rare values and for simultaneous
intervals, whose tails are so thin that the approximation fails. For the target "users" the count is a
sum of two binomials, which varies less than the binomial used (Hoeffding 1956), so the interval is conservative.

Simultaneous intervals hold for all values at once (Bonferroni).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from deniable.core.arrays import Counts, Floats, Mask
from deniable.core.errors import InvalidArgument
from deniable.core.estimate import Interval
from deniable.core.extras import needed
from deniable.estimation.channel import Noise, PureChannel, noise_at
from deniable.estimation.presence import p_values, significant


@dataclass(frozen=True, eq=False)
class BinomialTails:
    """The counts behind an estimate, which have binomial tails."""

    support: Counts
    n: int
    channel: PureChannel

    def interval(self, miss: float) -> tuple[Floats, Floats]:
        """Frequencies whose tail beyond the count has a chance of at least miss/2 on either side."""
        with needed():
            from scipy.special import betainccinv, betaincinv

        counts, place = np.unique(self.support, return_inverse=True)
        with np.errstate(all="ignore"):  # the ends, where a parameter is 0, are set by hand
            low = np.where(counts > 0, betaincinv(counts, self.n - counts + 1.0, miss / 2), 0.0)
            high = np.where(counts < self.n, betainccinv(counts + 1.0, self.n - counts, miss / 2), 1.0)
        q, gain = float(self.channel.q), float(self.channel.gain)
        return ((low - q) / gain)[place], ((high - q) / gain)[place]

    def p_values(self) -> Floats:
        """The chance of a count this large for an absent value."""
        with needed():
            from scipy.special import betainc

        with np.errstate(all="ignore"):
            tail = betainc(self.support, self.n - self.support + 1.0, float(self.channel.q))
        return np.where(self.support > 0, tail, 1.0)

    def moved_inside(self) -> BinomialTails:
        """Tails with the counts clipped to the means of frequencies 0 and 1."""
        inside = np.clip(self.support, math.floor(self.n * self.channel.q), math.ceil(self.n * self.channel.p))
        return replace(self, support=inside)


@dataclass(frozen=True, eq=False)
class ScoreIntervals:
    """Intervals of one estimate. `constrained` is None for the unbiased estimate.

    For a constrained estimate, the interval of the unbiased estimate moved into [0, 1] is cut to [0, 1] and widened
    to hold the estimate. All three steps only add coverage, so it covers the truth at least as often; and a count
    far below its expectation gives no narrower upper end than a count at its expectation.
    """

    unbiased: Floats
    n: int
    noise: Noise
    constrained: Floats | None
    tails: BinomialTails | None
    skewness: float = 0.0

    def __call__(self, level: float, simultaneous: bool, exact: bool | None) -> Interval:
        """The interval of every value at this level; by default from exact tails where they are needed and known."""
        miss = (1 - level) / (len(self.unbiased) if simultaneous else 1)
        if exact and self.tails is None:
            raise InvalidArgument("exact", "be left out", exact, "This mechanism's counts have no binomial tails.")
        if self.tails is not None and (simultaneous if exact is None else exact):
            tails = self.tails if self.constrained is None else self.tails.moved_inside()
            low, high = tails.interval(miss)
        else:
            first = self.unbiased if self.constrained is None else np.clip(self.unbiased, 0.0, 1.0)
            low, high = score_interval(first, self.n, self.noise, miss)
        if self.constrained is not None:
            low = np.minimum(np.clip(low, 0.0, 1.0), self.constrained)
            high = np.maximum(np.clip(high, 0.0, 1.0), self.constrained)
        return Interval(low, high)

    def present(self, rate: float, control: str) -> Mask:
        """The values that are present, by tests of frequency 0: from exact tails where known, else normal or gamma."""
        if self.tails is not None:
            return significant(self.tails.p_values(), rate, control)
        return significant(p_values(self.unbiased, np.asarray(self.noise[0]), self.n, self.skewness), rate, control)


def score_interval(unbiased: Floats, n: int, noise: Noise, miss: float) -> tuple[Floats, Floats]:
    """Roots of (f^ - f)^2 = (z^2/n)(v0 + v1 f + v2 f^2), written so that nothing cancels."""
    v0, v1, v2 = noise
    z = -NormalDist().inv_cdf(miss / 2)
    share = z * z / n
    # a f^2 - 2 b f + c = 0;  b^2 - a c = share (V(f^) + share (v1^2/4 - v0 v2))
    a = 1 - share * v2
    b = unbiased + share * v1 / 2
    root = np.sqrt(share * (noise_at(noise, unbiased) + share * (v1 * v1 / 4 - v0 * v2)))
    return (b - root) / a, (b + root) / a
