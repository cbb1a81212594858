"""Thresholding with histogram encoding: Laplace noise on every bit; the report marks the bits that exceed theta.

Adding Laplace noise of scale 2/epsilon to a one-hot vector and reporting which entries exceed theta sets the bit of
the value with probability p and every other bit with q, independently: it is unary encoding with other coins,
and runs as such, without any noise. The noise would leave more room than the coins use, so a part of epsilon stays
unspent; `oue` and `sue` spend all of it.

Reference: Wang, Blocki, Li, Jha 2017, section 4.3 (THE).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, expm1, floor, sqrt
from typing import Any, ClassVar

from deniable.core.validate import between
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.unary.unary_encoding import UnaryEncoding
from deniable.randomness.bounds import exponential_below
from deniable.randomness.keystream import MODULUS

_DIGITS = 6  # of the best theta: the variance is flat there, and all machines agree on these digits


def best_theta(epsilon: float) -> float:
    """The theta from 1/2 to 1 with the least variance of a rare value, by golden section."""
    golden = (sqrt(5) - 1) / 2
    low, high = 0.5, 1.0
    while high - low > 10.0 ** -(_DIGITS + 2):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if _variance(left, epsilon) < _variance(right, epsilon) else (left, high)
    return round((low + high) / 2, _DIGITS)


def _variance(theta: float, epsilon: float) -> float:
    # q(1-q)/(p-q)^2 = b(2-b)/((1-a) + (1-b))^2,  a = 2(1-p) = e^{eps(theta-1)/2},  b = 2q = e^{-eps theta/2}
    not_a, not_b = -expm1(epsilon * (theta - 1) / 2), -expm1(-epsilon * theta / 2)
    return (1 - not_b) * (1 + not_b) / (not_a + not_b) ** 2


@dataclass(frozen=True)
class ThresholdingHistogramEncoding(UnaryEncoding):
    """Thresholding with histogram encoding, "the".

    The default theta has the least error.
    Guarantee: largest ratio p(1 - q) / ((1 - p) q), below e^epsilon: the rest is not spent.
    Cost: 32 ceil(k / 64) + 1 random words and k bits per report, k counts per summary.

    >>> ThresholdingHistogramEncoding(100, epsilon=1.0).theta
    0.618553
    """

    name: ClassVar[str] = "the"

    theta: float = CHOSEN

    def _settled(self) -> Mapping[str, Any]:
        return {"theta": best_theta(self.epsilon) if self.theta is None else between(0.5, 1, theta=self.theta)}

    def _parameters(self) -> dict[str, Any]:
        return {"theta": self.theta}

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        # p = 1 - e^{eps(theta-1)/2}/2 rounded down, q = e^{-eps theta/2}/2 rounded up: both towards a smaller ratio
        own = floor(modulus * (1 - _exponential_above(self.epsilon * (self.theta - 1) / 2) / 2))
        other = ceil(modulus * _exponential_above(-self.epsilon * self.theta / 2) / 2)
        # (2-a)(2-b)/(ab) <= e^eps where ab = e^{-eps/2}, since a(2-a) <= 1 and b(2-b) <= 1; the integers must show it
        while own * (modulus - other) > bound * (modulus - own) * other:
            own -= 1
        return own, other


def _exponential_above(exponent: float) -> Fraction:
    """e^exponent for an exponent of at most zero, rounded up by at most 2^-64."""
    return min(exponential_below(exponent) + Fraction(1, MODULUS), Fraction(1))
