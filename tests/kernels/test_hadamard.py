"""The kernels of Hadamard matrices equal their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.kernels.hadamard import choose_parity, send_sign, transform
from deniable.mechanisms.hashing.primes import division
from tests.naive import hadamard as naive


def drawn_words(rng: np.random.Generator, count: int) -> np.ndarray:
    words = rng.integers(0, 2**64, count, dtype=np.uint64)
    words[rng.random(count) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    return words


@pytest.mark.twin
@given(st.integers(0, 7), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=40)
def test_the_transform_equals_its_slow_twin(bits: int, lines: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(-(2**50), 2**50, (lines, 2**bits))
    wanted = [naive.transform(row) for row in rows.tolist()]
    whole, floats = rows.copy(), (rows % 1000).astype(np.float64)
    transform(whole)
    assert whole.tolist() == wanted
    transform(floats)
    assert floats.tolist() == [naive.transform(row) for row in (rows % 1000).tolist()]


@pytest.mark.parametrize("length", [4096, 8192, 2**14, 2**17])
def test_long_rows_are_put_together_from_pieces(length: int, rng: np.random.Generator) -> None:
    rows = rng.integers(-1000, 1000, (2, length))
    again = rows.copy()
    transform(again)
    columns = rng.integers(0, length, 20)
    signs = 1 - 2 * (np.bitwise_count(columns[:, np.newaxis] & np.arange(length)) & 1).astype(np.int64)
    assert np.array_equal(again[:, columns], rows @ signs.T)
    transform(again)
    assert np.array_equal(again, length * rows)


@pytest.mark.twin
@given(st.integers(2, 6), st.integers(0, 4), st.integers(0, 2**64 - 1), st.integers(0, 2**32))
@settings(max_examples=60)
def test_choosing_by_parity_equals_its_slow_twin(size_bits: int, block_bits: int, truth: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, blocks = 2**size_bits, 2**block_bits
    rejections = rng.choice(np.array([0, 5, 2**61], np.uint64), 2)
    values = rng.integers(0, (size - 1) * blocks, 8)
    words = drawn_words(rng, 24)
    out, again = np.empty(8, np.uint32), np.empty(8, np.bool_)
    numbers = map(np.uint64, (truth, block_bits, size_bits))
    count = choose_parity(values, words, *numbers, rejections, np.array(division(size - 1), np.uint64), again, out)
    wanted = naive.choose_parity(values.tolist(), words.tolist(), truth, blocks, size, rejections.tolist())
    assert (out.tolist(), again.tolist()) == wanted
    assert count == sum(wanted[1])


@pytest.mark.twin
@given(st.integers(1, 12), st.integers(0, 5), st.integers(0, 2**64 - 1), st.integers(0, 2**32))
@settings(max_examples=60)
def test_sending_a_sign_equals_its_slow_twin(length_bits: int, block_bits: int, truth: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, blocks = 2**length_bits - 1, 2**block_bits
    rejection = int(rng.choice(np.array([0, 5, 2**61], np.uint64)))
    values = rng.integers(0, (rows + 1) * blocks, 8)
    words = drawn_words(rng, 24)
    out, again = np.empty(8, np.uint32), np.empty(8, np.bool_)
    count = send_sign(values, words, *map(np.uint64, (truth, block_bits, rows, rejection)), again, out)
    wanted = naive.send_sign(values.tolist(), words.tolist(), truth, blocks, rows, rejection)
    assert (out.tolist(), again.tolist()) == wanted
    assert count == sum(wanted[1])
