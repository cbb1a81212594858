"""Goals of a collection, as numbers of users that a forecast needs, and the least epsilon that meets a goal."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from deniable.core.errors import InvalidArgument
from deniable.core.summary import MAX_COUNT
from deniable.mechanisms.base.definition import MAX_EPSILON
from deniable.mechanisms.forecasts.forecast import Forecast, quantile

_LEAST_EPSILON = 1e-3
_CLOSE = 1e-3  # relative difference of users at which the search for an epsilon ends
_STEPS = 24


@dataclass(frozen=True)
class Goal:
    """A margin of error for a value of frequency f (None: the worst), or a share to be detected with this power.

    `values` is 1 for a value named in advance, and k where the statement holds for all values at once.
    """

    margin: float | None = None
    detect: float | None = None
    f: float | None = 0.0
    level: float = 0.95
    power: float = 0.8
    values: int = 1

    def users(self, forecast: Forecast) -> float:
        """The number of users at which the goal is met, by the normal approximation.

        Formula: z^2 V(f)/margin^2, or ((z sqrt V(0) + z' sqrt V(detect))/detect)^2.
        """
        if self.margin is not None:
            return forecast.margin(1, self.f, level=self.level, values=self.values) ** 2 / self.margin**2
        assert self.detect is not None
        return detection_users(forecast, self.detect, self.level, self.power, self.values)


def detection_users(forecast: Forecast, share: float, level: float, power: float, values: int = 1) -> float:
    """Users with which a value of this share is told from an absent one with this power."""
    z, strength = quantile(level, values), NormalDist().inv_cdf(power)
    distance = z * math.sqrt(forecast.variance(0.0)) + strength * math.sqrt(forecast.variance(share))
    return (max(0.0, distance) / share) ** 2


def visible_share(forecast: Forecast, n: float, level: float, power: float, values: int = 1) -> float:
    """The smallest share that n users show with this power; above 1 where none does."""
    low, high = 0.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if detection_users(forecast, middle, level, power, values) <= n else (middle, high)
    return high


def whole_users(users: float, name: str, value: object) -> int:
    """Round a number of users up, or raise InvalidArgument if no population is that large."""
    if not users <= MAX_COUNT:
        raise InvalidArgument(name, "be larger", value, hint=f"It would need more than {MAX_COUNT} users.")
    return max(1, math.ceil(users - 1e-9 * users))


def rounded_users(goal: Goal, forecast: Forecast) -> int:
    """The users of a goal as a whole number."""
    name, value = ("margin", goal.margin) if goal.margin is not None else ("detect", goal.detect)
    return whole_users(goal.users(forecast), name, value)


def least_epsilon(goal: Goal, n: int, forecast: Callable[[float], Forecast], start: float = 1.0) -> float:
    """The least epsilon, within a part in 1000 of users, at which n users meet the goal.

    Newton steps on the logarithm of users from `start`, kept between bounds, with the slope of the asymptotic optimum
    4e/(e - 1)^2; raises InvalidArgument where no epsilon does, or where the mechanism refuses those that would.
    """
    low, high = _LEAST_EPSILON, MAX_EPSILON
    epsilon, best = min(max(start, low), high), math.nan
    for _ in range(_STEPS):
        gap = math.log(goal.users(forecast(epsilon)) / n)
        if gap <= 0:
            best = high = epsilon
        else:
            low = epsilon
        if -_CLOSE <= gap <= 0 or high - low < 1e-6:
            break
        # the slope of log(e/(e - 1)^2) is -coth(epsilon/2); aim below, so that the last step meets the goal
        step = epsilon + (gap + _CLOSE / 2) * math.tanh(epsilon / 2)
        epsilon = step if low < step < high else (low + high) / 2
    if math.isnan(best):
        raise InvalidArgument("users", "be more", n, "No epsilon meets the goal with so few.")
    return best
