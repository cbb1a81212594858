"""All words of a report whose coins are sliced: a word holds one bit of every coin."""

from __future__ import annotations

from typing import Any

import numpy as np


def sliced_words(m: Any, bits: int) -> np.ndarray:
    """Words of unary encoding: the last `bits` of 32 hold a bit of every coin, then comes the coin of the value."""
    every = np.arange(2 ** ((m.k + 1) * bits), dtype=np.uint64)
    words = np.zeros((len(every), m.stride), np.uint64)
    for place in range(bits):
        words[:, m.stride - 1 - bits + place] = every >> np.uint64(place * m.k) & np.uint64(2**m.k - 1)
    words[:, -1] = every >> np.uint64(bits * m.k) << np.uint64(64 - bits)
    return words


def coins(m: Any) -> int:
    """One for every value, and one more for the value of the sender."""
    return int(m.k + 1)
