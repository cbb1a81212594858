"""Projective geometry with the published numbering of points, and what it reveals if only some points are values.

Points are vectors over the field of q elements whose first nonzero entry is 1; points with more leading zeros come
first, so the first (q^s - 1)/(q - 1) points form a subspace. If the values are the first k of K points, most
hyperplanes contain few values of such a subspace, and a report can reveal its sender's value.

Reference: Feldman, Nelson, Nguyen, Talwar 2022, section 3.
"""

from __future__ import annotations

from math import exp

import numpy as np

from deniable.core.arrays import Floats, Integers

_ROWS = 4096


def vectors(q: int, t: int) -> Integers:
    """All points in their published order, one per row; q is prime."""
    parts = []
    for length in range(t):  # of the tail after the first 1
        tails = np.arange(q**length)
        digits = [tails // q**place % q for place in reversed(range(length))]
        lead = [np.zeros_like(tails)] * (t - 1 - length)
        parts.append(np.stack([*lead, np.ones_like(tails), *digits], axis=1))
    return np.concatenate(parts)


def attack_rates(q: int, t: int, k: int, epsilon: float) -> Floats:
    """The success rate of the best guess from one report, for each of the values, which are the first k points.

    The attacker has a uniform prior over the values and guesses one of those that make the report likeliest.
    """
    points = vectors(q, t)
    values, e = points[:k], exp(epsilon)
    size = (q ** (t - 1) - 1) // (q - 1)
    low = 1 / ((e - 1) * size + len(points))
    rates = np.zeros(k)
    for start in range(0, len(points), _ROWS):
        on = values @ points[start : start + _ROWS].T % q == 0  # value by report
        many = on.sum(axis=0)
        rates += on @ (e * low / np.maximum(many, 1)) + low * (many == 0).sum() / k
    return rates
