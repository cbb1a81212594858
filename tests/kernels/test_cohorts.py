"""The kernels of Bloom filters and of the Hadamard sketch equal their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.kernels.cohorts import FEW, count_filters, flip_filters, send_bucket_sign
from tests.naive import cohorts as cohorts_of
from tests.naive import filters as naive_bloom
from tests.naive import unary as naive_bits

pytestmark = pytest.mark.twin


def words_of(rng: np.random.Generator, count: int) -> np.ndarray:
    drawn = rng.integers(0, 2**64, count, dtype=np.uint64)
    drawn[rng.random(count) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    return drawn


@given(st.integers(1, 5), st.integers(1, 3), st.integers(2, 150), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_filters_are_made_and_flipped(cohorts: int, hashes: int, buckets: int, permutes: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, width = 3, int(rng.integers(1, 33))
    size = buckets + int(rng.integers(0, 20)) if permutes else 0
    numbers = rng.integers(0, size or 2**61 - 1, n)
    slices = -(-buckets // 64)
    words = words_of(rng, n * (width * slices + 1))
    flip = int(rng.integers(0, 2**width)) << 64 - width
    rejection = int(rng.choice(np.array([0, 5, 2**61], np.uint64)))
    maps = [cohorts_of.affine_map(seed, f) for f in range(cohorts * hashes)]
    keys = [cohorts_of.round_words(seed, f) for f in range(cohorts * hashes)]
    if permutes:
        table = [[cohorts_of.permutation(own, size)[v] % buckets for v in numbers.tolist()] for own in keys]
    else:
        table = [[cohorts_of.bucket(v, a, b, buckets) for v in numbers.tolist()] for a, b in maps]
    buckets_of = [list(zip(*table[c * hashes : (c + 1) * hashes], strict=True)) for c in range(cohorts)]
    out, again = np.empty((n, 1 + slices), np.uint64), np.empty(n, np.bool_)
    functions = np.array(maps, np.uint64), np.array(keys, np.uint32), np.uint64(size)
    bounds = np.array([cohorts, hashes, buckets], np.uint64)
    count = flip_filters(numbers, words, *functions, bounds, np.uint64(rejection), np.uint64(flip), width, again, out)
    wanted, rejected = naive_bloom.flip_filters(words.tolist(), buckets_of, buckets, rejection, flip, width)
    assert [(row[0], naive_bits.bits_of(row[1:])) for row in out.tolist()] == wanted
    assert again.tolist() == rejected
    assert count == sum(rejected)


@pytest.mark.parametrize("reports", [0, 1, 5, 3 * FEW])
@pytest.mark.parametrize("buckets", [2, 64, 70])
def test_bits_are_counted_by_cohort(reports: int, buckets: int) -> None:
    rng = np.random.default_rng(reports)
    rows = words_of(rng, reports * -(-buckets // 64)).reshape(reports, -(-buckets // 64))
    rows[:, -1] &= np.uint64(2 ** (buckets - 64 * (rows.shape[1] - 1)) - 1)
    # the first cohort is large, the second has none, the third few
    cohorts = np.sort(rng.choice([0, 2], reports, p=[0.9, 0.1]))
    counts = np.arange(3 * (1 + buckets)).reshape(3, -1)
    wanted = naive_bloom.count_filters(rows.tolist(), cohorts.tolist(), counts.tolist())
    count_filters(rows, np.searchsorted(cohorts, np.arange(3), side="right"), counts)
    assert counts.tolist() == wanted


@given(st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_signs_of_buckets_are_sent(cohorts: int, bits: int, truth: int, seed: int) -> None:
    rng, buckets = np.random.default_rng(seed), 2**bits
    numbers, words = rng.integers(0, 2**61 - 1, 8), words_of(rng, 16)
    rejection = int(rng.choice(np.array([0, 5, 2**61], np.uint64)))
    maps = [cohorts_of.affine_map(seed, f) for f in range(cohorts)]
    buckets_of = [[cohorts_of.bucket(v, a, b, buckets) for v in numbers.tolist()] for a, b in maps]
    out, again = np.empty(8, np.uint32), np.empty(8, np.bool_)
    numbers_of = np.uint64(buckets), np.uint64(rejection), np.uint64(truth)
    count = send_bucket_sign(numbers, words, np.array(maps, np.uint64), *numbers_of, again, out)
    wanted = naive_bloom.bucket_signs(words.tolist(), buckets_of, buckets, rejection, truth)
    assert (out.tolist(), again.tolist()) == wanted
    assert count == sum(wanted[1])
