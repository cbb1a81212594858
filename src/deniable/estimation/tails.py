"""Tail probabilities of estimates where a normal approximation is too coarse: few reports, or thin tails.

Pure channels count reports that support a value, and the count has binomial tails. Any other unbiased estimate is a
sum of independent parts of reports, with a known variance and known largest steps. The tail of such a sum is at most
about that of a Poisson variable with the same variance, scaled to the largest step (Bennett 1962; Bentkus 2004): for a
value that few reports support it is nearly exact, for many reports it is normal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Protocol, Self

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask
from deniable.core.extras import needed
from deniable.estimation.channel import Noise, PureChannel, noise_among, noise_at, taken
from deniable.estimation.roots import crossing

_TOLERANCE = 0.25  # relative error of a tail up to which it is taken as normal
_THIN = 0.049  # chance of a miss below which binomial tails are always used: they cost little
_HALVINGS = 40
_LEAST = 1e-12  # steps of a sum that does not vary


class Tails(Protocol):
    """The tails of all estimates: intervals and tests that need no normal approximation."""

    def interval(self, miss: float, places: Indices | None = None) -> tuple[Floats, Floats]:
        """Frequencies under which an estimate this extreme has a chance of at least miss/2 on either side.

        Of the values at these places; all by default.
        """
        ...

    def p_values(self) -> Floats:
        """The chance of an estimate this large for an absent value."""
        ...

    def least_visible(self, chance: float) -> float:
        """The least estimate of any value that an absent one reaches with at most this chance."""
        ...

    def few(self, miss: float) -> Mask:
        """Where too few reports make the estimate for a normal approximation of its tails of miss/2."""
        ...

    def moved_inside(self) -> Self:
        """Tails of the estimates moved into [0, 1]."""
        ...

    def only(self, chosen: Mask | Indices) -> Self:
        """The tails of some values."""
        ...


@dataclass(frozen=True, eq=False)
class BinomialTails:
    """The counts behind an estimate, which have binomial tails.

    For the target "users" a count is a sum of two binomials, which varies less than the binomial used (Hoeffding
    1956), so the interval is conservative.
    """

    support: Counts
    n: int
    channel: PureChannel

    def interval(self, miss: float, places: Indices | None = None) -> tuple[Floats, Floats]:
        """Frequencies whose tail beyond the count has a chance of at least miss/2 on either side."""
        with needed():
            from scipy.special import betainccinv, betaincinv

        counts, place = np.unique(self.support if places is None else self.support[places], return_inverse=True)
        with np.errstate(all="ignore"):  # the ends, where a parameter is 0, are set by hand
            low = np.where(counts > 0, betaincinv(counts, self.n - counts + 1.0, miss / 2), 0.0)
            high = np.where(counts < self.n, betainccinv(counts + 1.0, self.n - counts, miss / 2), 1.0)
        return self._frequency(low)[place], self._frequency(high)[place]

    def p_values(self) -> Floats:
        """The chance of a count this large for an absent value."""
        return self._chance(self.support)

    def least_visible(self, chance: float) -> float:
        """The estimate of the least count that an absent value reaches with at most this chance."""
        low, high = 0, self.n + 1  # counts of more than n have no chance
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._chance(np.array([middle]))[0] <= chance else (middle + 1, high)
        return float(self._frequency(low / self.n))

    def few(self, miss: float) -> Mask:
        """Where few reports support the value, or all but a few; everywhere if the tails are thin."""
        return (np.minimum(self.support, self.n - self.support) < _many(miss)) | (miss < _THIN)

    def moved_inside(self) -> BinomialTails:
        """Tails with the counts clipped to the means of frequencies 0 and 1."""
        inside = np.clip(self.support, math.floor(self.n * self.channel.q), math.ceil(self.n * self.channel.p))
        return replace(self, support=inside)

    def only(self, chosen: Mask | Indices) -> BinomialTails:
        """The tails of some values."""
        return replace(self, support=self.support[chosen])

    def _chance(self, counts: Counts) -> Floats:
        with needed():
            from scipy.special import betainc

        with np.errstate(all="ignore"):
            tail = betainc(counts, self.n - counts + 1.0, float(self.channel.q))
        return np.where(counts > self.n, 0.0, np.where(counts > 0, tail, 1.0))

    def _frequency(self, share: Any) -> Any:
        return (share - float(self.channel.q)) / float(self.channel.gain)


@dataclass(frozen=True, eq=False)
class Steps:
    """The largest moves of n times an estimate by one independent part of a report, from that part's mean.

    `up` matters for users without the value, `down` also for users with it. `least` is the noise if no other user
    resembled those with the value: the variance at a frequency is no less, whatever shares were estimated.
    """

    up: Any  # a number, or one per value
    down: Any
    least: Noise | None = None

    def only(self, chosen: Mask | Indices) -> Steps:
        """The steps of some values."""
        least = self.least and noise_among(self.least, chosen)
        return Steps(taken(self.up, chosen), taken(self.down, chosen), least)


@dataclass(frozen=True, eq=False)
class PoissonTails:
    """Unbiased estimates, and the tails of Poisson variables with their variances and largest steps."""

    unbiased: Floats
    n: int
    noise: Noise
    steps: Steps

    def interval(self, miss: float, places: Indices | None = None) -> tuple[Floats, Floats]:
        """Frequencies under which an estimate this extreme has a chance of at least miss/2 on either side."""
        # by Bennett's inequality no end is farther away than where s^2/(2 (V + b s/3)) = log(2/miss), at any frequency
        wide = math.log(2 / miss)
        most = max(float(np.max(self.variance(end))) for end in np.array([[0.0], [0.5], [1.0]])) * self.n
        longest = float(np.max(np.maximum(self.steps.up, self.steps.down)))
        reach = (2 * wide * longest / 3 + math.sqrt((2 * wide * longest / 3) ** 2 + 8 * wide * most)) / self.n
        own = self if places is None else self.only(places)
        return own._end(-reach, PoissonTails._above, miss / 2), own._end(reach, PoissonTails._below, miss / 2)

    def _end(self, reach: float, tail: Callable[[PoissonTails, Floats, Floats], Floats], chance: float) -> Floats:
        """The frequencies, at most `reach` beyond the estimates, at which the tail has this chance."""
        with needed():
            from scipy.special import ndtri

        aim, x = float(ndtri(chance)), self.unbiased
        # the normal score of a tail is nearly linear in the frequency
        slope = -np.sign(reach) / np.maximum(np.sqrt(self.variance(x) / self.n), _LEAST)
        start = x + np.clip(aim / slope, -abs(reach), abs(reach))
        return crossing(x, x + reach, start, slope, lambda f, at: ndtri(tail(self.only(at), x[at], f)) - aim)

    def p_values(self) -> Floats:
        """The chance of an estimate this large for an absent value."""
        return self._above(self.unbiased, np.zeros_like(self.unbiased))

    def least_visible(self, chance: float) -> float:
        """The least estimate of any value that an absent one reaches with at most this chance."""
        tails = self
        if np.ptp(self.steps.up) == 0:  # the value that varies least has it
            variance = np.broadcast_to(self.variance(np.zeros_like(self.unbiased)), self.unbiased.shape)
            tails = self.only(np.array([variance.argmin()]))
        zero, far = np.zeros_like(tails.unbiased), np.ones_like(tails.unbiased)
        while (tails._above(far, zero) > chance).any():
            far = 2 * far
        return float(self._solve(zero, far, lambda x: tails._above(x, zero) <= chance).min())

    def few(self, miss: float) -> Mask:
        """Where few of the largest steps make up the variance."""
        return self._number(self.unbiased, np.maximum(self.steps.up, self.steps.down)) < _many(miss)

    def moved_inside(self) -> PoissonTails:
        """Tails of the estimates clipped to [0, 1]."""
        return replace(self, unbiased=np.clip(self.unbiased, 0.0, 1.0))

    def only(self, chosen: Mask | Indices) -> PoissonTails:
        """The tails of some values."""
        return PoissonTails(self.unbiased[chosen], self.n, noise_among(self.noise, chosen), self.steps.only(chosen))

    def variance(self, f: Floats) -> Floats:
        """n Var of an estimate at frequency f."""
        f = np.clip(f, 0.0, 1.0)
        found = noise_at(self.noise, f)
        if self.steps.least is not None:
            found = np.maximum(found, noise_at(self.steps.least, f))
        return np.asarray(found)

    def _number(self, f: Floats, step: Any) -> Floats:
        """The mean of the Poisson variable: the number of steps that give the variance."""
        return np.asarray(np.maximum(self.n * self.variance(f) / np.square(step), _LEAST))

    def _above(self, x: Floats, f: Floats) -> Floats:
        """The chance of an estimate of at least x at frequency f."""
        return _poisson_tail(self._number(f, self.steps.up), self.n * (x - f) / self.steps.up)

    def _below(self, x: Floats, f: Floats) -> Floats:
        """The chance of an estimate of at most x at frequency f."""
        return _poisson_tail(self._number(f, self.steps.down), self.n * (f - x) / self.steps.down)

    @staticmethod
    def _solve(outside: Floats, inside: Floats, holds: Any) -> Floats:
        """Halve towards the last place, from `inside`, where the condition holds."""
        for _ in range(_HALVINGS):
            middle = (outside + inside) / 2
            kept = holds(middle)
            outside, inside = np.where(kept, outside, middle), np.where(kept, middle, inside)
        return np.asarray(inside)


def _many(miss: float) -> float:
    """The number of steps from which a normal approximation of the tails of miss/2 is close enough."""
    # log of the ratio of the tails: z^3/6 times the skewness, one over the square root of the number of steps
    z = -NormalDist().inv_cdf(miss / 2)
    return float((z**3 / (6 * _TOLERANCE)) ** 2)


def _poisson_tail(mean: Floats, excess: Floats) -> Floats:
    """Pr[X >= mean + excess] of a Poisson variable, continued to real numbers by the gamma function."""
    with needed():
        from scipy.special import gammainc

    at = mean + excess
    return np.asarray(np.where(at > 0, gammainc(np.maximum(at, _LEAST), mean), 1.0))
