"""The exact maximum of the likelihood, the projection, and how the methods compare."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.core.arrays import Counts, Floats
from deniable.estimation.channel import PureChannel
from deniable.estimation.methods.likelihood import log_likelihood, most_likely
from deniable.estimation.methods.linear import rescaled
from deniable.estimation.methods.simplex import projected
from deniable.estimation.operators.dense import MatrixOperator
from deniable.estimation.operators.two_level import Identity, two_level_operator
from tests.naive import response as naive


def normalized(counts: Counts, n: int, channel: PureChannel) -> Floats:
    return rescaled(channel.excess(counts, n))


def channel_for(k: int, epsilon: float) -> PureChannel:
    return dn.RandomizedResponse(k, epsilon).channel


def random_case(rng: np.random.Generator) -> tuple[np.ndarray, PureChannel]:
    """Counts of every shape: flat, skewed, sparse, huge."""
    k = int(rng.integers(2, 40))
    epsilon = float(10 ** rng.uniform(-6, 1.5))
    scale = float(10 ** rng.uniform(0, rng.choice([2, 6, 16])))
    counts = (scale * rng.dirichlet(np.full(k, 10 ** rng.uniform(-1.5, 1.5)))).astype(np.int64)
    counts[rng.integers(k)] += 1
    return counts, channel_for(k, epsilon)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=12).filter(any), st.floats(1e-6, 50))
@settings(max_examples=300)
def test_mle_agrees_with_exact_rational_arithmetic(counts: list[int], epsilon: float) -> None:
    channel = channel_for(len(counts), epsilon)
    exact = naive.most_likely(counts, channel.gain / channel.q)
    found = most_likely(np.array(counts), channel)
    assert max(abs(Fraction(f) - e) for f, e in zip(found.tolist(), exact, strict=True)) <= Fraction(1, 10**15)


def test_mle_agrees_with_a_fifty_digit_reference(rng: np.random.Generator) -> None:
    with mpmath.workdps(50):
        for _ in range(500):
            counts, channel = random_case(rng)
            odds = mpmath.mpf(channel.gain.numerator) / channel.gain.denominator
            odds = odds * channel.q.denominator / channel.q.numerator
            reference = naive.most_likely(counts.tolist(), odds)
            found = most_likely(counts, channel)
            assert max(abs(f - r) for f, r in zip(found.tolist(), reference, strict=True)) <= 1e-12
            assert abs(math.fsum(found) - 1) <= 1e-12


def test_mle_is_likelier_than_every_other_method(rng: np.random.Generator) -> None:
    for _ in range(2000):  # of the inputs on which it is compared with fifty digits
        counts, channel = random_case(rng)
        n = int(counts.sum())
        operator = two_level_operator(Identity(), channel.p, channel.q)
        best = log_likelihood(most_likely(counts, channel), counts, operator)
        for method in (projected, normalized):
            other = log_likelihood(method(counts, n, channel), counts, operator)
            assert best >= other - 1e-12 * abs(other)
        inverse = channel.unbiased(counts, n)
        if inverse.min() >= 0:  # then it is a distribution, and must be the maximum itself
            assert best >= log_likelihood(inverse, counts, operator) * (1 + 1e-12)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=30).filter(any), st.floats(1e-3, 20))
@settings(max_examples=300)
def test_projection_agrees_with_the_sorting_one_in_exact_arithmetic(counts: list[int], epsilon: float) -> None:
    channel = channel_for(len(counts), epsilon)
    n = sum(counts)
    inverse = [(Fraction(count, n) - channel.q) / channel.gain for count in counts]
    exact = naive.projected(inverse)  # type: ignore[arg-type]
    found = projected(np.array(counts), n, channel)
    assert max(abs(Fraction(f) - e) for f, e in zip(found.tolist(), exact, strict=True)) <= Fraction(1, 10**14)


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=30).filter(any), st.floats(1e-3, 20))
@settings(max_examples=100)
def test_unbiased_and_normalized_follow_their_formulas(counts: list[int], epsilon: float) -> None:
    channel = channel_for(len(counts), epsilon)
    n = sum(counts)
    inverse = [(Fraction(count, n) - channel.q) / channel.gain for count in counts]
    found = channel.unbiased(np.array(counts), n)
    np.testing.assert_allclose(found, np.array(inverse, float), rtol=1e-12, atol=1e-12)
    positive = [max(f, Fraction(0)) for f in inverse]
    np.testing.assert_allclose(
        normalized(np.array(counts), n, channel), np.array([f / sum(positive) for f in positive], float), atol=1e-12
    )


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 50.0])
def test_counts_up_to_two_to_the_62_are_exact(epsilon: float) -> None:
    top = 2**62
    for counts in ([top - 7, 3, 4], [top // 3, top // 3 + 1, top // 3 - 5], [top, 0, 0], [1, 0, top - 1]):
        channel = channel_for(3, epsilon)
        exact = naive.most_likely(counts, channel.gain / channel.q)
        found = most_likely(np.array(counts), channel)
        assert max(abs(Fraction(f) - e) for f, e in zip(found.tolist(), exact, strict=True)) <= Fraction(1, 10**15)


def test_sixteen_million_values_sum_to_one(rng: np.random.Generator) -> None:
    k = 2**24
    channel = channel_for(k, 3.0)
    counts = np.bincount(rng.integers(0, k, 3_000_000), minlength=k)
    counts[12345] += 100_000
    for method in (most_likely(counts, channel), projected(counts, int(counts.sum()), channel)):
        assert abs(math.fsum(method) - 1) <= 1e-12
        assert method.min() >= 0


def test_theorem_2_the_three_constrained_estimates_are_collinear() -> None:
    # Pinzón et al. 2026, Theorem 2: one entry below q, the others at least (Kq - phi)/(K - 1)
    k, n = 6, 600
    channel = channel_for(k, 1.0)
    counts = np.array([20, 110, 110, 115, 120, 125])
    assert counts.sum() == n
    assert counts[0] / n < channel.q
    assert counts[1] / n >= (k * channel.q - Fraction(20, n)) / (k - 1)
    projection, mle, rescaled = (
        projected(counts, n, channel),
        most_likely(counts, channel),
        normalized(counts, n, channel),
    )
    q, p, low = float(channel.q), float(channel.p), 20 / n
    t = (1 - low) / (p - low)
    assert t > 1
    np.testing.assert_allclose(rescaled - projection, t * (mle - projection), atol=1e-14)
    assert q > low


def test_log_likelihood_is_that_of_the_channel() -> None:
    channel = channel_for(3, 1.0)
    matrix = np.full((3, 3), float(channel.q)) + np.eye(3) * float(channel.gain)
    f, counts = np.array([0.5, 0.3, 0.2]), np.array([5, 0, 2])
    wanted = (5 * math.log(f @ matrix[:, 0]) + 2 * math.log(f @ matrix[:, 2])) / 7
    assert log_likelihood(f, counts, MatrixOperator(matrix)) == pytest.approx(wanted, rel=1e-14)
    assert log_likelihood(f, counts, two_level_operator(Identity(), channel.p, channel.q)) == pytest.approx(
        wanted, rel=1e-14
    )
