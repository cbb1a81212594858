"""The loops of Bloom filters by cohort: make a filter and flip its bits, and count the bits of each cohort."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled
from deniable.kernels.bits import count_bits, toss_row
from deniable.kernels.cohort_hashes import affine_bucket, permuted_index
from deniable.kernels.words import high_half

Indices = npt.NDArray[np.int64]
Counts = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Keys = npt.NDArray[np.uint32]
Rows = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

FEW = 24  # reports of a cohort up to which their bits are added one by one
_ONE = np.uint64(1)
_PLACE = np.uint64(63)
_WORD = np.uint64(6)


@compiled
def flip_filters(
    numbers: Indices,
    words: Words,
    maps: Words,
    keys: Keys,
    size: Any,
    bounds: Words,
    rejection: Any,
    flip: Any,
    width: int,
    again: Mask,
    out: Rows,
) -> int:
    """out[i] = the cohort c, drawn by word 0, then the number's filter there xor coins of the other words, U < flip.

    `bounds` are the cohorts, their hash functions and the buckets; the other arguments are those of
    `cohort_replacement.replace_hashed` and of `bits.toss_row`. Marks in `again` the reports of which the cohort
    was rejected, and counts them.
    """
    cohorts, hashes, buckets, permutes = bounds[0], bounds[1], bounds[2], size > 0
    slices = out.shape[1] - 1
    stride = width * slices + 1
    own = np.empty(slices, np.uint64)
    used = buckets - np.uint64(64 * (slices - 1))
    last = ~np.uint64(0) >> (np.uint64(64) - used)
    count = 0
    for i in range(numbers.shape[0]):
        first = i * stride
        cohort = high_half(words[first], cohorts)
        row = out[i, 1:]
        toss_row(words[first + 1 : first + stride], flip, width, row)
        number = np.uint64(numbers[i])
        own[:] = 0
        for f in range(cohort * hashes, cohort * hashes + hashes):
            if permutes:
                bucket = np.uint64(permuted_index(number, keys[f], np.uint32(size))) % buckets
            else:
                bucket = affine_bucket(number, maps[f, 0], maps[f, 1], buckets)
            for j in range(slices):  # every word is treated alike, so that none betrays the value
                own[j] |= np.uint64(bucket >> _WORD == np.uint64(j)) << (bucket & _PLACE)
        for j in range(slices):
            row[j] ^= own[j]
        row[slices - 1] &= last
        out[i, 0] = cohort
        again[i] = words[first] * cohorts < rejection
        count += again[i]
    return count


@compiled
def count_filters(rows: Rows, ends: Indices, counts: Counts) -> None:
    """counts[c] += how many reports cohort c has, then how many of them have each bit set.

    `rows` are the bits of reports sorted by cohort; those of cohort c end at ends[c].
    """
    start = 0
    for c in range(ends.shape[0]):
        own = rows[start : ends[c]]
        start = ends[c]
        counts[c, 0] += own.shape[0]
        if own.shape[0] > FEW:
            count_bits(own, counts[c, 1:])
            continue
        for i in range(own.shape[0]):
            for b in range(counts.shape[1] - 1):
                counts[c, 1 + b] += np.int64((own[i, b >> 6] >> np.uint64(b & 63)) & _ONE)
