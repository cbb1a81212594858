"""All words of a report that is a Bloom filter: a word holds one bit of every coin."""

from __future__ import annotations

from typing import Any

import numpy as np


def filter_words(m: Any, bits: int) -> np.ndarray:
    """Words of Bloom filters: the cohort, then `bits` of 32 words that hold a bit of every coin."""
    every = np.arange(2 ** ((m.buckets + 1) * bits), dtype=np.uint64)
    words = np.zeros((len(every), m.stride), np.uint64)
    words[:, 0] = every >> np.uint64(bits * m.buckets) << np.uint64(64 - bits)
    for place in range(bits):
        words[:, m.stride - bits + place] = every >> np.uint64(place * m.buckets) & np.uint64(2**m.buckets - 1)
    return words


def draws(m: Any) -> int:
    """One for every bucket, and the cohort."""
    return int(m.buckets + 1)
