"""The loops of randomised response: keep the value or replace it, and count."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bytes, Indices, Integers, Symbols, Words
from deniable.kernels import SMALL, compiled
from deniable.kernels.words import high_half, picked


@compiled
def replace(values: Indices, words: Words, truth: Any, k: Any, rejection: Any, out: Symbols) -> int:
    """out = value if word 0 < truth, else the integer below k drawn by word 1; counts rejected draws.

    Each report owns two words; k must be below 2^32.
    Every report is written, including the rejected ones, which the caller draws again (see `rejected`).
    """
    count = 0
    for i in range(values.shape[0]):
        word = words[2 * i + 1]
        count += word * k < rejection
        out[i] = np.uint32(picked(words[2 * i] < truth, np.uint64(values[i]), high_half(word, k)))
    return count


@compiled
def rejected(words: Words, k: Any, rejection: Any, out: Indices) -> int:
    """Write the positions of the reports whose second word is rejected to `out`; return their number."""
    count = 0
    for i in range(words.shape[0] // 2):
        if words[2 * i + 1] * k < rejection:
            out[count] = i
            count += 1
    return count


def _by_bincount(reports: Symbols, counts: Integers) -> None:
    counts += np.bincount(reports, minlength=len(counts))


@compiled(plain=_by_bincount, small=2**20)
def count_into(reports: Symbols, counts: Integers) -> None:
    """counts[report] += 1 for every report; all must be below len(counts)."""
    for i in range(reports.shape[0]):
        counts[reports[i]] += 1


@compiled(small=SMALL)
def count_groups(reports: Symbols, codes: Indices, places: Indices, low: Bytes, counts: Integers) -> None:
    """Count report i in cell reports[i] of row places[codes[i]]; all must lie within the arrays.

    A count is 256 times its entry of `counts` plus that of `low`: the bytes, most often touched, fit a cache that the
    counts would not.
    """
    for i in range(reports.shape[0]):
        row, cell = places[codes[i]], reports[i]
        more = (low[row, cell] + 1) & 255
        low[row, cell] = more
        if more == 0:
            counts[row, cell] += 1
