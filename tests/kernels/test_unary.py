"""Kernels of unary encoding against their slow twins, with the compiler and without it."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.kernels import histograms as composite
from deniable.kernels import unary as bits
from deniable.randomness.choices import Choices
from tests.naive import unary as naive_bits

pytestmark = pytest.mark.twin
words = st.integers(0, 2**64 - 1)


def random_words(seed: int, shape: int | tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**64, size=shape, dtype=np.uint64)


@given(st.integers(2, 200), st.integers(1, 64), words, words, st.integers(0, 2**32), st.data())
@settings(max_examples=60)
def test_toss_bits(k: int, width: int, other: int, own: int, seed: int, data: st.DataObject) -> None:
    slices = math.ceil(k / 64)
    other &= -(2 ** (64 - width))  # the lower bits of a threshold are zero
    indices = data.draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=3))
    drawn = random_words(seed, len(indices) * (width * slices + 1))
    out = np.empty((len(indices), slices), np.uint64)
    last = np.uint64(2 ** (k - 64 * (slices - 1)) - 1)
    bits.toss_bits(np.array(indices), drawn, np.uint64(other), np.uint64(own), width, last, out)
    wanted = naive_bits.toss_bits(indices, drawn.tolist(), other, own, width, k)
    assert [naive_bits.bits_of(row) for row in out.tolist()] == wanted


@given(st.integers(1, 3), st.integers(1, 64), words, st.integers(0, 2**32))
@settings(max_examples=60)
def test_coins_in_plain_python(slices: int, width: int, threshold: int, seed: int) -> None:
    threshold &= -(2 ** (64 - width))
    drawn = random_words(seed, slices * width).tolist()
    tossed = Choices(drawn, iter(())).coins(threshold, slices, width)
    wanted = naive_bits.coins(drawn, threshold, slices, width)
    assert naive_bits.bits_of(tossed.tolist()) == {v for v, coin in enumerate(wanted) if coin}


@pytest.mark.parametrize("reports", [0, 1, 7, 8, 9, 100])
@pytest.mark.parametrize("k", [2, 64, 65, 130])
def test_count_bits(reports: int, k: int) -> None:
    rows = random_words(reports, (reports, math.ceil(k / 64)))
    rows[:, -1] &= np.uint64(2 ** (k - 64 * (rows.shape[1] - 1)) - 1)
    start = [2**40 + v for v in range(k)]
    counts = np.array(start)
    bits.count_bits(rows, counts)
    assert counts.tolist() == naive_bits.count_bits(rows.tolist(), start)


@pytest.mark.compiled  # these are too many reports for plain Python
@pytest.mark.parametrize("reports", [bits.BLOCK - 1, bits.BLOCK, bits.BLOCK + 1, 3 * bits.BLOCK + 13])
def test_no_digit_is_lost_when_blocks_are_full(reports: int) -> None:
    counts = np.zeros(70, np.int64)
    rows = np.tile(np.array([[2**64 - 1, 2**6 - 2]], np.uint64), (reports, 1))
    bits.count_bits(rows, counts)
    assert counts.tolist() == [reports] * 64 + [0] + [reports] * 5


def test_a_block_is_what_the_planes_can_count() -> None:
    assert bits.BLOCK < 2**bits.PLANES
    assert bits.BLOCK % 8 == 0


@given(
    st.lists(st.integers(0, 1000), min_size=1, max_size=10),
    st.floats(-0.9, 30).filter(lambda mu: abs(mu) > 1e-6),
    st.sampled_from([1e-6, 0.1, 0.25, 0.4999]),
)
@settings(max_examples=100)
def test_gains_and_their_sum(counts: list[int], mu: float, q: float) -> None:
    n = 1000
    expected = n * q
    whole, rest = int(expected), expected - int(expected)
    out = np.empty(len(counts))
    composite.gains(np.array(counts), n, whole, rest, q, mu, out)
    with mpmath.workdps(60):
        exact = [naive_bits.gain(count, n, mpmath.mpf(q), mpmath.mpf(mu)) for count in counts]
        moved = [naive_bits.gain(count, n, mpmath.mpf(q), mpmath.mpf(mu) + mpmath.mpf(10) ** -25) for count in counts]
        rise = float(sum((m - e) for m, e in zip(moved, exact, strict=True)) * mpmath.mpf(10) ** 25)
        wanted = [float(d) for d in exact]
    np.testing.assert_allclose(out, wanted, rtol=1e-9, atol=1e-15)
    total, slope, size = composite.total_gain(np.array(counts), n, whole, rest, q, mu)
    assert total == pytest.approx(math.fsum(wanted), abs=1e-12)
    assert slope == pytest.approx(rise, rel=1e-6, abs=1e-9)
    assert size == sum(d > 0 for d in out)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=10), st.floats(-0.9, 30))
@settings(max_examples=50)
def test_largest_violation(counts: list[int], mu: float) -> None:
    n, q, gain = 1000, 0.25, 0.25
    theta = np.array([1.0] + [0.0] * (len(counts) - 1))
    found = composite.largest_violation(np.array(counts), n, 250, 0.0, q, gain, mu, theta)
    slopes = [(c / n) / a - (1 - c / n) / (1 - a) for c, a in zip(counts, q + gain * theta, strict=True)]
    assert found == pytest.approx(max(abs(slopes[0] - mu), *(slope - mu for slope in slopes[1:]), 0.0), abs=1e-11)
