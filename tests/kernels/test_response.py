"""Compiled kernels against their slow twins, with the compiler and without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.kernels import designs as shifts
from deniable.kernels import hashing as classes
from deniable.kernels import histograms as selection
from deniable.kernels import response as replacement
from tests.naive import response as naive

pytestmark = pytest.mark.twin
words = st.integers(0, 2**64 - 1)
counts = st.lists(st.integers(0, 2**40), min_size=1, max_size=30)


@given(st.data(), st.integers(2, 2**31), words)
@settings(max_examples=100)
def test_replace(data: st.DataObject, k: int, wanted: int) -> None:
    share = max(1, (2**64 - wanted) // k)
    truth = 2**64 - k * share
    edges = st.integers(0, k).map(lambda place: max(truth + place * share - 1, 0))
    values = data.draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=20))
    some = words | edges | edges.map(lambda word: min(word + 1, 2**64 - 1))
    drawn = data.draw(st.lists(some, min_size=len(values), max_size=len(values)))
    out = np.empty(len(values), np.uint32)
    numbers = np.uint64(truth), np.uint64(share), np.uint64((2**64 - 1) // share)
    replacement.replace(np.array(values), np.array(drawn, np.uint64), *numbers, out)
    assert out.tolist() == naive.replace(values, drawn, truth, share)


@given(words, words.filter(bool))
@settings(max_examples=500)
def test_quotients_are_exact(word: int, divisor: int) -> None:
    for near in (word, word // divisor * divisor, max(word // divisor * divisor - 1, 0), 2**64 - 1):
        numbers = np.array([[near], [divisor], [(2**64 - 1) // divisor]], np.uint64)
        out = np.empty(1, np.uint32)
        # the report is the quotient, modulo 2^32, where the threshold is 0
        replacement.replace(np.zeros(1, np.int64), numbers[0], np.uint64(0), *numbers[1:, 0], out)
        assert int(out[0]) == near // divisor % 2**32


@given(st.sampled_from([3, 7, 101, 997]), st.integers(1, 40), words, st.integers(0, 2**32))
@settings(max_examples=100)
def test_shift(modulus: int, cohorts: int, truth: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    inside = int(rng.integers(1, modulus))
    bounds = [cohorts, inside, modulus - inside]
    elements = rng.permutation(modulus).astype(np.uint32)
    multipliers = rng.integers(1, modulus, cohorts).astype(np.uint64)
    rejections = rng.choice(np.array([0, 5, 2**61], np.uint64), 3)
    values = rng.integers(0, modulus, 8)
    drawn = rng.integers(0, 2**64, 4 * len(values), dtype=np.uint64)
    drawn[rng.random(len(drawn)) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    out, again = np.empty(len(values), np.uint32), np.empty(len(values), np.bool_)
    numbers = np.uint64(truth), np.array(bounds, np.uint64), rejections
    count = shifts.shift(values, drawn, *numbers, elements, multipliers, again, out)
    wanted = naive.shift(
        values.tolist(), drawn.tolist(), truth, bounds, rejections.tolist(), elements.tolist(), multipliers.tolist()
    )
    assert (out.tolist(), again.tolist()) == wanted
    assert count == sum(wanted[1])


@given(st.sampled_from([3, 7, 101, 997]), st.integers(2, 40), words, st.integers(0, 2**32))
@settings(max_examples=100)
def test_classify(modulus: int, number: int, truth: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, number, modulus).astype(np.uint32)
    table[0] = number
    rejections = rng.choice(np.array([0, 5, 2**61], np.uint64), 2)
    values = rng.integers(0, modulus, 8)
    drawn = rng.integers(0, 2**64, 3 * len(values), dtype=np.uint64)
    drawn[rng.random(len(drawn)) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    out, again = np.empty(len(values), np.uint32), np.empty(len(values), np.bool_)
    numbers = np.uint64(truth), np.array([number, modulus], np.uint64), rejections
    count = classes.classify(values, drawn, *numbers, table, again, out)
    wanted = naive.classify(
        values.tolist(), drawn.tolist(), truth, [number, modulus], rejections.tolist(), table.tolist()
    )
    assert (out.tolist(), again.tolist()) == wanted
    assert count == sum(wanted[1])


@given(st.lists(st.integers(0, 9), max_size=40), st.lists(st.integers(0, 2**61), min_size=10, max_size=10))
@settings(max_examples=50)
def test_count_into(reports: list[int], start: list[int]) -> None:
    total = np.array(start)
    replacement.count_into(np.array(reports, np.uint32), total)
    assert total.tolist() == naive.count_into(reports, start)


@given(counts, st.integers(0, 2**40))
@settings(max_examples=100)
def test_total_and_keep_at_least(numbers: list[int], threshold: int) -> None:
    kept = naive.at_least(numbers, threshold)
    array = np.array(numbers)
    assert selection.total_at_least(array, threshold) == (len(kept), sum(kept))
    out = np.empty(len(kept) + 1, np.int64)
    assert selection.keep_at_least(array, threshold, out) == (len(kept), sum(kept))
    assert out[: len(kept)].tolist() == kept
    assert selection.keep_at_least(array, threshold, array) == (len(kept), sum(kept))
    assert array[: len(kept)].tolist() == kept


@given(counts, st.integers(0, 2**40), st.integers(0, 2**40), st.floats(-1, 1), st.floats(0, 1))
@settings(max_examples=50)
def test_share_out(numbers: list[int], threshold: int, centre: int, offset: float, share: float) -> None:
    out = np.empty(len(numbers))
    selection.share_out(np.array(numbers), threshold, centre, 3.0, 1.0, 0.5, share, offset, out)
    wanted = naive.share_out(numbers, threshold, centre, 3.0, 1.0, 0.5, share, offset)
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-3)
