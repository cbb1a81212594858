"""Weighted sums of frequencies, with the variance that follows from the covariances of the unbiased estimate.

The unbiased estimate is a mean over independent reports, so n Var[sum_v w_v f^_v] for the target "users" is the mean,
over the users, of V_x(w): the variance that a user with value x adds, which every mechanism knows. For the population
the variance of the weights among the users is added.

All frequencies sum to 1, but the estimates need not. So f^ is first shifted to sum to 1 (Norm): the sum is then
w_mean + sum_v (w_v - w_mean) f^_v, which is unbiased too, and varies less.

V_x is averaged over the distribution nearest to the estimate. That makes the variance a quadratic form in the weights,
never negative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats, Mask
from deniable.core.caches import FieldsOnly
from deniable.core.estimate import Interval, IntervalRule
from deniable.estimation.channel import Noise, for_target, noise_at
from deniable.estimation.intervals import score_interval
from deniable.estimation.methods.linear import shifted
from deniable.estimation.methods.simplex import nearest_distribution


@dataclass(frozen=True, eq=False)
class EstimatedSums(FieldsOnly):
    """Weighted sums of the unbiased estimate behind an estimate. Nothing is computed before it is asked for."""

    unbiased: Floats
    n: int
    target: str
    variances_of: Callable[[Floats], Floats]  # V_x of the weights, one entry per value x
    noise: Noise
    rule: IntervalRule  # of the unbiased estimate
    supporters: Callable[[], Counts | None]
    additions: Callable[[Floats], tuple[float, float]]  # the least and the most that one report adds to n times a sum

    @cached_property
    def frequencies(self) -> Floats:
        """The unbiased frequencies, shifted to sum to 1."""
        return shifted(self.unbiased)

    @cached_property
    def _shares(self) -> Floats:
        return nearest_distribution(self.frequencies)

    def value(self, weights: Floats) -> float:
        """sum_v w_v f_v."""
        return float(weights @ self.frequencies)

    def variance(self, weights: Floats) -> float:
        """The variance of `value`."""
        centred = weights - weights.mean()
        spread = float(self._shares @ self.variances_of(centred))
        if self.target == "population":
            # squares about the mean, so that nothing cancels
            spread += float(self._shares @ (centred - self._shares @ centred) ** 2)
        return spread / self.n

    def most_added(self, weights: Floats) -> float:
        """The most that one report, made by no matter whom, adds to n times the weighted sum of `unbiased`."""
        return self.additions(weights)[1]

    def share(self, members: Mask, level: float, *, inside: bool) -> tuple[float, float, float, float]:
        """The share of users with one of these values, its standard error, and the ends of its score interval.

        With `inside` the share is moved into [0, 1] first, and the interval cut to it, which only adds coverage.
        """
        weights = members.astype(np.float64)
        each = self.variances_of(weights - weights.mean())
        own, others = (self._mean_over(part, each) for part in (members, ~members))
        noise = for_target(others, own - others, self.target)
        value = self.value(weights)
        if inside:
            value = min(max(value, 0.0), 1.0)
        low, high = score_interval(np.array([value]), self.n, noise, 1 - level)
        error = math.sqrt(noise_at(noise, min(max(value, 0.0), 1.0)) / self.n)
        least, most = (0.0, 1.0) if inside else (-math.inf, math.inf)
        return value, error, max(float(low[0]), least), min(float(high[0]), most)

    def _mean_over(self, members: Mask, numbers: Floats) -> float:
        """The mean over the users with these values; over the values if no user has them; 0 if there are none."""
        shares = self._shares[members]
        total = float(shares.sum())
        if total > 0:
            return float(shares @ numbers[members]) / total
        return float(numbers[members].mean()) if len(shares) else 0.0

    def rows(self, level: float, simultaneous: bool) -> tuple[Floats, Floats, Interval]:
        """The unbiased estimate of every value, its standard error, and its interval."""
        return self.unbiased, self.errors_at(self.unbiased, slice(None)), self.rule(level, simultaneous, None)

    def errors_at(self, frequencies: Floats, places: Any) -> Floats:
        """The standard errors that the values at these places would have at other frequencies."""
        own = [part[places] if isinstance(part, np.ndarray) else part for part in self.noise]
        return np.asarray(np.sqrt(noise_at((own[0], own[1], own[2]), np.clip(frequencies, 0.0, 1.0)) / self.n))
