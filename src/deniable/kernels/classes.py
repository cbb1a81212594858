"""The loop of cyclotomic local hashing: the class of a difference, kept or replaced."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled
from deniable.kernels.words import high_half

Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Payloads = npt.NDArray[np.uint32]


@compiled
def classify(
    values: Indices,
    words: Words,
    truth: Any,
    bounds: Words,
    rejections: Words,
    table: Payloads,
    again: npt.NDArray[np.bool_],
    out: Payloads,
) -> int:
    """out = y N + the class of value - y mod K, or a uniform class; marks and counts rejected reports.

    Each report owns three words: the coin, a class below N and the public y below K. `bounds` are N and K;
    `table` gives the class of every difference, and N for 0, which has none and always sends the uniform class.
    """
    classes, modulus = bounds[0], bounds[1]
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = (first * classes < rejections[0]) | (second * modulus < rejections[1])
        again[i] = rejected
        count += rejected
        replacement, public = high_half(first, classes), high_half(second, modulus)
        own = np.uint64(table[(np.uint64(values[i]) + modulus - public) % modulus])
        kept = (coin < truth) & (own < classes)
        out[i] = np.uint32(public * classes + (own if kept else replacement))
    return count
