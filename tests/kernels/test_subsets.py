"""The kernels of subset selection against their slow twins, with the compiler and without it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.kernels.subsets import decode_subsets, encode_subsets, select
from deniable.mechanisms.layouts import subset_code as subset_codes
from deniable.mechanisms.numbers import binomial
from tests.naive import subsets as naive

pytestmark = pytest.mark.twin
SIZES = st.integers(2, 200).flatmap(lambda k: st.tuples(st.just(k), st.integers(1, k - 1)))


@given(SIZES, st.integers(0, 2**64 - 1), st.integers(0, 2**32), st.sampled_from([0, 2, 2**61]))
@settings(max_examples=60)
def test_select(sizes: tuple[int, int], truth: int, seed: int, rejection: int) -> None:
    k, w = sizes
    rng = np.random.default_rng(seed)
    values = rng.integers(0, k, 6)
    words = rng.integers(0, 2**64, 6 * (w + 1), dtype=np.uint64)
    words[rng.random(len(words)) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    rejections = [rejection] * w
    out, again = np.empty((6, -(-k // 64)), np.uint64), np.empty(6, np.bool_)
    table = np.array(rejections, np.uint64)
    count = select(values, words, np.uint64(truth), np.uint64(k), w, table, again, out)
    subsets, rejected = naive.select(values.tolist(), words.tolist(), truth, k, w, rejections)
    assert again.tolist() == rejected
    assert count == sum(rejected)
    assert out.tolist() == [naive.bitmap(chosen, k) for chosen in subsets]
    assert all(len(chosen) == w for chosen in subsets)


@given(SIZES, st.integers(0, 2**32))
@settings(max_examples=60)
def test_codes_of_subsets(sizes: tuple[int, int], seed: int) -> None:
    k, w = sizes
    rng = np.random.default_rng(seed)
    size = subset_codes.code_bytes(binomial(k, w))
    chosen = [set(rng.choice(k, w, replace=False).tolist()) for _ in range(4)] + [set(range(w)), set(range(k - w, k))]
    rows = np.array([naive.bitmap(one, k) for one in chosen], np.uint64)
    out = np.empty((len(rows), size), np.uint8)
    encode_subsets(rows, k, w, 0, out)
    codes = [subset_codes.subset_number(row, k, w, 8 * size).to_bytes(size, "big") for row in rows.tolist()]
    assert [row.tobytes() for row in out] == codes
    again = np.empty_like(rows)
    assert decode_subsets(out, k, w, 0, again) == -1
    assert np.array_equal(again, rows)
    assert [subset_codes.decode_subset(code, k, w) for code in codes] == rows.tolist()
    # shorter codes, which leave some bits of the last byte unused
    bits = subset_codes.code_bits(binomial(k, w))
    size, unused = -(-bits // 8), -bits % 8
    out = np.empty((len(rows), size), np.uint8)
    encode_subsets(rows, k, w, unused, out)
    numbers = [subset_codes.subset_number(row, k, w, bits) << unused for row in rows.tolist()]
    assert [int.from_bytes(row.tobytes(), "big") for row in out] == numbers
    assert decode_subsets(out, k, w, unused, again) == -1
    assert np.array_equal(again, rows)


@given(SIZES, st.data())
@settings(max_examples=100)
def test_bytes_that_are_no_code(sizes: tuple[int, int], data: st.DataObject) -> None:
    k, w = sizes
    size = subset_codes.code_bytes(binomial(k, w))
    random = data.draw(st.binary(min_size=size, max_size=size))
    for code in (random, b"\xff" * size, b"\xff" * (size - 1) + b"\0", bytes(size)):
        out = np.empty((1, -(-k // 64)), np.uint64)
        refused = decode_subsets(np.frombuffer(code, np.uint8).reshape(1, -1), k, w, 0, out) == 0
        row = subset_codes.decode_subset(code, k, w)
        assert refused == (row is None)
        if row is not None:
            assert out[0].tolist() == row
            assert subset_codes.subset_number(row, k, w, 8 * size).to_bytes(size, "big") == code


def test_the_quotient_in_double_precision_is_the_exact_one() -> None:
    left = np.arange(1, subset_codes.MAX_VALUES + 1)
    assert np.array_equal((2.0**52 / left).astype(np.uint64), 2**52 // left)
