"""The discrete Laplace mechanism: it adds exact noise to true counts, once.

Reference: Ghosh, Roughgarden, Sundararajan 2009, "Universally utility-maximizing privacy mechanisms"; Definition 2
of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.arrays import Integers, Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.guarantee import Guarantee
from deniable.core.validate import positive, whole
from deniable.core.weak import warn_if_weak
from deniable.counts.release import Release
from deniable.counts.whole import whole_counts
from deniable.randomness.bounds import logarithm_above, logarithm_slack
from deniable.randomness.discrete_laplace import ratio_of_neighbours, sampler
from deniable.randomness.keystream import Keystream

_NO_TABLES = (
    "A table may have one row per person. If each entry is the count of a category, give the counts alone: "
    "table.to_numpy(), or list(counts.values())."
)
MAX_SENSITIVITY = 2**16
MAX_RATE, MIN_RATE = 50.0, 2.0**-32  # epsilon/sensitivity: above, practically no noise; below, noise beyond 64 bits


@dataclass(frozen=True)
class DiscreteLaplace:
    """Independent noise for every count: Pr[Z = z] = (1 - q)/(1 + q) q^|z|, q just above e^(-epsilon/sensitivity).

    `sensitivity` is the largest change one person can cause, as the sum of absolute changes over all counts: 1 if a
    person is in one count or in none, 2 if a person moves from one count to another.

    Guarantee: Pr[release | counts] / Pr[release | neighbouring counts] <= q^-sensitivity <= e^epsilon, exactly.
    """

    epsilon: float
    sensitivity: int = 1
    q: Fraction = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = positive(epsilon=self.epsilon)
        sensitivity = whole(1, MAX_SENSITIVITY, sensitivity=self.sensitivity)
        if not MIN_RATE <= epsilon / sensitivity <= MAX_RATE:
            rule = f"be from {MIN_RATE:.2g} to {MAX_RATE:g} times the sensitivity"
            raise InvalidArgument("epsilon", rule, self.epsilon)
        set_once = object.__setattr__
        set_once(self, "epsilon", epsilon)
        set_once(self, "sensitivity", sensitivity)
        set_once(self, "q", ratio_of_neighbours(epsilon, sensitivity))

    @property
    def a(self) -> Fraction:
        """a = q/(1 - q)^2, half the variance of the noise."""
        return half_variance(self.q)

    @property
    def rate(self) -> float:
        """log(1/q): the rate at which probabilities of the noise fall, and the limit on a function's growth."""
        return rate_of(self.q)

    @property
    def std_error(self) -> float:
        """The standard deviation of the noise of one count."""
        return math.sqrt(2 * self.a)

    def probability(self, noise: int) -> Fraction:
        """Pr[Z = noise], exactly."""
        return (1 - self.q) / (1 + self.q) * self.q ** abs(whole(-(2**20), 2**20, noise=noise))

    def guarantee(self) -> Guarantee:
        """The exact privacy guarantee of a release, computed from the ratio the sampler uses."""
        ratio = (1 / self.q) ** self.sensitivity
        return Guarantee(ratio, logarithm_above(ratio), logarithm_slack(self.epsilon, ratio), self.epsilon)

    def release(self, counts: Any, *, seed: int | None = None) -> Release:
        """Add fresh secure noise to the counts: a number, a vector or a matrix, of integers of any size.

        Two releases of the same counts compose: their epsilons add up. Release once, then ask as many questions of the
        release as you like. With a seed the noise is reproducible, marked simulated, and protects nobody.
        """
        warn_if_weak(self.epsilon)
        if hasattr(counts, "columns") or isinstance(counts, Mapping):
            raise InvalidArgument("counts", "be numbers, one per category", f"a {type(counts).__name__}", _NO_TABLES)
        true = whole_counts(counts)
        if true.size == 0:
            raise InvalidArgument("counts", "hold at least one count", "none")
        keystream = Keystream.fresh() if seed is None else Keystream.seeded(seed)
        noise = sampler(self.q).draw(true.size, keystream).reshape(true.shape)
        return Release(_added(true, noise), self, keystream.simulated)


def _added(true: Numbers, noise: Integers) -> Numbers:
    """Return the sum, in 64 bits if the largest count allows it."""
    if true.dtype != object and max(abs(int(true.min())), abs(int(true.max()))) < 2**62:
        total = np.add(true, noise, out=noise)
    else:
        total = np.asarray(true.astype(object) + noise.astype(object), dtype=object)
    total.flags.writeable = False  # nobody else holds it, so the release need not copy it
    return total


def half_variance(q: Fraction) -> Fraction:
    """a = q/(1 - q)^2, half the variance of the noise, on which every unbiased answer depends."""
    return q / (1 - q) ** 2


def rate_of(q: Fraction) -> float:
    """log(1/q): the rate at which probabilities of the noise fall, and the limit on a function's growth."""
    return -math.log(q) if q < Fraction(1, 2) else -math.log1p(float(q - 1))
