"""The two numbers that follow from the ratio q of discrete Laplace noise."""

from __future__ import annotations

import math
from fractions import Fraction


def half_variance(q: Fraction) -> Fraction:
    """a = q/(1 - q)^2, half the variance of the noise: the one number of every unbiased answer."""
    return q / (1 - q) ** 2


def rate_of(q: Fraction) -> float:
    """log(1/q): how fast the noise's probabilities fall, and how fast a function may grow."""
    return -math.log(q) if q < Fraction(1, 2) else -math.log1p(float(q - 1))
