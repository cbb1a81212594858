"""The loop of hashed randomised response: draw a cohort, hash the value there, and keep or replace its bucket."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled
from deniable.kernels.cohort_hashes import affine_bucket, permuted_index
from deniable.kernels.words import high_half

Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint32]
Payloads = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]


@compiled
def replace_hashed(
    numbers: Indices,
    words: Words,
    maps: Words,
    keys: Keys,
    size: Any,
    bounds: Words,
    rejections: Words,
    truth: Any,
    again: Mask,
    out: Payloads,
) -> int:
    """out = c m + b: cohort c drawn by word 0; b the number's bucket there if word 1 < truth, else drawn by word 2.

    `bounds` are the cohorts and the buckets m. The functions of the cohorts are affine maps, or, unless `size` is 0,
    permutations of that many indices, whose round keys are given. Marks in `again` the reports of which a draw was
    rejected, and counts them.
    """
    cohorts, buckets, permutes = bounds[0], bounds[1], size > 0
    count = 0
    for i in range(numbers.shape[0]):
        cohort = high_half(words[3 * i], cohorts)
        number = np.uint64(numbers[i])
        if permutes:
            own = np.uint64(permuted_index(number, keys[cohort], np.uint32(size))) % buckets
        else:
            own = affine_bucket(number, maps[cohort, 0], maps[cohort, 1], buckets)
        drawn = high_half(words[3 * i + 2], buckets)
        kept = own if words[3 * i + 1] < truth else drawn
        out[i] = np.uint32(cohort * buckets + kept)
        again[i] = (words[3 * i] * cohorts < rejections[0]) | (words[3 * i + 2] * buckets < rejections[1])
        count += again[i]
    return count
