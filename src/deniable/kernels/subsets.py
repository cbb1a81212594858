"""The loops of subset selection: a uniform subset with or without the value, and the codes of many subsets."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bitmaps, Bytes, Indices, Mask, Words
from deniable.kernels import compiled
from deniable.kernels.words import high_half, picked

_ONE = np.uint64(1)
_WORD = np.uint64(6)
_PLACE = np.uint64(63)


@compiled
def select(
    values: Indices,
    words: Words,
    truth: Any,
    k: Any,
    w: int,
    rejections: Words,
    again: Mask,
    out: Bitmaps,
) -> int:
    """out = a subset of w values as a bitmap; marks and counts rejected reports.

    Each report owns w + 1 words: the coin, one spare value of the other k - 1, then w - 1 of the remaining k - 2 by
    Floyd's method. Values are drawn as if the sender's value were k - 1 and the spare value k - 2; both are put in
    place at the end by exchanging two bits. So the loop that draws depends on neither the value nor the coin; the
    exchange addresses memory by the value.
    """
    last = k - _ONE
    count = 0
    for i in range(values.shape[0]):
        row = out[i]
        row[:] = np.uint64(0)
        first = i * (w + 1)
        word = words[first + 1]
        spare = high_half(word, last)
        rejected = word * last < rejections[0]
        bound = k - np.uint64(w)
        for j in range(1, w):
            word = words[first + 1 + j]
            drawn = high_half(word, bound)
            rejected |= word * bound < rejections[j]
            known = (row[drawn >> _WORD] >> (drawn & _PLACE)) & _ONE
            added = picked(known, bound - _ONE, drawn)
            row[added >> _WORD] |= _ONE << (added & _PLACE)
            bound += _ONE
        _exchange(row, spare, last - _ONE)
        added = picked(words[first] < truth, last, spare)
        row[added >> _WORD] |= _ONE << (added & _PLACE)
        _exchange(row, np.uint64(values[i]), last)
        again[i] = rejected
        count += rejected
    return count


@compiled
def _exchange(row: Words, a: Any, b: Any) -> None:
    """Exchange two bits of a bitmap; nothing happens if they are the same."""
    differ = ((row[a >> _WORD] >> (a & _PLACE)) ^ (row[b >> _WORD] >> (b & _PLACE))) & _ONE
    row[a >> _WORD] ^= differ << (a & _PLACE)
    row[b >> _WORD] ^= differ << (b & _PLACE)


_WHOLE = np.uint64(2**64 - 1)
_LEAST = np.uint64(2**48)
_SCALE = 2.0**52
_EXTRA = np.uint64(20)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_BYTE = np.uint64(8)
_DIGIT = np.uint64(16)
_TOP = np.uint64(56)


@compiled
def encode_subsets(rows: Bitmaps, k: int, w: int, unused: int, out: Bytes) -> None:
    """Write the code of each subset of w of k values to a row of `out`, which ends in `unused` zero bits."""
    for i in range(rows.shape[0]):
        data = out[i]
        low = np.uint64(0)
        width = _WHOLE
        lacking = w
        written = 0
        for value in range(k):
            if lacking == 0 or lacking == k - value:
                break
            inside = _inside(width, lacking, k - value)
            if (rows[i, value >> 6] >> np.uint64(value & 63)) & _ONE:
                low += width - inside
                if low < width - inside:
                    _carry(data, written)
                width = inside
                lacking -= 1
            else:
                width -= inside
            while width < _LEAST:
                data[written] = low >> _TOP
                data[written + 1] = (low >> (_TOP - _BYTE)) & np.uint64(255)
                written += 2
                low <<= _DIGIT
                width <<= _DIGIT
        # round up
        step = (_ONE << np.uint64(8 * (written + 8 - data.shape[0]) + unused)) - _ONE
        low += step
        if low < step:
            _carry(data, written)
        low &= ~step
        for place in range(written, data.shape[0]):
            data[place] = low >> _TOP
            low <<= _BYTE


@compiled
def decode_subsets(data: Bytes, k: int, w: int, unused: int, out: Bitmaps) -> int:
    """Write the subset of each code, which ends in `unused` bits; return the position of the first wrong one, or -1."""
    for i in range(data.shape[0]):
        out[i] = np.uint64(0)
        offset = np.uint64(0)
        for place in range(8):
            offset = (offset << _BYTE) | _byte(data[i], place)
        read = 8
        width = _WHOLE
        if offset >= width:
            return i
        lacking = w
        value = 0
        while 0 < lacking < k - value:
            inside = _inside(width, lacking, k - value)
            outside = width - inside
            # without a branch, which dense sets would mispredict half the time
            taken = np.uint64(offset >= outside)
            offset -= outside * taken
            width = inside if taken else outside
            lacking -= 1 if taken else 0
            out[i, value >> 6] |= taken << np.uint64(value & 63)
            value += 1
            while width < _LEAST:
                offset = (offset << _BYTE) | _byte(data[i], read)
                offset = (offset << _BYTE) | _byte(data[i], read + 1)
                read += 2
                width <<= _DIGIT
        for rest in range(value, value + lacking):
            out[i, rest >> 6] |= _ONE << np.uint64(rest & 63)
        if offset >> np.uint64(8 * (read - data.shape[1]) + unused):
            return i
    return -1


@compiled
def _inside(width: Any, lacking: int, remaining: int) -> Any:
    """The part of the width that represents a value in the set.

    The quotient of doubles is floored exactly, since both are integers below 2^53.
    """
    chance = (np.uint64(lacking) * np.uint64(_SCALE / remaining)) >> _EXTRA
    return (width >> _HALF) * chance + (((width & _LOW) * chance) >> _HALF)


@compiled
def _carry(data: Bytes, written: int) -> None:
    """Add one to the number written so far."""
    place = written - 1
    while data[place] == 255:
        data[place] = 0
        place -= 1
    data[place] += 1


@compiled
def _byte(row: Bytes, place: int) -> Any:
    """A byte of the code, or zero beyond its end."""
    return np.uint64(row[place]) if place < row.shape[0] else np.uint64(0)
