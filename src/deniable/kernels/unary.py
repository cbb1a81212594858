"""The loops of unary and histogram encoding: 64 coins at once, levels, counts of bits, and sums over marked values.

A report is a row of 64-bit words; value v owns bit v mod 64 of word v // 64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bitmaps, Bytes, Counts, Floats, Indices, Words
from deniable.kernels import compiled

PLANES = 16  # binary digits of the counts held between two additions to the summary
BLOCK = 8 * 8191  # reports between them: a multiple of eight that 16 digits can count
_ONE = np.uint64(1)
_PLACE = np.int64(63)


@compiled
def toss_row(words: Words, threshold: Any, width: int, row: Bitmaps) -> None:
    """row = coins U < threshold, 64 per word, from `width` random words for each word of the row.

    Word b s + j, s the length of the row, holds bit 64 - width + b of the 64 numbers U for the bits of row[j];
    the lower bits of U and of the threshold are zero. From the least significant bit upwards, U becomes smaller where
    the threshold has a one and U a zero, and larger where the threshold has a zero and U a one. The only branch depends
    on the threshold, which is public.
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
def toss_bits(indices: Indices, words: Words, other: Any, own: Any, width: int, last: Any, out: Bitmaps) -> None:
    """out[i] = coins U < other, one per bit, except that the bit of the value has its own coin, word < own.

    A report of s words owns `width` s + 1 words: the coins of the bits, then the coin of the value.
    `last` masks the bits of out[i, s - 1] that exist.
    """
    slices = out.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        first = i * (width * slices + 1)
        toss_row(words[first : first + width * slices], other, width, row)
        place = np.uint64(indices[i] & _PLACE)
        coin = np.uint64(words[first + width * slices] < own) << place
        for j in range(slices):  # every word is treated alike, so that timing does not reveal the value
            mask = np.uint64(indices[i] >> 6 == j) << place
            row[j] = (row[j] & ~mask) | (coin & mask)
        row[slices - 1] &= last


def _by_bytes(rows: Bitmaps, counts: Counts) -> None:
    bits = np.ascontiguousarray(rows).astype("<u8", copy=False).view(np.uint8)
    for first in range(0, len(bits), BLOCK):
        unpacked = np.unpackbits(bits[first : first + BLOCK], axis=1, count=len(counts), bitorder="little")
        counts += unpacked.sum(axis=0, dtype=np.int64)


@compiled(plain=_by_bytes, small=2**18)
def count_bits(rows: Bitmaps, counts: Counts) -> None:
    """counts[v] += the number of reports that have the bit of v set.

    The counts of 64 values at a time are kept as binary digits: bit v of planes[d] is digit d of the count
    of v. Eight reports are added by full adders (as in Harley and Seal's population count), and the carry beyond three
    digits ripples through the others.
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
            for j in range(slices):  # `carry[:] = block[i]` would triple the time to compile, for its error message
                carry[j] = block[i, j]
            _ripple(planes, carry, 0)
        _read_out(planes, counts)


@compiled
def _full_adder(a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Sum and carry of three bits, for 64 of them at once."""
    half = a ^ b
    return half ^ c, (a & b) | (half & c)


@compiled
def _add_eight(block: Bitmaps, planes: Bitmaps, carry: Words) -> None:
    """Add eight reports to digits 0, 1 and 2; `carry` receives the carry into digit 3."""
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
def _ripple(planes: Bitmaps, carry: Words, digit: int) -> None:
    """Add the carry at this digit and pass the overflow on."""
    for d in range(digit, PLANES):
        for j in range(carry.shape[0]):
            both = planes[d, j] & carry[j]
            planes[d, j] ^= carry[j]
            carry[j] = both


@compiled
def _read_out(planes: Bitmaps, counts: Counts) -> None:
    """Add the numbers in the planes to the counts, and clear the planes."""
    for v in range(counts.shape[0]):
        place = np.uint64(v & _PLACE)
        for d in range(PLANES):
            counts[v] += np.int64((planes[d, v >> 6] >> place) & _ONE) << d
    planes[:] = 0


@compiled
def draw_levels(indices: Indices, words: Words, limits: Words, levels: int, out: Bytes) -> None:
    """out[i, v] = the number of limits that the word of v exceeds; the level of the sender's value is mirrored.

    There are 2^b - 1 sorted limits, so a level is always found by b comparisons, each of which decides whether to skip
    half of the remaining limits. All values take one step before the next, and all levels are written alike, so that
    timing does not reveal the value.
    """
    values = out.shape[1]
    found = np.empty(values, np.int64)
    for i in range(out.shape[0]):
        own = words[i * values : (i + 1) * values]
        found[:] = 0
        half = (limits.shape[0] + 1) >> 1
        while half > 0:
            for v in range(values):
                found[v] += half * (own[v] > limits[found[v] + half - 1])
            half >>= 1
        for v in range(values):
            turned = np.int64(v == indices[i])
            out[i, v] = found[v] + turned * (levels - 1 - 2 * found[v])


def _by_columns(rows: Bytes, sums: Counts) -> None:
    sums += rows.sum(axis=0, dtype=np.int64)


@compiled(plain=_by_columns, small=2**22)
def add_levels(rows: Bytes, sums: Counts) -> None:
    """sums[v] += the levels of v in all rows."""
    for i in range(rows.shape[0]):
        for v in range(rows.shape[1]):
            sums[v] += rows[i, v]


@compiled
def weigh_levels(rows: Bytes, table: Floats, weights: Floats, out: Floats) -> None:
    """out[i] = the sum over values v of weights[v] times the table at the level of v in row i."""
    for i in range(rows.shape[0]):
        total = 0.0
        for v in range(rows.shape[1]):
            total += weights[v] * table[rows[i, v]]
        out[i] = total


@compiled
def score_levels(rows: Bytes, table: Floats, scores: Floats, out: Floats) -> None:
    """out[v] += the sum over rows i of scores[i] times the table at the level of v in row i."""
    for i in range(rows.shape[0]):
        for v in range(rows.shape[1]):
            out[v] += scores[i] * table[rows[i, v]]


_ZERO = np.uint64(0)


@compiled
def sum_marked(rows: Bitmaps, weights: Floats, out: Floats) -> None:
    """out[i] = the sum of the weights of the values that row i marks."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            word, value = rows[i, j], 64 * j
            while word != _ZERO:
                if word & _ONE:
                    total += weights[value]
                word >>= _ONE
                value += 1
        out[i] = total


@compiled
def add_marked(rows: Bitmaps, scores: Floats, out: Floats) -> None:
    """out[v] += scores[i] for every value v that row i marks."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            word, value = rows[i, j], 64 * j
            while word != _ZERO:
                if word & _ONE:
                    out[value] += scores[i]
                word >>= _ONE
                value += 1
