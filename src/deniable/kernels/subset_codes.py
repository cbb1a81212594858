"""Many subsets to bytes and back: the compiled form of mechanisms/subset_codes.py, which explains the code."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Rows = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]

_WHOLE = np.uint64(2**64 - 1)
_LEAST = np.uint64(2**48)
_SCALE = 2.0**52
_EXTRA = np.uint64(20)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)
_BYTE = np.uint64(8)
_DIGIT = np.uint64(16)
_TOP = np.uint64(56)


@compiled
def encode_subsets(rows: Rows, k: int, w: int, out: Bytes) -> None:
    """Write the code of each subset of w of k values over a row of `out`."""
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
        # round up to whole bytes
        step = (_ONE << np.uint64(8 * (written + 8 - data.shape[0]))) - _ONE
        low += step
        if low < step:
            _carry(data, written)
        for place in range(written, data.shape[0]):
            data[place] = low >> _TOP
            low <<= _BYTE


@compiled
def decode_subsets(data: Bytes, k: int, w: int, out: Rows) -> int:
    """Write the subset of each code; returns the position of the first row that is no code, or -1."""
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
            # without a branch: in dense sets it would be guessed wrong half the time
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
        if offset >> np.uint64(8 * (read - data.shape[1])):
            return i
    return -1


@compiled
def _inside(width: Any, lacking: int, left: int) -> Any:
    """The part of the width that stands for a value in the set.

    The quotient of doubles is floored exactly, since both are whole numbers below 2^53.
    """
    chance = (np.uint64(lacking) * np.uint64(_SCALE / left)) >> _EXTRA
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
    """A byte of the code; zeros follow its end."""
    return np.uint64(row[place]) if place < row.shape[0] else np.uint64(0)
