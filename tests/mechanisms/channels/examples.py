"""Matrices that tests share."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any


def responses(k: int, ratio: Fraction = Fraction(3, 2)) -> list[list[Any]]:
    """Randomised response among k values, with the truth so many times as likely as another value."""
    total = ratio + k - 1
    return [
        [f"{(part := (ratio if x == y else 1) / total).numerator}/{part.denominator}" for y in range(k)]
        for x in range(k)
    ]


def nearby(k: int, epsilon: float) -> list[list[float]]:
    """Floats that fall with the distance, by e^(-epsilon/2) from one end of the scale to the other."""
    rows = [[math.exp(-epsilon / 2 * abs(x - y) / (k - 1)) for y in range(k)] for x in range(k)]
    return [[entry / sum(row) for entry in row] for row in rows]


SCALE: list[list[Any]] = [  # every entry is a float
    [0.5, 0.25, 0.125, 0.0625, 0.0625],
    [0.25, 0.375, 0.1875, 0.125, 0.0625],
    [0.125, 0.1875, 0.375, 0.1875, 0.125],
    [0.0625, 0.125, 0.1875, 0.375, 0.25],
    [0.0625, 0.0625, 0.125, 0.25, 0.5],
]
WIDE: list[list[Any]] = [
    [0.4, 0.3, 0.2, 0.1],
    [0.2, 0.2, 0.3, 0.3],
    ["1/7", "1/7", "2/7", "3/7"],
]  # 3 values, 4 reports
SKEW: list[list[Any]] = [[0.75, 0.25], [0.5, 0.5]]
