"""Confidence intervals for frequencies: the score test, inverted, or tails that need no normal approximation.

Score: all f with (f^ - f)^2 <= z^2 V(f)/n, where f^ is the unbiased estimate and V(f)/n its variance at f
(channel.py), a quadratic in f: two roots in closed form, nothing estimated but f itself.

Tails (tails.py): Clopper and Pearson's interval of the count, and its like for other estimates. They are used for rare
values and for simultaneous intervals, whose tails are so thin that a normal approximation fails.

Simultaneous intervals hold for all values at once (Bonferroni).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from deniable.core.arrays import Floats, Indices, Mask
from deniable.core.estimate import Interval
from deniable.estimation.channel import Noise, noise_among, noise_at
from deniable.estimation.presence import significant
from deniable.estimation.tails import Tails


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
    tails: Tails

    def __call__(self, level: float, simultaneous: bool, exact: bool | None, places: Indices | None = None) -> Interval:
        """The intervals of these values (all by default), from the tails where a normal approximation fails."""
        count = len(self.unbiased)
        miss = (1 - level) / (count if simultaneous else 1)
        first = self.unbiased if self.constrained is None else np.clip(self.unbiased, 0.0, 1.0)
        tails = self.tails if self.constrained is None else self.tails.moved_inside()
        few = tails.few(miss) if exact is None else np.full(count, exact)
        own = np.arange(count) if places is None else places
        rare = few[own]
        low, high = score_interval(first[own], self.n, noise_among(self.noise, own), miss)
        if rare.any():
            # those wanted among the few, all of which bound where the ends are searched
            among = (np.cumsum(few) - 1)[own[rare]]
            low[rare], high[rare] = tails.only(few).interval(miss, among)
        if self.constrained is not None:
            low = np.minimum(np.clip(low, 0.0, 1.0), self.constrained[own])
            high = np.maximum(np.clip(high, 0.0, 1.0), self.constrained[own])
        return Interval(low, high)

    def present(self, rate: float, control: str) -> Mask:
        """The values that are present, by tests of frequency 0 from the tails."""
        return significant(self.tails.p_values(), rate, control)

    def least_visible(self, level: float, simultaneous: bool) -> float:
        """The least estimate whose interval lies above zero."""
        miss = (1 - level) / (len(self.unbiased) if simultaneous else 1)
        return self.tails.least_visible(miss / 2)


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
