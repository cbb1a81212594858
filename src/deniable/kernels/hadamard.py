"""The loops of the Hadamard mechanisms: the fast Walsh-Hadamard transform, and reports by parity.

transformed[i] = sum_j row[j] (-1)^(number of ones of i & j). Integers stay exact as long as the sums of their absolute
values fit in 64 bits; applied twice, the transform multiplies by the length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Indices, Mask, Numbers, Symbols, Words
from deniable.kernels import compiled, part
from deniable.kernels.words import high_half, picked

_IN_CACHE = 4096  # size of the pieces that are transformed by themselves before they are combined


@compiled()
def transform(rows: Numbers) -> None:
    """Transform the last axis of a contiguous array of rows, in place.

    Cost: log2(length)/2 passes of additions; pieces of up to 4096 numbers stay in the processor's first-level cache.
    """
    length = rows.shape[1]
    piece = min(length, _IN_CACHE)
    for i in range(rows.shape[0]):
        for start in range(0, length, piece):
            _combine(rows[i, start : start + piece], 1)
        _combine(rows[i], piece)


@part
def _combine(row: Any, ready: int) -> None:
    """Finish a row whose consecutive pieces of `ready` numbers are transformed; two doublings per pass."""
    length = row.shape[0]
    step = ready
    while 4 * step <= length:
        for start in range(0, length, 4 * step):
            for j in range(start, start + step):
                a, b, c, d = row[j], row[j + step], row[j + 2 * step], row[j + 3 * step]
                row[j] = (a + b) + (c + d)
                row[j + step] = (a - b) + (c - d)
                row[j + 2 * step] = (a + b) - (c + d)
                row[j + 3 * step] = (a - b) - (c - d)
        step *= 4
    while 2 * step <= length:
        for start in range(0, length, 2 * step):
            for j in range(start, start + step):
                a, b = row[j], row[j + step]
                row[j] = a + b
                row[j + step] = a - b
        step *= 2


_ONE = np.uint64(1)
_TWO, _FOUR, _EIGHT, _SIXTEEN = np.uint64(2), np.uint64(4), np.uint64(8), np.uint64(16)


@compiled
def parity(number: Any) -> Any:
    """1 if a number below 2^32 has an odd number of ones, else 0; without a branch."""
    number ^= number >> _SIXTEEN
    number ^= number >> _EIGHT
    number ^= number >> _FOUR
    number ^= number >> _TWO
    return (number ^ (number >> _ONE)) & _ONE


@compiled
def choose_parity(
    values: Indices,
    words: Words,
    truth: Any,
    block_bits: Any,
    size_bits: Any,
    rejections: Words,
    division: Words,
    again: Mask,
    out: Symbols,
) -> int:
    """out = block (b - 1) + u - 1 of a random place; marks and counts rejected reports.

    Each report owns three words: the coin, one of the b/2 - 1 places that support the value, and one of the others.
    Place p moves the block by p div (b - 1), bit by bit, and stands for the number u that t = p mod (b - 1) + 1 names:
    from b/2 on it has odd parities with the value's number, below even ones (see mechanisms/hadamard/
    hadamard_response.py). `division` holds m and r with p div (b - 1) = (p m) >> r.
    """
    each = (_ONE << size_bits) - _ONE
    half = _ONE << (size_bits - _ONE)
    inside = half - _ONE
    outside = (each << block_bits) - inside
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = (first * inside < rejections[0]) | (second * outside < rejections[1])
        again[i] = rejected
        count += rejected
        place_inside, place_outside = high_half(first, inside), inside + high_half(second, outside)
        place = picked(coin < truth, place_inside, place_outside)
        moved = (place * division[0]) >> division[1]
        place = place - moved * each + _ONE
        value = np.uint64(values[i])
        number = (value >> block_bits) + _ONE
        lowest = number & (~number + _ONE)
        rest = place & (half - _ONE)
        # the bits of `rest`, with a gap at the number's lowest one; the bit in the gap sets the parity
        below = rest & (lowest - _ONE)
        gapped = below | ((rest ^ below) << _ONE)
        odd = ((place & half) >> (size_bits - _ONE)) ^ parity(gapped & number)
        block = (value & ((_ONE << block_bits) - _ONE)) ^ moved
        out[i] = np.uint32(block * each + (gapped | lowest * odd) - _ONE)
    return count


@compiled
def send_sign(
    values: Indices,
    words: Words,
    truth: Any,
    block_bits: Any,
    rows: Any,
    rejection: Any,
    again: Mask,
    out: Symbols,
) -> int:
    """out = (row - 1) N + symbol, N symbols, for a public row from 1 to `rows`; marks and counts rejected reports.

    Each report owns three words: the coin, the uniform symbol that may replace the true one, and the row. The true
    symbol is twice the value's block, plus one if the value's number has an odd parity with the row.
    """
    symbols = _TWO << block_bits
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = second * rows < rejection
        again[i] = rejected
        count += rejected
        replacement, place = high_half(first, symbols), high_half(second, rows)
        value = np.uint64(values[i])
        block = value & ((_ONE << block_bits) - _ONE)
        own = (block << _ONE) | parity((value >> block_bits) & (place + _ONE))
        out[i] = np.uint32(place * symbols + picked(coin < truth, own, replacement))
    return count
