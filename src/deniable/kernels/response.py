"""The loops of randomised response: keep the value or replace it, and count."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Indices, Integers, Symbols, Words
from deniable.kernels import compiled
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
