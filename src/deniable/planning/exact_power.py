"""The exact power of detecting a value: binomial tails in place of the normal approximation."""

from __future__ import annotations

import math

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.extras import needed
from deniable.estimation.channel import PureChannel

MOST = 5_000  # users up to which tails are exact
_WINDOW = 1.5  # times the normal approximation, within which the exact number is looked for


def detection_power(channel: PureChannel, n: int, share: float, miss: float, target: str) -> float:
    """The probability that the count of a value passes the exact test of absence, at most `miss` likely without it.

    Of n users the least whole number that is this share of them has the value, for the target "users"; for
    "population" each has it with this probability.
    """
    with needed():
        from scipy.special import bdtrc

    p, q = float(channel.p), float(channel.q)
    least = _critical(n, q, miss)
    if target == "population":
        return float(bdtrc(least - 1, n, q + share * (p - q)))
    have = min(n, math.ceil(n * share - 1e-9))
    own = np.arange(have + 1)
    chance = _binomial(have, p)
    rest = np.asarray(bdtrc(np.maximum(least - 1 - own, 0), max(n - have, 1), q))
    rest = np.where(least - 1 - own < 0, 1.0, rest if have < n else 0.0)
    return float(chance @ rest)


def exact_users(channel: PureChannel, users: int, share: float, miss: float, power: float, target: str) -> int:
    """The least number from which on the power is kept, looked for around the normal approximation `users`."""
    most = math.ceil(_WINDOW * users) + 50
    for n in range(most, 0, -1):
        if detection_power(channel, n, share, miss, target) < power:
            return exact_users(channel, n + 1, share, miss, power, target) if n == most else n + 1
    return 1


def _critical(n: int, q: float, miss: float) -> int:
    """The least count whose tail for an absent value is at most `miss`: n + 1 if there is none."""
    with needed():
        from scipy.special import bdtrc

    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if bdtrc(middle - 1, n, q) <= miss else (middle, high)
    return high


def _binomial(n: int, p: float) -> Floats:
    """The probabilities of 0..n successes."""
    with needed():
        from scipy.special import bdtr

    below = np.asarray(bdtr(np.arange(n + 1), n, p)) if n else np.ones(1)
    return np.diff(below, prepend=0.0)
