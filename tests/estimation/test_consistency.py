"""Consistent frequencies: each method against its formula."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.estimation.methods import linear as consistency
from deniable.estimation.methods.simplex import nearest_distribution, projected
from tests.naive import response as naive

NOISE = (2.0, 0.5, 0.0)

numbers = st.lists(st.floats(-3, 3), min_size=2, max_size=30)


def noise_of(channel: PureChannel) -> tuple[float, float, float]:
    return channel.noise("users")


@given(numbers)
@settings(max_examples=100)
def test_base_pos_and_norm_follow_their_formulas(f: list[float]) -> None:
    assert consistency.positive_part(np.array(f)).tolist() == [max(0.0, x) for x in f]
    wanted = [x + (1 - math.fsum(f)) / len(f) for x in f]
    np.testing.assert_allclose(consistency.shifted(np.array(f)), wanted, atol=1e-14)


@given(numbers, st.integers(1, 10**6))
@settings(max_examples=100)
def test_base_cut_keeps_what_exceeds_the_quantile_of_all_values(f: list[float], n: int) -> None:
    threshold = NormalDist().inv_cdf(1 - 0.05 / len(f)) * math.sqrt(NOISE[0] / n)
    found = consistency.significant(np.array(f), n, NOISE)
    for before, after in zip(f, found, strict=True):
        if abs(before - threshold) > 1e-9:
            assert after == (before if before > threshold else 0.0)


def test_base_cut_keeps_no_absent_value_in_19_of_20_collections(seed: int) -> None:
    m = dn.mechanism("grr", k=50, epsilon=1.0)
    true = np.zeros(50, np.int64)
    true[0] = 100_000
    kept = [m.estimate(dn.simulate(m, true, seed=seed + run), "base-cut").frequencies[1:].any() for run in range(2000)]
    assert np.mean(kept) == pytest.approx(0.05, abs=0.02)


@given(numbers)
@settings(max_examples=200)
def test_norm_cut_follows_its_definition(f: list[float]) -> None:
    kept: list[float] = []
    for value in sorted((x for x in f if x > 0), reverse=True):
        # largest first until the sum exceeds 1; equal values go together
        if math.fsum(kept) > 1 + 1e-12 and value < kept[-1]:
            break
        kept.append(value)
    found = consistency.largest_first(np.array(f))
    wanted = [1 / len(f)] * len(f) if not kept else [x / math.fsum(kept) if x >= kept[-1] else 0.0 for x in f]
    if all(abs(math.fsum(kept[:i]) - 1) > 1e-9 for i in range(len(kept))):  # no rounding decides
        np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_norm_cut_never_keeps_a_negative_value_and_scales_up_what_is_left() -> None:
    found = consistency.largest_first(np.array([0.3, -0.2, 0.2, 0.0]))
    np.testing.assert_allclose(found, [0.6, 0.0, 0.4, 0.0])
    assert consistency.largest_first(np.array([0.7, 0.6, 0.1])).tolist() == pytest.approx([7 / 13, 6 / 13, 0])
    assert consistency.largest_first(np.full(5, 0.3)).tolist() == pytest.approx([0.2] * 5)
    assert consistency.largest_first(np.array([-1.0, -2.0])).tolist() == [0.5, 0.5]
    assert consistency.rescaled(np.array([-1.0, -2.0])).tolist() == [0.5, 0.5]


@given(st.lists(st.integers(0, 40), min_size=2, max_size=12), st.floats(0.2, 5), st.booleans())
@settings(max_examples=200)
def test_mle_apx_follows_the_published_formula(support: list[int], epsilon: float, unary: bool) -> None:
    n, e = 40, Fraction(math.exp(epsilon))
    channel = PureChannel(Fraction(1, 2), 1 / (e + 1)) if unary else PureChannel(e / (e + 7), 1 / (e + 7))
    p, q = channel.p, channel.q
    shares = [Fraction(count, n) for count in support]
    left = list(range(len(support)))
    while True:
        x = (sum(shares[v] for v in left) - p - (len(left) - 1) * q) / (p * (1 - p) + (len(left) - 1) * q * (1 - q))
        wanted = {v: (shares[v] - q - q * (1 - q) * x) / (p - q + (p * (1 - p) - q * (1 - q)) * x) for v in left}
        if min(wanted.values()) >= 0:
            break
        left = [v for v in left if wanted[v] >= 0]
    unbiased = np.array([float((s - q) / (p - q)) for s in shares])
    found = consistency.gaussian_likelihood(unbiased, noise_of(channel))
    np.testing.assert_allclose(found, [float(wanted.get(v, 0)) for v in range(len(support))], atol=1e-9)


def test_mle_apx_is_near_the_maximum_of_the_likelihood_but_not_it(seed: int) -> None:
    m = dn.mechanism("grr", k=30, epsilon=2.0)
    summary = dn.simulate(m, (np.arange(1, 31) ** -1.5 * 3000).astype(int), seed=seed)
    apart = np.abs(m.estimate(summary, "mle-apx").frequencies - m.estimate(summary, "mle").frequencies).sum()
    assert 1e-5 < apart < 0.02


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.sampled_from([1.0, 1e-3, 1e-6]))
@settings(max_examples=300)
def test_the_projection_agrees_with_the_sorting_one_in_exact_arithmetic(f: list[float], scale: float) -> None:
    f = [scale * x for x in f]
    exact = naive.projected([Fraction(x) for x in f])  # type: ignore[misc]
    found = nearest_distribution(np.array(f))
    rounding = Fraction(max(1.0, max(map(abs, f)))) / 10**15
    assert max(abs(Fraction(x) - y) for x, y in zip(found.tolist(), exact, strict=True)) <= rounding
    assert math.fsum(found) == pytest.approx(1, abs=1e-14)


def test_a_million_frequencies_are_projected_to_the_sum_one(rng: np.random.Generator) -> None:
    f = rng.normal(0, 1e-3, 1_000_000)
    for vector in (f, f * 1e-4, np.full(1_000_000, 3.0), f + 1e9):
        found = nearest_distribution(vector)
        assert abs(math.fsum(found) - 1) <= 1e-12
        assert found.min() >= 0


def test_both_projections_agree_on_counts(rng: np.random.Generator) -> None:
    m = dn.RandomizedResponse(500, 1.0)
    counts = rng.multinomial(10_000, rng.dirichlet(np.full(500, 0.1)))
    exact = projected(counts, 10_000, m.channel)
    floats = nearest_distribution(m.unbiased(dn.Summary(counts, 10_000, m.fingerprint)))
    np.testing.assert_allclose(floats, exact, atol=1e-14)
