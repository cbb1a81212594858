"""Which reports support which values, listed entry by entry, and sums over such lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Codes, Floats, Indices, Mask
from deniable.kernels import compiled

_SMALL = 2**20  # entries that NumPy sees before a loop is compiled


def _dot(mask: Codes, scores: Floats, out: Floats) -> None:
    out[:] = mask @ scores


def _weighted(mask: Codes, weights: Floats, out: Floats) -> None:
    out[:] = weights @ mask


@compiled(plain=_dot, small=_SMALL, any_order=True)
def row_sums(mask: Codes, scores: Floats, out: Floats) -> None:
    """out[x] = the sum of the scores of the columns where row x holds 1."""
    for x in range(mask.shape[0]):
        total = 0.0
        for r in range(mask.shape[1]):
            total += scores[r] * mask[x, r]
        out[x] = total


@compiled(plain=_weighted, small=_SMALL, any_order=True)
def column_sums(mask: Codes, weights: Floats, out: Floats) -> None:
    """out[r] = the sum of the weights of the rows that hold 1 in column r; four rows per pass over the columns."""
    out[:] = 0.0
    rows = mask.shape[0]
    for x in range(0, rows - 3, 4):
        a, b, c, d = weights[x], weights[x + 1], weights[x + 2], weights[x + 3]
        for r in range(mask.shape[1]):
            out[r] += (a * mask[x, r] + b * mask[x + 1, r]) + (c * mask[x + 2, r] + d * mask[x + 3, r])
    for x in range(rows - rows % 4, rows):
        for r in range(mask.shape[1]):
            out[r] += weights[x] * mask[x, r]


def _shifted(values: Indices, starts: Indices, shifted: Indices, members: Mask, modulus: Any, out: Codes) -> None:
    out[:] = members[starts + (shifted - values[:, np.newaxis]) % modulus]


@compiled(plain=_shifted, small=_SMALL)
def shifted_members(
    values: Indices, starts: Indices, shifted: Indices, members: Mask, modulus: Any, out: Codes
) -> None:
    """out[i, r] = 1 where shifted[r] - values[i], modulo K, is a member of the set that begins at starts[r]."""
    for i in range(values.shape[0]):
        for r in range(shifted.shape[0]):
            place = shifted[r] - values[i]
            place += modulus * (place < 0)
            out[i, r] = members[starts[r] + place]


@compiled
def shifted_pairs(
    starts: Indices, shifted: Indices, elements: Indices, size: Any, places: Indices, modulus: Any, out: Indices
) -> int:
    """Find the values x = shifted[r] - d, modulo K, for the `size` elements d of each set, which begins at starts[r].

    places[x] is the place of a value, or negative. Rows of `out` take the pairs (place, r) as far as there is room;
    return how many pairs there are.
    """
    found = 0
    for r in range(shifted.shape[0]):
        for i in range(starts[r], starts[r] + size):
            value = shifted[r] - elements[i]
            value += modulus * (value < 0)
            place = places[value]
            if place >= 0:
                if found < out.shape[1]:
                    out[0, found] = place
                    out[1, found] = r
                found += 1
    return found


def _hashed(
    values: Indices, parts: Indices, hashed: Indices, base: Any, digits: Any, tables: Indices, out: Codes
) -> None:
    powers = base ** np.arange(digits * len(tables))[:, np.newaxis]
    seeds = sum(part * (base**digits) ** place for place, part in enumerate(parts))
    out[:] = (values // powers % base).T @ (seeds // powers % base) % base == hashed


@compiled(plain=_hashed, small=_SMALL)
def hashed_equal(
    values: Indices, parts: Indices, hashed: Indices, base: Any, digits: Any, tables: Indices, out: Codes
) -> None:
    """out[i, r] = 1 where the inner product of the digits of a seed and of values[i] is hashed[r], modulo the base.

    Seeds come in parts of so many digits, parts[j, r]; the inner products with all possible parts are tabulated for
    each value, in `tables`.
    """
    for i in range(values.shape[0]):
        rest = values[i]
        for j in range(parts.shape[0]):
            tables[j, 0] = 0
            power = 1
            for _ in range(digits):
                digit = rest % base
                rest //= base
                for factor in range(1, base):
                    more = factor * digit % base
                    for low in range(power):
                        total = tables[j, low] + more
                        tables[j, factor * power + low] = total - base * (total >= base)
                power *= base
        for r in range(hashed.shape[0]):
            total = 0
            for j in range(parts.shape[0]):
                total += tables[j, parts[j, r]]
                total -= base * (total >= base)
            out[i, r] = total == hashed[r]
