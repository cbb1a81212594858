"""The loop of discrete Laplace noise: independent coins give the binary digits of a number, and its sign."""

from __future__ import annotations

import sys

import numpy as np

from deniable.core.arrays import Integers, Mask, Words
from deniable.kernels import compiled

_ONE = np.int64(1)
_SWAP = 0 if sys.byteorder == "little" else 1  # where the low half of a word is


@compiled
def draw_noise(words: Words, thresholds: Words, undecided: Mask, out: Integers) -> int:
    """out = the number whose digits are `half word < threshold`, or -1 - number if the last coin but one is true.

    An element owns one word per two thresholds, the low half first. It is undecided, and counted, if a half equals its
    threshold or the last coin is true. No branch depends on the words.
    """
    count = 0
    halves, limits = words.view(np.uint32), thresholds.astype(np.uint32)  # in 32 bits, many are compared at once
    coins = limits.shape[0]
    places = _ONE << np.arange(coins)
    sign = coins - 2
    for i in range(out.shape[0]):
        number, ties = np.int64(0), np.int64(0)
        for j in range(coins):
            half = halves[i * coins + (j ^ _SWAP)]
            number |= places[j] & -np.int64(half < limits[j])
            ties |= -np.int64(half == limits[j])
        again = (ties | number >> (sign + 1)) != 0
        undecided[i] = again
        count += again
        out[i] = (number & (places[sign] - 1)) ^ -(number >> sign & 1)
    return count
