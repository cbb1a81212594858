"""The loops of randomised response: keep the value or replace it, and count."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Indices, Integers, Symbols, Words
from deniable.kernels import compiled
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


def _by_add_at(reports: Symbols, codes: Indices, places: Indices, counts: Integers) -> None:
    np.add.at(counts, (places[codes], reports), 1)


@compiled(plain=_by_add_at)
def count_groups(reports: Symbols, codes: Indices, places: Indices, counts: Integers) -> None:
    """counts[places[codes[i]], reports[i]] += 1 for every report i; all must lie within the array."""
    for i in range(reports.shape[0]):
        counts[places[codes[i]], reports[i]] += 1
