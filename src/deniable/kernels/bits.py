"""The loops of unary encoding and of Bloom filters: 64 coins at once, and counts of bits of many reports.

A report is a row of 64-bit words; value v owns bit v mod 64 of word v // 64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Counts = npt.NDArray[np.int64]
Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.uint64]

PLANES = 16  # binary digits of the counts kept between two additions to the summary
BLOCK = 8 * 8191  # reports until then: a multiple of eight that 16 digits can count
_ONE = np.uint64(1)
_PLACE = np.int64(63)


@compiled
def toss_row(words: Words, threshold: Any, width: int, row: Rows) -> None:
    """row = 64 coins U < threshold a word, from `width` words for each of its words.

    Word b s + j, s the length of the row, holds bit 64 - width + b of the 64 numbers U of the bits of row[j];
    the lower bits of U and of the threshold are zero. From the least significant bit up, a bit of the threshold
    that is set makes U smaller where U has none, and one that is not makes U larger where U has one. What is
    branched on is the threshold, which is public.
    """
    slices = row.shape[0]
    for j in range(slices):
        row[j] = 0
    for b in range(width):
        if (threshold >> np.uint64(64 - width + b)) & _ONE:
            for j in range(slices):
                row[j] |= ~words[b * slices + j]
        else:
            for j in range(slices):
                row[j] &= ~words[b * slices + j]


@compiled
def toss_bits(indices: Indices, words: Words, other: Any, own: Any, width: int, last: Any, out: Rows) -> None:
    """out[i] = coins U < other, one a bit, but the bit of the value is the coin of its own, word < own.

    A report of s words owns `width` s + 1 words, the coins of the bits and then that of the value.
    `last` masks the bits of out[i, s - 1] that exist.
    """
    slices = out.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        first = i * (width * slices + 1)
        toss_row(words[first : first + width * slices], other, width, row)
        place = np.uint64(indices[i] & _PLACE)
        coin = np.uint64(words[first + width * slices] < own) << place
        for j in range(slices):  # every word is treated alike, so that none betrays the value
            mask = np.uint64(indices[i] >> 6 == j) << place
            row[j] = (row[j] & ~mask) | (coin & mask)
        row[slices - 1] &= last


@compiled
def count_bits(rows: Rows, counts: Counts) -> None:
    """counts[v] += how many reports have the bit of v set.

    The counts of 64 values at a time are kept as binary digits: bit v of planes[d] is digit d of the count
    of v. Eight reports are added by full adders (as in Harley and Seal's population count), and what
    they carry beyond three digits ripples through the others.
    """
    slices = rows.shape[1]
    planes = np.zeros((PLANES, slices), np.uint64)
    carry = np.empty(slices, np.uint64)
    for first in range(0, rows.shape[0], BLOCK):
        block = rows[first : first + BLOCK]
        eights = block.shape[0] // 8
        for e in range(eights):
            _add_eight(block[8 * e : 8 * e + 8], planes, carry)
            _ripple(planes, carry, 3)
        for i in range(8 * eights, block.shape[0]):
            carry[:] = block[i]
            _ripple(planes, carry, 0)
        _read_out(planes, counts)


@compiled
def _full_adder(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Sum and carry of three bits, for 64 of them at once."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@compiled
def _add_eight(block: Rows, planes: Rows, carry: Words) -> None:
    """Add eight reports to digits 0, 1 and 2; `carry` becomes what goes to digit 3."""
    for j in range(carry.shape[0]):
        one, two_a = _full_adder(planes[0, j], block[0, j], block[1, j])
        one, two_b = _full_adder(one, block[2, j], block[3, j])
        one, two_c = _full_adder(one, block[4, j], block[5, j])
        one, two_d = _full_adder(one, block[6, j], block[7, j])
        two, four_a = _full_adder(planes[1, j], two_a, two_b)
        two, four_b = _full_adder(two, two_c, two_d)
        four, carry[j] = _full_adder(planes[2, j], four_a, four_b)
        planes[0, j], planes[1, j], planes[2, j] = one, two, four


@compiled
def _ripple(planes: Rows, carry: Words, digit: int) -> None:
    """Add the carry at this digit and pass on what overflows."""
    for d in range(digit, PLANES):
        for j in range(carry.shape[0]):
            both = planes[d, j] & carry[j]
            planes[d, j] ^= carry[j]
            carry[j] = both


@compiled
def _read_out(planes: Rows, counts: Counts) -> None:
    """Add the numbers in the planes to the counts, and clear the planes."""
    for v in range(counts.shape[0]):
        place = np.uint64(v & _PLACE)
        for d in range(PLANES):
            counts[v] += np.int64((planes[d, v >> 6] >> place) & _ONE) << d
    planes[:] = 0
