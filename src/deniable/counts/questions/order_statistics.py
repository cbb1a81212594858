"""The k-th smallest count, for one k or for all k at once, and the median.

For an integer t, 1[x <= t] has the unbiased estimate 1, 1 + a, -a, 0 for y < t, y = t, y = t + 1 and y > t + 1.
So "at least k counts are <= t" is estimated by the sum of the coefficients of z^j, j >= k - #{y < t}, of

    P_t(z) = ((1 + a) z - a)^#{y = t} ((1 + a) - a z)^#{y = t + 1},

which is 0 or 1 except for t = v - 1 and t = v, v being the k-th smallest noisy count. With S_0 the sum for t = v
and S_1 the sum for t = v - 1, the k-th smallest true count is estimated by v + 1 - S_0 - S_1.

Reference: Theorem 21 of Hillebrand et al. 2026, computed here by polynomials instead of double sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from deniable.core.arrays import Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.validate import between, positive, whole
from deniable.counts.answer import Answer
from deniable.counts.certain.balls import TOLERANCE, ball
from deniable.counts.certain.joint_error import (
    Joint,
    Pair,
    certain_joint,
    joint_answer,
    simulated_moments,
    warn_of_useless,
)
from deniable.counts.moments import Moments
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.release import Release, as_release

BETWEEN = "between two order statistics: the standard error is the mean of theirs, which tends to be too large"
_LARGE = 1e300
_SLACK = 64  # binary digits beyond those that cancel


def order_statistics(
    data: Any,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
) -> Answer:
    """All order statistics, from the smallest count to the largest: an answer with an array of values.

    Cost: sum over t of (n_t + n_(t+1)) log(...) operations on numbers of about (n_t + n_(t+1)) log2(1 + 2a) digits,
    n_t being the number of noisy counts equal to t. Many equal counts make an order statistic too uncertain to use:
    see `.useless`.
    """
    release = as_release(data, epsilon, sensitivity)
    ordered = np.sort(release.values.reshape(-1))
    limit, scale = positive(tolerance=tolerance), count_range(ordered)
    joints = [joint for group in _groups(ordered) for joint in _of_group(*group, release.noise, limit)]
    answer = joint_answer("all order statistics", release, joints, ordered.astype(np.float64), ordered, scale=scale)
    return warn_of_useless(answer)


def order_statistic(
    data: Any,
    k: int,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
    question: str | None = None,
) -> Answer:
    """The k-th smallest of the counts, k from 1 to their number."""
    release = as_release(data, epsilon, sensitivity)
    k = whole(1, release.size, k=k)
    return _mixed(release, {k: 1.0}, question or f"order statistic {k} of {release.size}", tolerance, best)


def median(
    data: Any,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The median of the counts: the middle count, or the mean of the two in the middle.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(2.0).release([3, 80, 15, 41, 9], seed=1)
    >>> dn.ask.median(noisy).naive
    15.0
    """
    return quantile(
        data, 0.5, tolerance=tolerance, epsilon=epsilon, sensitivity=sensitivity, best=best, question="median"
    )


def quantile(
    data: Any,
    share: float = 0.5,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
    question: str | None = None,
) -> Answer:
    """A quantile of the counts, interpolated linearly between order statistics (as NumPy's default)."""
    release = as_release(data, epsilon, sensitivity)
    place = between(0, 1, share=share) * (release.size - 1)
    low = min(math.floor(place), release.size - 1)
    rest = place - low
    weights = {low + 1: 1 - rest, low + 2: rest} if rest else {low + 1: 1.0}
    return _mixed(release, weights, question or f"quantile {share:g}", tolerance, best)


def _mixed(release: Release, weights: dict[int, float], question: str, tolerance: float, best: str) -> Answer:
    """Answer one order statistic, or a weighted mean of two neighbours with a bound on its standard error."""
    limit, ordered = positive(tolerance=tolerance), np.sort(release.values.reshape(-1))

    def solve(values: Numbers) -> tuple[list[Joint], float]:
        found = [_one(values, k, release.noise, limit) for k in weights]
        return found, sum(share * float(values[k - 1]) for k, share in weights.items())

    def both(values: Numbers) -> tuple[float, float]:
        found, naive = solve(np.sort(values.reshape(-1)))
        return naive + _mean([each.value for each in found], shares), naive

    def moments() -> Moments:
        return simulated_moments(both, release, naive)

    shares, scale = list(weights.values()), count_range(ordered)
    joints, naive = solve(ordered)
    joint = Joint(
        _mean([each.value for each in joints], shares),
        _mean([each.width for each in joints], shares),
        # the standard error of a mean is at most the mean of the standard errors
        float(np.square(_mean([math.sqrt(each.variance) for each in joints], shares))),
        all(each.estimated for each in joints),
    )
    notes = (BETWEEN,) if len(weights) > 1 else ()
    return joint_answer(
        question, release, [joint], naive, naive, scale=scale, best=best, moments_rule=moments, notes=notes
    )


def _mean(numbers: list[float], shares: list[float]) -> float:
    """The weighted mean; infinite if any number is, even where two infinities would cancel."""
    finite = math.fsum(share * max(-_LARGE, min(_LARGE, number)) for share, number in zip(shares, numbers, strict=True))
    return math.copysign(math.inf, finite) if any(map(math.isinf, numbers)) else finite


def count_range(ordered: Numbers) -> float:
    """The range of the counts, at least 1: an order statistic with a larger standard error is useless."""
    low, high = int(ordered[0]), int(ordered[-1])
    if max(-low, high) > _LARGE:
        raise InvalidArgument("data", f"be counts below {_LARGE:g}", "larger counts")
    return float(max(1, high - low))


def _groups(ordered: Numbers) -> Iterator[tuple[int, int, int]]:
    """For every distinct count v, in order: the number of counts that are v - 1, v and v + 1."""
    values, counts = np.unique(ordered, return_counts=True)
    many = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return ((many.get(v - 1, 0), many[v], many.get(v + 1, 0)) for v in many)


def _one(ordered: Numbers, k: int, noise: DiscreteLaplace, tolerance: float) -> Joint:
    v = ordered[k - 1]
    under, here, over = (int(np.count_nonzero(ordered == v + step)) for step in (-1, 0, 1))
    smaller = int(np.searchsorted(ordered, v))  # the number of counts below v
    return _of_group(under, here, over, noise, tolerance, [k - smaller])[0]


def _of_group(
    under: int, here: int, over: int, noise: DiscreteLaplace, tolerance: float, ranks: list[int] | None = None
) -> list[Joint]:
    """The order statistics whose noisy value is v, minus v, by their rank among those (1 to `here`)."""
    chosen = range(1, here + 1) if ranks is None else ranks
    digits = (here + max(under, over)) * math.log2(1 + 2 * float(noise.a))

    def compute() -> list[Pair]:
        upper, lower = suffix_sums(here, over, noise), suffix_sums(under, here, noise)
        pairs = []
        for j in chosen:
            # at all neighbours x is v - 1, v or v + 1: x - v = 1 - 1[x <= v] - 1[x <= v - 1], and its square has a plus
            s_0, s_1 = upper[j], lower[under + j]
            pairs.append(Pair(1 - s_0 - s_1, 1 - s_0 + s_1))
        return pairs

    return certain_joint(compute, tolerance, int(digits) + _SLACK)


def suffix_sums(zeros: int, ones: int, noise: DiscreteLaplace) -> list[Any]:
    """For every j, the sum of the coefficients of z^j and above in ((1 + a) z - a)^zeros ((1 + a) - a z)^ones."""
    with needed():
        import flint

    a = ball(noise.a)
    rising, falling = _powers(1 + a, -a, zeros), _powers(-a, 1 + a, ones)
    coefficients = (flint.arb_poly(rising) * flint.arb_poly(falling)).coeffs()
    coefficients += [ball(0)] * (zeros + ones + 1 - len(coefficients))
    sums = [ball(0)]
    for coefficient in reversed(coefficients):
        sums.append(sums[-1] + coefficient)
    return sums[:0:-1]


def _powers(slope: Any, constant: Any, exponent: int) -> list[Any]:
    """The coefficients of (slope z + constant)^exponent, from z^0 upwards."""
    ups, downs = [ball(1)], [ball(1)]
    for _ in range(exponent):
        ups.append(ups[-1] * slope)
        downs.append(downs[-1] * constant)
    choose, found = 1, []
    for j in range(exponent + 1):
        found.append(ups[j] * downs[exponent - j] * choose)
        choose = choose * (exponent - j) // (j + 1)
    return found
