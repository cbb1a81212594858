"""Bounds for shuffled reports of any mechanism, by clones: with some probability a report is one of the person's own.

Each of the n - 1 other reports is, with probability `share`, a fair coin between the report of x and that of x'; the
person's own report shows x with probability e/(e + 1). What an observer then sees of C clones is

    (A + D, C - A + 1 - D)  or  (A + 1 - D, C - A + D),    A ~ Bin(C, 1/2),  D ~ Bernoulli(e/(e + 1)).

Any mechanism has clones with the share 1/e (Feldman, McMillan, Talwar 2021, FOCS, Theorem 3.1 and section 3.3). The
share 2/(e + 1) of their later paper needs a report of anybody to be at least as likely as the sum of the reports of x
and x', over e + 1: true for randomised response, and proved here for no other mechanism (its Lemma 3.5 has an erratum).
"""

from __future__ import annotations

import math

import numpy as np

from deniable.auditing.amplification.blanket import falling_root
from deniable.core.extras import needed

_SPREAD = 14.0  # standard deviations of the number of clones beyond which it is only counted
_NUMBERS = 512  # of clones that are told apart
_ROUNDING = 1e-11  # of binomial tails, relative


def any_share(ratio: float) -> float:
    """The share of clones that every mechanism of this largest ratio has."""
    return 1 / ratio


def response_share(ratio: float) -> float:
    """The share of clones of randomised response."""
    return 2 / (ratio + 1)


def clones_delta(ratio: float, share: float, n: int, epsilon: float) -> float:
    """An upper bound on delta at this epsilon after n reports have been shuffled."""
    with needed():
        from scipy.stats import binom

    if epsilon >= math.log(ratio):
        return 0.0
    bound, own = math.exp(epsilon), ratio / (ratio + 1)
    mean, deviation = (n - 1) * share, math.sqrt((n - 1) * share * (1 - share))
    low = max(0, math.floor(mean - _SPREAD * deviation - 40))
    high = min(n - 1, math.ceil(mean + _SPREAD * deviation + 40))
    # delta falls with c, since whoever looks may add clones: of many numbers the least stands for the next ones
    clones = np.unique(np.linspace(low, high + 1, min(high + 1 - low, _NUMBERS) + 1).astype(np.int64))
    weights = -np.diff(binom.sf(clones - 1, n - 1, share))
    clones = clones[:-1]
    # given c clones, an outcome with `a` of the first kind counts where a >= t
    least = np.ceil((clones + 1) * (ratio * bound - 1) / ((ratio - 1) * (1 + bound)))
    with_own, without = binom.sf(least - 2, clones, 0.5), binom.sf(least - 1, clones, 0.5)
    first, second = with_own * own + without * (1 - own), with_own * (1 - own) + without * own
    each = np.maximum(first - bound * second, 0.0) + _ROUNDING * (first + bound * second)
    beyond = float(binom.cdf(low - 1, n - 1, share) + binom.sf(high, n - 1, share))
    return min(1.0, float(weights @ each) * (1 + _ROUNDING) + beyond)


def clones_epsilon(ratio: float, share: float, n: int, delta: float) -> float | None:
    """The least epsilon that the bound certifies for delta, up to a part in 10,000; None if there is none."""
    return falling_root(lambda epsilon: clones_delta(ratio, share, n, epsilon), delta, 0.0, math.log(ratio), 1e-4)


def closed_form(ratio: float, n: int, delta: float) -> float | None:
    """The bound of Feldman, McMillan, Talwar 2021, Theorem 3.1, for a quick look; None where it does not hold.

    Formula: log(1 + (e-1)/(e+1) (8 sqrt(e log(4/delta)/n) + 8 e/n)), for e <= n/(16 log(2/delta)).
    """
    if ratio > n / (16 * math.log(2 / delta)):
        return None
    tail = 8 * math.sqrt(ratio * math.log(4 / delta) / n) + 8 * ratio / n
    return math.log1p((ratio - 1) / (ratio + 1) * tail)
