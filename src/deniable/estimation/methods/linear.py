"""The repair of linear estimates: frequencies made non-negative, summing to one, or both.

The unbiased estimate ignores that frequencies are nonnegative and sum to 1. Each function here restores some of
that at the price of bias (only `shifted` is unbiased). They take the unbiased frequencies, the number of reports n,
and the noise coefficients of n Var = v0 + v1 f + v2 f^2 (channel.py); none takes a mechanism.

Reference: Wang, Lopuhaä-Zwakenberg, Li, Skoric, Li 2020, whose names of the methods end the first lines.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.channel import Noise

SIGNIFICANCE = 0.05  # chance that base-cut keeps any absent value


def positive_part(frequencies: Floats) -> Floats:
    """f = max(0, f^). Sums to more than 1 on average. Base-Pos."""
    return np.maximum(frequencies, 0.0)


def significant(frequencies: Floats, n: int, noise: Noise, alpha: float = SIGNIFICANCE) -> Floats:
    """f^ where it is significantly above zero, else 0; the sum is not restored. Base-Cut.

    Formula: cut below T = z sqrt(v0/n) with z the normal quantile of 1 - alpha/k, so that with probability
    about 1 - alpha no absent value is kept.
    """
    quantile = -NormalDist().inv_cdf(alpha / len(frequencies))
    return np.where(frequencies < quantile * math.sqrt(noise[0] / n), 0.0, frequencies)


def shifted(frequencies: Floats) -> Floats:
    """f = f^ + (1 - sum f^)/k: sums to 1, may be negative. Norm.

    Unbiased: every user has one value, so the sum of f^ has expectation 1 and the shift expectation 0. Where
    f^ sums to 1 already, as for randomised response, nothing changes; elsewhere the sum of the variances falls by
    Var[sum f^]/k, because the shift projects onto the plane that contains the truth.
    """
    moved: Floats = frequencies + (1.0 - frequencies.sum()) / len(frequencies)
    return moved


def rescaled(frequencies: Floats) -> Floats:
    """The positive part, rescaled to sum to 1; uniform if there is none. Norm-Mul, InvN.

    Reference: also Pinzón et al. 2026, section 2.3.
    """
    positive = np.maximum(frequencies, 0.0)
    total: float = positive.sum()
    return positive / total if total > 0 else _uniform(frequencies)


def largest_first(frequencies: Floats) -> Floats:
    """The largest frequencies until they sum to more than 1, rescaled to 1; the rest 0. Norm-Cut.

    If all positive ones sum to less than 1 they are all kept and scaled up; negative ones are never kept. Ties
    with the last one kept are kept too, so equal estimates stay equal.
    Cost: a sort of the positive ones.
    """
    positive = -np.sort(-frequencies[frequencies > 0])
    if not len(positive):
        return _uniform(frequencies)
    beyond = np.flatnonzero(np.cumsum(positive) > 1.0)
    least = positive[beyond[0]] if len(beyond) else positive[-1]
    kept = np.where(frequencies >= least, frequencies, 0.0)
    total: float = kept.sum()
    return kept / total


def gaussian_likelihood(frequencies: Floats, noise: Noise) -> Floats:
    """The most likely distribution if each f^ were Gaussian, independent, with variance v0 + v1 f. MLE-Apx.

    Formula: over the d values not yet dropped, F the sum of their f^,
        y = (F - 1)/(d v0 + v1),   f = (f^ - v0 y)/(1 + v1 y);
    drop negative ones and repeat. With v0 = q(1-q)/(p-q)^2 and v1 = (1-p-q)/(p-q), the noise of a pure channel
    for the target "users", this is the published formula divided by p - q. There 1 + v1 y > 0 always, because
    y (p-q) is a mediant of (s-m)/(m(1-m)) with m in {p, q} and shares s in [0, 1].
    Guarantee: a distribution. Only an approximation of the likelihood, for randomised response too.
    Cost: a few passes over fewer and fewer values.
    """
    v0, v1, _ = noise
    places = np.arange(len(frequencies))
    left = frequencies
    while True:
        pull = (float(left.sum()) - 1.0) / (len(left) * v0 + v1)
        found: Floats = (left - v0 * pull) / (1.0 + v1 * pull)
        keep = found >= 0
        if keep.all():
            break
        places, left = places[keep], left[keep]
    out = np.zeros(len(frequencies))
    out[places] = found / found.sum()
    return out


def _uniform(frequencies: Floats) -> Floats:
    return np.full(len(frequencies), 1.0 / len(frequencies))
