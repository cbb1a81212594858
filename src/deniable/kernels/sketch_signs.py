"""The loop of the Hadamard sketch: one random sign of the Hadamard transform of a value's bucket, kept or turned."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled
from deniable.kernels.cohort_hashes import affine_bucket
from deniable.kernels.parities import parity
from deniable.kernels.words import high_half

Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Payloads = npt.NDArray[np.uint32]

_ONE = np.uint64(1)


@compiled
def send_bucket_sign(
    numbers: Indices,
    words: Words,
    maps: Words,
    buckets: Any,
    rejection: Any,
    truth: Any,
    again: npt.NDArray[np.bool_],
    out: Payloads,
) -> int:
    """out = 2 (c (m - 1) + l - 1) + s: cohort c and coordinate l > 0 drawn by word 0, s by the bucket and word 1.

    s is the parity of l and the number's bucket in cohort c, of m, if word 1 < truth, else the other one. Marks in
    `again` the reports of which the draw was rejected, and counts them.
    """
    coordinates = buckets - _ONE
    pairs = np.uint64(maps.shape[0]) * coordinates
    count = 0
    for i in range(numbers.shape[0]):
        pair = high_half(words[2 * i], pairs)
        row = maps[pair // coordinates]
        bucket = affine_bucket(np.uint64(numbers[i]), row[0], row[1], buckets)
        turned = np.uint64(words[2 * i + 1] >= truth)
        out[i] = np.uint32((pair << _ONE) | (parity((pair % coordinates + _ONE) & bucket) ^ turned))
        again[i] = words[2 * i] * pairs < rejection
        count += again[i]
    return count
