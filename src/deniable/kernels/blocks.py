"""The loop of block designs: a random block among those with a value, or among those without it."""

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
def choose_block(
    values: Indices,
    words: Words,
    truth: Any,
    bounds: Words,
    rejections: Words,
    places: Payloads,
    again: npt.NDArray[np.bool_],
    out: Payloads,
) -> int:
    """out = places[value, a random place]; marks and counts rejected reports.

    Each report owns three words: the coin, a place among the bounds[0] blocks with the value, which its row of
    `places` lists first, and a place among the bounds[1] others.
    """
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = (first * bounds[0] < rejections[0]) | (second * bounds[1] < rejections[1])
        again[i] = rejected
        count += rejected
        inside = high_half(first, bounds[0])
        outside = bounds[0] + high_half(second, bounds[1])
        out[i] = places[values[i], inside if coin < truth else outside]
    return count
