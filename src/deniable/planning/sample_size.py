"""The number of users a question needs."""

from __future__ import annotations

import math
from statistics import NormalDist

from deniable.core.defaults import LEVEL
from deniable.core.errors import InvalidArgument
from deniable.core.validate import between, strictly_between
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.forecasts.forecast import Forecast, quantile, worst_noise
from deniable.planning.exact_power import MOST, exact_users
from deniable.planning.goals import Goal, rounded_users, whole_users


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
    the variance of the unbiased estimate, and z, z' are the normal quantiles of the level and the power. Up to 5,000
    users, `detect` is computed from exact tails where the counts have binomial ones, for the test that is exact as
    well: the least number from which on the power is kept.

    >>> import deniable as dn
    >>> dn.users_needed(dn.mechanism("grr", k=2, epsilon=1.0), margin=0.01)
    35368
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", "be a mechanism", mechanism)
    if (margin is None) == (detect is None):
        both = "neither" if margin is None else "both"
        raise InvalidArgument("margin or detect", "be given, and only one of them", both)
    values = mechanism.k if simultaneous else 1
    z = quantile(strictly_between(0, 1, level=level), values)

    def variance(frequency: float) -> float:
        return mechanism.variance(frequency, target=target)

    if margin is not None:
        width = strictly_between(0, 1, margin=margin)
        worst = worst_noise(mechanism.noise(target)) if f is None else variance(between(0, 1, f=f))
        return whole_users(z * z * worst / width / width, "margin", margin)
    if f is not None:
        raise InvalidArgument("f", "be omitted with detect", f)
    rare = strictly_between(0, 1, detect=detect)
    strength = NormalDist().inv_cdf(strictly_between(0, 1, power=power))
    distance = max(0.0, z * math.sqrt(variance(0.0)) + strength * math.sqrt(variance(rare)))  # times sqrt n
    users = whole_users(distance / rare * distance / rare, "detect", detect)
    if users > MOST or mechanism.channel is None:
        return users
    return exact_users(mechanism.channel, users, rare, (1 - level) / values / 2, power, target)


def users_of(goal: Goal, made: Mechanism, forecast: Forecast) -> int:
    """The users that a mechanism needs for a goal: by its forecast, but from exact tails where few are to detect."""
    users = rounded_users(goal, forecast)
    if goal.detect is None or users > MOST or made.channel is None:
        return users
    return users_needed(made, detect=goal.detect, level=goal.level, power=goal.power, simultaneous=goal.values > 1)
