"""The published decoder of Projective Geometry Response, for comparison: a dynamic program over prefixes and suffixes.

f(a, b, z) is the number of reports u that begin with a and whose remainder has product z with b, where a is a prefix
and b a suffix of a point. Both are zero or have 1 as their first nonzero entry; zero is number 0, the others follow in
the published order of points, so that a extended by d has number q (a - 1) + d + 2.

Reference: Feldman, Nelson, Nguyen, Talwar 2022, section 4. Cost: O(K q t).
"""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Floats, Integers


def supported(counts: Floats, q: int, t: int) -> Floats:
    """The number of reports on the hyperplane of each point; points in the published order, q prime."""
    table = _last(counts, q)
    for length in range(2, t):
        table = _step(table, q, length)
    # at the empty prefix only z = 0 is needed, and a point begins with 0 or 1
    number, scale = _scaled(q, t - 1)
    inverse = _inverses(q)[scale]
    first = table[0, 1:, 0] + table[1, 1:, 0]
    second = table[0, number, 0] + table[1, number, -inverse % q]
    return np.concatenate([first, second])


def _last(counts: Floats, q: int) -> Floats:
    """f for suffixes of length one, 0 and 1."""
    ends = counts[1:].reshape(-1, q)
    table = np.zeros((len(ends) + 1, 2, q))
    table[1:, 0, 0], table[1:, 1] = ends.sum(axis=1), ends
    table[0, 0, 0] = table[0, 1, 1] = counts[0]
    return table


def _step(table: Floats, q: int, length: int) -> Floats:
    """f for suffixes of this length, from f for suffixes shorter by one."""
    number, scale = _scaled(q, length - 1)
    inverse = _inverses(q)[scale][:, np.newaxis]
    known = table.shape[1]
    longer = table[2:].reshape(-1, q, known, q)
    made = np.empty((len(longer) + 1, known + len(number), q))
    made[1:, :known], made[0, :known] = longer.sum(axis=1), table[0] + table[1]
    sums, rows, z = np.zeros((len(longer), len(number), q)), number[:, np.newaxis], np.arange(q)
    for d in range(q):
        sums += longer[:, d][:, rows, (z - d) * inverse % q]
    made[1:, known:] = sums
    made[0, known:] = table[0][rows, z * inverse % q] + table[1][rows, (z - 1) * inverse % q]
    return made


def _scaled(q: int, length: int) -> tuple[Integers, Integers]:
    """Every vector of this length as a multiple of a normalised one: the number of the latter, and the factor."""
    values = np.arange(q**length)
    number, scale = np.zeros(len(values), np.int64), np.ones(len(values), np.int64)
    inverses, before = _inverses(q), 0
    for tail in range(length):  # entries after the first nonzero one
        own = np.arange(q**tail, q ** (tail + 1))
        lead = own // q**tail
        digits = [own // q**place % q * inverses[lead] % q * q**place for place in range(tail)]
        number[own] = 1 + before + sum(digits, np.zeros_like(own))
        scale[own] = lead
        before += q**tail
    return number, scale


def _inverses(q: int) -> Integers:
    return np.array([0, *(pow(each, -1, q) for each in range(1, q))])
