"""The loop of discrete Laplace noise: independent coins that are the binary digits of a number, and its sign."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Words = npt.NDArray[np.uint64]

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ONE = np.uint64(1)


@compiled
def draw_noise(words: Words, thresholds: Words, undecided: npt.NDArray[np.bool_], out: npt.NDArray[np.int64]) -> int:
    """out = the number whose digits are `half word < threshold`, negated (-1 - number) by the last coin but one.

    An element owns a word for two thresholds, the low half first. It is undecided, and counted, if a half equals its
    threshold or the last coin is true. No branch depends on what was drawn.
    """
    count = 0
    stride = thresholds.shape[0] // 2
    sign = np.uint64(2 * stride - 2)
    below = (_ONE << sign) - _ONE
    for i in range(out.shape[0]):
        number = np.uint64(0)
        tie = False
        for j in range(stride):
            word = words[i * stride + j]
            low, high = word & _LOW, word >> _HALF
            tie |= (low == thresholds[2 * j]) | (high == thresholds[2 * j + 1])
            pair = np.uint64(low < thresholds[2 * j]) | (np.uint64(high < thresholds[2 * j + 1]) << _ONE)
            number |= pair << np.uint64(2 * j)
        again = tie | ((number >> (sign + _ONE)) != np.uint64(0))
        undecided[i] = again
        count += again
        out[i] = np.int64(number & below) ^ -np.int64((number >> sign) & _ONE)
    return count
