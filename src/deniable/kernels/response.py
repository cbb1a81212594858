"""The loops of randomised response: keep the value or replace it, and count."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bytes, Groups, Indices, Integers, Symbols, Words
from deniable.kernels import SMALL, compiled
from deniable.kernels.words import kept


@compiled
def replace(values: Indices, words: Words, truth: Any, share: Any, reciprocal: Any, out: Symbols) -> None:
    """out = value if its word < truth, else (word - truth) div share, which must be below 2^32."""
    for i in range(values.shape[0]):
        out[i] = np.uint32(kept(words[i], np.uint64(values[i]), truth, share, reciprocal))


def _by_bincount(reports: Symbols, counts: Integers) -> None:
    counts += np.bincount(reports, minlength=len(counts))


@compiled(plain=_by_bincount, small=2**20)
def count_into(reports: Symbols, counts: Integers) -> None:
    """counts[report] += 1 for every report; all must be below len(counts)."""
    for i in range(reports.shape[0]):
        counts[reports[i]] += 1


@compiled(small=SMALL)
def count_groups(reports: Symbols, codes: Groups, places: Indices, low: Bytes, counts: Integers) -> None:
    """Count report i in cell reports[i] of row places[codes[i]]; all must lie within the arrays.

    A count is the sum of its entries of `counts` and `low`: the bytes, most often touched, fit a cache that the counts
    would not.
    """
    for i in range(reports.shape[0]):
        row, cell = np.uint64(places[codes[i]]), np.uint64(reports[i])  # never negative, which need not be looked at
        more = (low[row, cell] + 1) & 255
        low[row, cell] = more
        if more == 0:
            counts[row, cell] += 256
