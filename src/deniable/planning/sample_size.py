"""The number of users a question needs."""

from __future__ import annotations

import math
from statistics import NormalDist

from deniable.core.defaults import LEVEL
from deniable.core.errors import InvalidArgument
from deniable.core.summary import MAX_COUNT
from deniable.core.validate import between, strictly_between
from deniable.mechanisms.base.mechanism import Mechanism


def users_needed(
    mechanism: Mechanism,
    *,
    margin: float | None = None,
    detect: float | None = None,
    f: float | None = None,
    level: float = LEVEL,
    power: float = 0.8,
    target: str = "users",
    simultaneous: bool = False,
) -> int:
    """The smallest number of users for a margin of error, or for detecting a rare value.

    `margin`: half-width of the interval at `level`, for a value of frequency `f` (by default the worst case).
    `detect`: a value of this frequency is distinguished from an absent one with probability `power`.
    `simultaneous`: the intervals or tests hold for all k values at once.

    Formula: n = z^2 V(f) / margin^2, or n = ((z sqrt V(0) + z' sqrt V(detect)) / detect)^2, where V(f)/n is
    the variance of the unbiased estimate, and z, z' are the normal quantiles of the level and the power.

    >>> import deniable as dn
    >>> dn.users_needed(dn.mechanism("grr", k=2, epsilon=1.0), margin=0.01)
    35368
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", "be a mechanism", mechanism)
    if (margin is None) == (detect is None):
        raise InvalidArgument("margin", "be given if and only if detect is not", {"margin": margin, "detect": detect})
    miss = (1 - strictly_between(0, 1, level=level)) / (mechanism.k if simultaneous else 1)
    z = -NormalDist().inv_cdf(miss / 2)

    def variance(frequency: float) -> float:
        return mechanism.variance(frequency, target=target)

    if margin is not None:
        width = strictly_between(0, 1, margin=margin)
        worst = _worst(mechanism, target) if f is None else variance(between(0, 1, f=f))
        return _whole(z * z * worst / width / width, "margin", margin)
    if f is not None:
        raise InvalidArgument("f", "be omitted with detect", f)
    rare = strictly_between(0, 1, detect=detect)
    strength = NormalDist().inv_cdf(strictly_between(0, 1, power=power))
    distance = max(0.0, z * math.sqrt(variance(0.0)) + strength * math.sqrt(variance(rare)))  # times sqrt n
    return _whole(distance / rare * distance / rare, "detect", detect)


def _whole(users: float, name: str, value: object) -> int:
    if not users <= MAX_COUNT:
        raise InvalidArgument(name, "be larger", value, hint=f"It would need more than {MAX_COUNT} users.")
    return max(1, math.ceil(users))


def _worst(mechanism: Mechanism, target: str) -> float:
    """The largest variance over all frequencies: V is linear, or a quadratic that opens downwards."""
    _, v1, v2 = mechanism.noise(target)
    inner = [-v1 / (2 * v2)] if v2 < 0 < -v1 / (2 * v2) < 1 else []
    return max(mechanism.variance(f, target=target) for f in (0.0, 1.0, *inner))
