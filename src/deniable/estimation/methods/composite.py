"""The most likely distribution if the bits of a report were independent: a composite likelihood, maximised exactly.

Let T_x of n reports have the bit of x set, which a report has with probability a_x = q + (p-q) theta_x. Treating
all bits as independent coins, the log-likelihood to maximise over distributions theta is
    sum_x  T_x log a_x + (n - T_x) log(1 - a_x).
Given theta the bits of one report are not independent, since each user has just one value. So this is a composite
likelihood, the product of the exact likelihoods of the single counts, not the likelihood of the reports, which needs
the reports themselves. Its publication calls it the maximum likelihood estimator.

The problem has k dimensions but reduces to one. With a multiplier mu for the sum (per report, and per unit of a),
an x with theta_x > 0 has T_x/(n a) - (1 - T_x/n)/(1 - a) = mu, a quadratic equation for a, and theta_x is zero
where T_x/n <= q + mu q(1-q). The sum of theta falls as mu grows, so mu is found by Newton's method between two
bounds that close in.

Reference: Kairouz, Bonawitz, Ramage 2016, Proposition 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.estimation.channel import PureChannel

_CLOSE = 1e-14  # distance from a sum of 1 at which one more step of Newton's method reaches rounding
_MOST = 200  # passes, far more than ever observed


@dataclass(frozen=True)
class Maximum:
    """The maximiser, the number of passes over the counts, and its distance from optimality.

    `residual` is the largest violation of the optimality (KKT) conditions: the difference of a derivative of the
    average log-likelihood by some a_x from the multiplier mu, relative to 1 + |mu|.
    """

    frequencies: Floats
    passes: int
    residual: float


def most_likely_bits(counts: Counts, n: int, channel: PureChannel) -> Maximum:
    """Maximise the composite likelihood of a distribution, given the number of n reports with each bit set.

    Guarantee: the unique maximiser, up to rounding, which the residual measures.
    Cost: linear in the number of values, typically 5 to 15 passes.
    """
    from deniable.kernels.histograms import gains, largest_violation

    problem = _Problem.of(counts, n, channel)
    mu, passes = _multiplier(problem)
    found = np.empty(len(counts))
    gains(*problem.data, mu, found)
    found /= found.sum()
    q, gain = float(channel.q), float(channel.gain)
    residual = largest_violation(*problem.data[:-1], q, gain, mu, found) / (1 + abs(mu))
    return Maximum(found, passes + 2, float(residual))


@dataclass(frozen=True)
class _Problem:
    """The counts with what every pass needs, and the two probabilities as floats."""

    counts: Counts
    n: int
    whole: int
    rest: float
    q: float
    gain: float
    top: float
    top_excess: float

    @staticmethod
    def of(counts: Counts, n: int, channel: PureChannel) -> _Problem:
        expected = n * channel.q
        whole = expected.numerator // expected.denominator
        rest = float(expected - whole)
        top = int(counts.max())
        excess = (top - whole - rest) / n
        return _Problem(counts, n, whole, rest, float(channel.q), float(channel.gain), top / n, excess)

    @property
    def data(self) -> tuple[Counts, int, int, float, float]:
        """The arguments of the kernels."""
        return self.counts, self.n, self.whole, self.rest, self.q

    def top_multiplier(self, theta: float) -> float:
        """The mu at which the value with the largest count has this frequency: (T/n - a) / (a (1 - a))."""
        d = self.gain * theta
        return (self.top_excess - d) / ((self.q + d) * (1 - self.q - d))

    def at(self, mu: float) -> tuple[float, float, int]:
        """Sum of theta at this multiplier, its derivative, and the number of positive entries."""
        from deniable.kernels.histograms import total_gain

        total, slope, size = total_gain(*self.data, mu)
        return total / self.gain, slope / self.gain, size


def _multiplier(problem: _Problem) -> tuple[float, int]:
    """The mu at which the frequencies sum to 1, and the passes it took."""
    # the largest frequency is at most 1, and at least 1/R if R of them are positive
    low, high = problem.top_multiplier(1.0), problem.top_multiplier(1.0 / len(problem.counts))
    if low >= high:  # they differ by less than a rounding
        return low, 1
    mu = max(low, 0.0) if high > 0 else low
    tried_high = False
    passes = 1
    while passes < _MOST:
        total, slope, size = problem.at(mu)
        passes += 1
        if total > 1:
            low = mu
            if (bound := problem.top_multiplier(1.0 / size)) < high:
                high, tried_high = bound, False
        else:
            high, tried_high = mu, True
        step = (1 - total) / slope if slope < 0 else math.inf
        following = mu + step
        if abs(total - 1) <= _CLOSE or abs(step) <= 2 * math.ulp(mu) or high - low <= 2 * math.ulp(high):
            return min(max(following, low), high), passes
        if not low < following < high:
            # beyond an end not tried yet: try that end; else halve
            following = high if following >= high and not tried_high else (low + high) / 2
        mu = following
    return mu, passes
