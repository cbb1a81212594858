"""Public hash functions: the published answers, permutations that are permutations, collisions as rare as promised."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from deniable.core import hashing
from deniable.kernels import cohort_hashes as kernels
from tests import ROOT
from tests.naive import cohorts as naive

ALPHA = 1e-9
VECTORS = json.loads((ROOT / "vectors" / "hashing" / "functions.json").read_text())


def test_digests_are_the_published_ones() -> None:
    for vector in VECTORS["digests"]:
        data, key = bytes.fromhex(vector["bytes"]), vector["key"].encode()
        assert hashing.digest(data, key) == int(vector["digest"]) == naive.digest(data, key)


def test_the_numbers_of_functions_are_the_published_ones() -> None:
    for vector in VECTORS["affine_maps"]:
        found = hashing.affine_map(vector["seed"], vector["number"])
        assert found == (int(vector["a"]), int(vector["b"])) == naive.affine_map(vector["seed"], vector["number"])
    for vector in VECTORS["round_keys"]:
        found = hashing.round_key(vector["seed"], vector["number"])
        assert list(found) == vector["words"] == naive.round_words(vector["seed"], vector["number"])


def test_buckets_and_permutations_are_the_published_ones() -> None:
    for vector in VECTORS["buckets"]:
        function = hashing.affine_map(vector["seed"], vector["number"])
        assert hashing.bucket(int(vector["value"]), function, vector["buckets"]) == vector["bucket"]
    for vector in VECTORS["permutations"]:
        keys = hashing.round_key(vector["seed"], vector["number"])
        images = [hashing.permuted(index, keys, vector["size"]) for index in range(len(vector["images"]))]
        assert images == vector["images"]


def test_a_few_answers_written_out() -> None:
    # so that a change of the vectors and of the code together is noticed
    assert hashing.digest(b"", b"") == 2079115866683419379
    assert hashing.affine_map(0, 0) == (2039616148376080543, 1582580961550760168)
    assert [hashing.permuted(index, hashing.round_key(0, 0), 5) for index in range(5)] == [3, 1, 0, 2, 4]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 64, 100, 257, 1000])
def test_permutations_are_permutations(size: int) -> None:
    for keys in hashing.round_keys(3, 4):
        images = [hashing.permuted(index, keys, size) for index in range(size)]
        assert sorted(images) == list(range(size))
        assert images == naive.permutation(list(keys), size)


def test_every_place_is_equally_likely_under_random_permutations() -> None:
    size, count = 7, 4000
    seen = np.zeros((size, size))
    for keys in hashing.round_keys(11, count):
        for index in range(size):
            seen[index, hashing.permuted(index, keys, size)] += 1
    statistic = float(((seen - count / size) ** 2 / (count / size)).sum())
    assert statistic < chi2.isf(ALPHA, (size - 1) ** 2)  # rows and columns are fixed


def chance_of(shared: int, trials: int, rate: float) -> float:
    """The chance of so many collisions, or of a number as far out on the same side, twice."""
    return 2 * min(float(binom.cdf(shared, trials, rate)), float(binom.sf(shared - 1, trials, rate)))


@pytest.mark.parametrize("buckets", [2, 3, 10, 64, 1000])
def test_two_strings_share_a_bucket_as_often_as_promised(buckets: int) -> None:
    # two fixed numbers under many functions: independent trials of chance 1/buckets; false alarms at 1e-9 each
    count = 40_000
    maps = list(hashing.affine_maps(5, count))
    for pair in ((0, 1), (123, 2**60), tuple(hashing.digest(text, b"") for text in (b"example.org", b"example.com"))):
        a, b = (np.array([hashing.bucket(number, function, buckets) for function in maps]) for number in pair)
        assert chance_of(int((a == b).sum()), count, 1 / buckets) > ALPHA


def test_permuted_values_share_a_bucket_as_often_as_promised() -> None:
    # two fixed indices of 60, in 6 equally full buckets: chance (10 - 1)/(60 - 1)
    count = 20_000
    keys = list(hashing.round_keys(5, count))
    for pair in ((0, 1), (3, 57), (30, 29)):
        a, b = (np.array([hashing.permuted(index, own, 60) % 6 for own in keys]) for index in pair)
        assert chance_of(int((a == b).sum()), count, 9 / 59) > ALPHA


def test_too_many_collisions_are_noticed() -> None:
    # a multiplication alone, without a modulus, sends neighbours to the same bucket
    count, buckets = 40_000, 64
    a, b = ([(number * m[0]) % 2**61 * buckets >> 61 for m in hashing.affine_maps(5, count)] for number in (6, 7))
    fair = sum(x == y for x, y in zip(a, b, strict=True))
    neighbours = sum(m[0] // 2**55 == (m[0] + 1) // 2**55 for m in hashing.affine_maps(5, count))
    assert chance_of(fair, count, 1 / buckets) > ALPHA
    assert chance_of(neighbours, count, 1 / buckets) < ALPHA


def random_table(seed: int, functions: int, values: int, buckets: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, buckets, (functions, values)).astype(np.uint16)


numbers = st.lists(st.one_of(st.integers(0, 50), st.integers(0, 2**61 - 2)), min_size=1, max_size=8)


@pytest.mark.twin
@given(numbers, st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 1024, 2**16 - 1, 2**26]))
@settings(max_examples=60)
def test_buckets_of_many_values_equal_the_slow_twin(values: list[int], seed: int, buckets: int) -> None:
    maps = np.array([naive.affine_map(seed, number) for number in range(3)], np.uint64)
    table = np.empty((3, len(values)), np.uint32)
    kernels.fill_hashed(np.array(values, np.int64), maps, buckets, table)
    wanted = [[naive.bucket(value, *naive.affine_map(seed, f), buckets) for value in values] for f in range(3)]
    assert table.tolist() == wanted


@pytest.mark.twin
@pytest.mark.parametrize(("a", "b"), [(1, 0), (2**61 - 2, 2**61 - 2), (2**60, 1), (1, 2**61 - 2)])
def test_the_ends_of_the_field_are_right(a: int, b: int) -> None:
    values = [0, 1, 2, 2**31, 2**32, 2**60, 2**61 - 3, 2**61 - 2]
    table = np.empty((1, len(values)), np.uint32)
    kernels.fill_hashed(np.array(values, np.int64), np.array([[a, b]], np.uint64), 1000, table)
    assert table[0].tolist() == [naive.bucket(value, a, b, 1000) for value in values]


@pytest.mark.twin
@given(st.integers(2, 200), st.integers(0, 2**32 - 1), st.integers(2, 40))
@settings(max_examples=40)
def test_permuted_buckets_equal_the_slow_twin(size: int, seed: int, buckets: int) -> None:
    words = [naive.round_words(seed, number) for number in range(2)]
    table = np.empty((2, size), np.uint16)
    kernels.fill_permuted(np.arange(size), np.array(words, np.uint32), size, buckets, table)
    assert table.tolist() == [[image % buckets for image in naive.permutation(own, size)] for own in words]


@pytest.mark.twin
def test_permutations_of_the_largest_domains_agree_with_plain_python() -> None:
    size = 2**31
    keys = list(hashing.round_keys(9, 1))
    indices = np.array([0, 1, size // 2, size - 1])
    table = np.empty((1, 4), np.uint32)
    kernels.fill_permuted(indices, np.array(keys, np.uint32), size, size, table)
    assert table[0].tolist() == [hashing.permuted(index, keys[0], size) for index in indices.tolist()]


shapes = st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 12), st.integers(2, 9), st.integers(0, 2**32))


@pytest.mark.twin
@given(shapes)
@settings(max_examples=60)
def test_sums_over_cells_equal_the_slow_twins(shape: tuple[int, int, int, int, int]) -> None:
    cohorts, hashes, values, buckets, seed = shape
    rng = np.random.default_rng(seed)
    plain = random_table(seed, cohorts * hashes, values, buckets)
    table = plain.copy()
    kernels.mark_repeats(table, hashes, buckets)
    assert table.tolist() == naive.marked(plain.tolist(), hashes, buckets)
    cells, weights = (
        rng.integers(-9, 9, (cohorts, buckets + 1)).astype(float),
        rng.integers(-9, 9, values).astype(float),
    )
    cells[:, -1] = 0.0
    out = np.empty(values)
    kernels.gather(table, hashes, cells, out)
    assert out.tolist() == naive.gather(table.tolist(), hashes, cells.tolist())
    summed = np.zeros((cohorts, buckets + 1))
    kernels.scatter(table, hashes, weights, summed)
    assert summed.tolist() == naive.scatter(table.tolist(), hashes, weights.tolist(), buckets + 1)
    both = np.zeros((values, values), np.int32)
    kernels.shared_buckets(table, hashes, buckets, both)
    assert both.tolist() == naive.shared(table.tolist(), hashes, buckets)


@pytest.mark.twin
@given(shapes)
@settings(max_examples=60)
def test_a_product_through_the_cells_is_a_scatter_and_a_gather(shape: tuple[int, int, int, int, int]) -> None:
    cohorts, _, values, buckets, seed = shape
    table = random_table(seed, cohorts, values, buckets)
    weights = np.random.default_rng(seed).integers(-9, 9, values).astype(float)
    out = np.empty(values)
    kernels.through_cells(table, 0.5, weights, np.empty((4, buckets)), out)
    cells = np.array(naive.scatter(table.tolist(), 1, weights.tolist(), buckets)) + 0.5
    assert out.tolist() == naive.gather(table.tolist(), 1, cells.tolist())


@pytest.mark.twin
@given(shapes)
@settings(max_examples=40)
def test_users_are_counted_in_every_bucket_of_theirs(shape: tuple[int, int, int, int, int]) -> None:
    cohorts, hashes, values, buckets, seed = shape
    table = random_table(seed, cohorts * hashes, values, buckets)
    users = np.random.default_rng(seed).integers(0, 4, (cohorts, values))
    counted = np.zeros((cohorts, buckets + 1), np.int64)
    kernels.count_users(table, hashes, users, counted)
    wanted: Any = np.zeros_like(counted)
    for f, row in enumerate(table):
        for i, place in enumerate(row):
            wanted[f // hashes, place] += users[f // hashes, i]
    assert counted.tolist() == wanted.tolist()
    each = np.zeros_like(counted)
    owners = np.array([(c, i) for c in range(cohorts) for i in range(values) for _ in range(users[c, i])], np.int64)
    owners = owners.reshape(-1, 2)
    kernels.count_each(table, hashes, np.ascontiguousarray(owners[:, 1]), np.ascontiguousarray(owners[:, 0]), each)
    assert each.tolist() == wanted.tolist()
