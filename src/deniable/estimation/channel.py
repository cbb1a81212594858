"""What an estimator may know of a mechanism: two probabilities, or the channel as a linear operator."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.core.validate import choice

TARGETS = ("users", "population")


@dataclass(frozen=True)
class PureChannel:
    """A report supports its sender's value with probability p, any other given value with q.

    Reference: Wang, Blocki, Li, Jha 2017, section 3 ("pure protocols").
    """

    p: Fraction
    q: Fraction

    @property
    def gain(self) -> Fraction:
        """p - q: the information in a report."""
        return self.p - self.q

    def noise(self, target: str) -> tuple[float, float, float]:
        """Coefficients of n Var[unbiased estimate of f] as a polynomial in f: v0 + v1 f + v2 f^2.

        Formula, for the frequencies among the users who reported (design-based):
            n Var = [q(1-q) + f (p-q)(1-p-q)] / (p-q)^2
        and for the distribution the users were drawn from, which adds the sampling error f(1-f):
            n Var = m(1-m) / (p-q)^2,  m = q + f(p-q)
        Reference: Wang et al. 2017, Theorem 2; Kairouz, Bonawitz, Ramage 2016, Proposition 3.
        """
        p, q, gain = self.p, self.q, self.gain
        v0, v1, v2 = for_target(q * (1 - q) / gain**2, (1 - p - q) / gain, target)
        return float(v0), float(v1), v2


Noise = tuple[Any, Any, float]  # v0, v1, v2: numbers, or v0 and v1 arrays with one entry per value


def for_target(v0: Any, v1: Any, target: str) -> Noise:
    """Coefficients of n Var for a target, from those for "users": "population" adds the sampling error f(1-f)."""
    return (v0, v1, 0.0) if choice(TARGETS, target=target) == "users" else (v0, v1 + 1, -1.0)


def noise_at(noise: Noise, f: Any) -> Any:
    """v0 + v1 f + v2 f^2, never below zero: n times the variance of the unbiased estimate of a frequency f."""
    v0, v1, v2 = noise
    return np.maximum(v0 + v1 * f + v2 * f * f, 0.0)


class Operator(Protocol):
    """A channel C[value, report] known only by its products."""

    def forward(self, weights: Floats) -> Floats:
        """C^T weights: the distribution of reports when values follow the weights."""
        ...

    def adjoint(self, scores: Floats) -> Floats:
        """C scores: for each value, the expected score of its report."""
        ...

    def adjoint_squared(self, scores: Floats) -> Floats:
        """C scores with every entry of C squared (the diagonal of C diag(scores) C^T)."""
        ...


@runtime_checkable
class Listing(Operator, Protocol):
    """An operator that can list entries of C: worth it where few values and few reports matter."""

    def entries(self, values: Indices, reports: Indices) -> Floats:
        """C[value, report], one row per value."""
        ...
