"""Rounding against the person who answers: what is spent is never stated too low."""

from __future__ import annotations

import math
from fractions import Fraction


def rounded_up(number: Fraction) -> float:
    """The number as a float that is not below it.

    >>> rounded_up(Fraction(1, 10)) >= Fraction(1, 10), rounded_up(Fraction(3, 4))
    (True, 0.75)
    """
    nearest = float(number)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)
