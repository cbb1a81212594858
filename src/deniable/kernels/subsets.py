"""The loop of subset selection: a uniform subset of the other values, and the value in it or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled
from deniable.kernels.words import high_half

Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.uint64]

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
    again: npt.NDArray[np.bool_],
    out: Rows,
) -> int:
    """out = a subset of w values as a bitmap; marks and counts rejected reports.

    Each report owns w + 1 words: the coin, one spare value of k - 1, then w - 1 of the other k - 2 by Floyd's
    method. Values are drawn as if the sender's were k - 1 and the spare one k - 2; both are put in place
    at the end, by exchanging two bits. So the loop that draws knows neither the value nor the coin; the
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
            added = bound - _ONE if known else drawn
            row[added >> _WORD] |= _ONE << (added & _PLACE)
            bound += _ONE
        _exchange(row, spare, last - _ONE)
        added = last if words[first] < truth else spare
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
