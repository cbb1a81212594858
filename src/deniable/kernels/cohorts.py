"""The loops of the cohort mechanisms: a cohort's bucket kept or replaced, filters flipped and counted, signs sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bitmaps, Counts, Indices, Keys, Mask, Symbols, Words
from deniable.kernels import compiled
from deniable.kernels.cohort_hashes import affine_bucket, permuted_index
from deniable.kernels.hadamard import parity
from deniable.kernels.unary import count_bits, toss_row
from deniable.kernels.words import high_half, picked


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
    out: Symbols,
) -> int:
    """out = c m + b: cohort c drawn by word 0; b the number's bucket there if word 1 < truth, else drawn by word 2.

    `bounds` are the numbers of cohorts and of buckets m. The functions of the cohorts are affine maps or, unless `size`
    is 0, permutations of `size` indices with these round keys. Marks in `again`, and counts, the reports with a
    rejected draw.
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
        kept = picked(words[3 * i + 1] < truth, own, drawn)
        out[i] = np.uint32(cohort * buckets + kept)
        again[i] = (words[3 * i] * cohorts < rejections[0]) | (words[3 * i + 2] * buckets < rejections[1])
        count += again[i]
    return count


FEW = 24  # up to this number of reports in a cohort, their bits are added one by one
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
    out: Bitmaps,
) -> int:
    """out[i] = the cohort c, drawn by word 0, then the number's filter there xor coins of the other words, U < flip.

    `bounds` are the numbers of cohorts, of hash functions per cohort and of buckets; the other arguments are as in
    `replace_hashed` and `unary.toss_row`. Marks in `again`, and counts, the reports whose cohort was rejected.
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


def _by_cohort(rows: Bitmaps, ends: Indices, counts: Counts) -> None:
    for own, row in zip(np.split(rows, ends[:-1]), counts, strict=True):
        row[0] += len(own)
        count_bits(own, row[1:])


@compiled(plain=_by_cohort, small=2**16)
def count_filters(rows: Bitmaps, ends: Indices, counts: Counts) -> None:
    """counts[c] += the number of reports of cohort c, then the number of them that have each bit set.

    `rows` are the bits of reports sorted by cohort; the rows of cohort c end at ends[c].
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


@compiled
def send_bucket_sign(
    numbers: Indices,
    words: Words,
    maps: Words,
    buckets: Any,
    rejection: Any,
    truth: Any,
    again: Mask,
    out: Symbols,
) -> int:
    """out = 2 (c (m - 1) + l - 1) + s: cohort c and coordinate l > 0 drawn by word 0, s by the bucket and word 1.

    s is the parity of l and the number's bucket in cohort c, one of m, if word 1 < truth, else the opposite parity.
    Marks in `again`, and counts, the reports whose draw was rejected.
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
