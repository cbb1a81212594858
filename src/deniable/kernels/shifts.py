"""The loop of difference mechanisms: move a value by a random element inside or outside a set."""

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
def shift(
    values: Indices,
    words: Words,
    truth: Any,
    bounds: Words,
    rejections: Words,
    elements: Payloads,
    multipliers: Words,
    again: npt.NDArray[np.bool_],
    out: Payloads,
) -> int:
    """out = cohort K + (value + multiplier[cohort] element) mod K; marks and counts rejected reports.

    Each report owns four words: the coin, the cohort, a place inside and a place outside the set.
    `bounds` are the numbers of cohorts, of elements inside and of elements outside; `elements` lists
    those inside first.
    """
    inside = bounds[1]
    modulus = bounds[1] + bounds[2]
    count = 0
    for i in range(values.shape[0]):
        coin, first, second, third = words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]
        rejected = (
            (first * bounds[0] < rejections[0])
            | (second * bounds[1] < rejections[1])
            | (third * bounds[2] < rejections[2])
        )
        again[i] = rejected
        count += rejected
        cohort = high_half(first, bounds[0])
        place_inside = high_half(second, bounds[1])
        place_outside = inside + high_half(third, bounds[2])
        element = np.uint64(elements[place_inside if coin < truth else place_outside])
        moved = (np.uint64(values[i]) + multipliers[cohort] * element) % modulus
        out[i] = np.uint32(cohort * modulus + moved)
    return count
