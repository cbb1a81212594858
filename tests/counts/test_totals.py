"""Entropy, divergence and other questions about totals: the papers' sums, linear forms of them, and their precision."""

from __future__ import annotations

import math
import warnings
from itertools import product

import numpy as np
import pytest

import deniable as dn
from deniable.counts.certain.balls import precision
from deniable.counts.certain.trinomial import volumes
from tests.naive import noise as naive
from tests.naive import questions as twins

NOISE = dn.DiscreteLaplace(1.0)
A = float(NOISE.a)


@pytest.mark.parametrize("d", [0, 1, 2, 5, 12])
def test_lemma_22_the_volumes_are_trinomial_sums(d: int) -> None:
    with precision(512):
        found = [float(each) for each in volumes(d, NOISE)]
    exact = [twins.volume(d, m, NOISE.a) for m in range(-d, d + 1)]
    assert found == pytest.approx([float(each) for each in exact], rel=1e-14)
    assert sum(exact) == 1
    if d == 2:
        weights = {-1: -NOISE.a, 0: 1 + 2 * NOISE.a, 1: -NOISE.a}
        for m, each in zip(range(-2, 3), exact, strict=True):
            assert each == sum(weights[s] * weights[t] for s in weights for t in weights if s + t == m)


def phi(x: int, n: int) -> float:
    """The term of the entropy as the paper goes on beyond counts: 0 unless 0 < x <= n."""
    return -(x / n) * math.log(x / n) if 0 < x <= n else 0.0


def published_entropy(y: tuple[int, ...], a: float) -> float:
    """Theorem 23: the sum over counts, steps and totals, with the volumes of Lemma 22."""
    d, weights = len(y), {-1: -a, 0: 1 + 2 * a, 1: -a}
    others = {m: float(twins.volume(d - 1, m, NOISE.a)) for m in range(1 - d, d)}
    return math.fsum(
        weights[s] * others[m] * phi(each + s, sum(y) + s + m) for each in y for s in weights for m in others
    )


@pytest.mark.parametrize("y", [(5, 9, 4), (2, 2, 2, 2), (30, 7, 15, 2, 2)])
def test_theorem_23_the_linear_form_is_the_published_double_sum(y: tuple[int, ...]) -> None:
    # all neighbours have counts of at least one, where the ways to go on below do not matter
    answer = dn.ask.entropy(np.array(y), epsilon=1.0)
    assert answer.value == pytest.approx(published_entropy(y, A), abs=1e-10)
    assert answer.value == pytest.approx(naive.operate_many(twins.entropy, y, A), abs=1e-10)


def published_divergence(x: tuple[int, ...], w: tuple[int, ...], a: float) -> float:
    """Theorem 24: over counts, two steps and two totals."""
    d, weights = len(x), {-1: -a, 0: 1 + 2 * a, 1: -a}
    others = {m: float(twins.volume(d - 1, m, NOISE.a)) for m in range(1 - d, d)}
    terms = []
    for i, s, t, m, k in product(range(d), weights, weights, others, others):
        n, total = sum(x) + s + m, sum(w) + t + k
        p, q = (x[i] + s) / n, (w[i] + t) / total
        terms.append(weights[s] * weights[t] * others[m] * others[k] * p * math.log(p / q))
    return math.fsum(terms)


@pytest.mark.parametrize(("x", "w"), [((5, 9, 4), (3, 8, 8)), ((12, 3), (2, 9)), ((20, 20, 3, 7), (8, 4, 2, 30))])
def test_theorem_24_the_linear_form_is_the_published_sum(x: tuple[int, ...], w: tuple[int, ...]) -> None:
    answer = dn.ask.divergence(np.array(x), np.array(w), epsilon=1.0)
    assert answer.value == pytest.approx(published_divergence(x, w, A), abs=1e-9)


@pytest.mark.parametrize("n", [50, 200])
def test_theorem_13_the_entropy_of_many_counts_is_certain_where_floats_are_lost(
    n: int, rng: np.random.Generator
) -> None:
    x = rng.multinomial(20 * n, rng.dirichlet(np.ones(n)))
    noisy = NOISE.release(x, seed=1)
    answer = dn.ask.entropy(noisy)
    assert answer.width <= 1e-9
    # the same with far more digits
    again = dn.ask.entropy(noisy, tolerance=1e-60)
    assert again.width <= 1e-60
    assert answer.value == pytest.approx(again.value, abs=1e-12)
    assert abs(answer.value - twins.entropy(tuple(x))) < 6.5 * answer.std_error
    assert answer.std_error < 0.1
    # what floats make of the same sum: nothing
    with precision(53):
        weights = [float(each) for each in volumes(n, NOISE)]
    assert abs(math.fsum(weights) - 1) > 1e3


def test_theorem_13_totals_near_zero_make_the_entropy_useless_and_it_says_so() -> None:
    noisy = dn.DiscreteLaplace(0.5).release(np.zeros(60, np.int64), seed=2)
    with pytest.warns(dn.UnreliableAnswer, match="entropy: the standard error"):
        answer = dn.ask.entropy(noisy)
    assert answer.useless
    assert answer.width <= 1e-9


def test_rows_of_a_matrix_have_an_entropy_each(rng: np.random.Generator) -> None:
    rows = rng.integers(20, 60, (4, 6))
    noise = dn.DiscreteLaplace(1.0, 2)
    noisy = noise.release(rows, seed=1)
    totals = rows.sum(axis=1)
    public, unknown = dn.ask.entropy(noisy, total=totals), dn.ask.entropy(noisy)
    for i in range(4):
        assert unknown.value[i] == pytest.approx(dn.ask.entropy(noisy[i]).value, abs=1e-9)
        truth = twins.entropy(tuple(rows[i]))
        assert abs(public.value[i] - truth) < 6.5 * public.std_error[i]
        assert abs(unknown.value[i] - truth) < 6.5 * unknown.std_error[i]
    one = dn.ask.entropy(noisy, total=200)
    assert one.value.shape == (4,)
    assert dn.ask.gini(noisy, total=totals).value.shape == (4,)


@pytest.mark.parametrize(("size", "total"), [(200, 600), (200, 6000), (2000, 500), (10, 1000)])
def test_the_entropy_with_a_public_total_varies_less_than_the_published_form(
    size: int, total: int, rng: np.random.Generator
) -> None:
    x = rng.multinomial(total, rng.dirichlet(np.full(size, 0.3)))
    noisy = dn.DiscreteLaplace(1.0, 2).release(x, seed=1)
    ours = dn.ask.entropy(noisy, total=total)
    published = dn.debias(
        lambda t: np.where(t > 0, -t / total * np.log(np.maximum(t, 1e-300) / total), 0.0), noisy, reduce="sum"
    )
    assert ours.std_error < published.std_error
    assert abs(ours.value - twins.entropy(tuple(x))) < 6.5 * ours.std_error


def test_the_index_with_a_public_total_varies_less_than_without_the_total() -> None:
    x = np.array([30, 28, 41, 35, 29, 90])
    noisy = dn.DiscreteLaplace(1.0).release(x, seed=1)
    known = dn.ask.simpson(noisy, int(x.sum()))
    plain = dn.debias(lambda t: (t / 253.0) ** 2, noisy, reduce="sum")
    assert known.std_error < 0.6 * plain.std_error


def test_a_share_is_a_mean_of_ones_and_zeros_and_shares_add_up_to_one() -> None:
    noisy = NOISE.release([120, 80, 40], seed=2)
    shares = [dn.ask.mean(noisy, [float(i == j) for j in range(3)]).value for i in range(3)]
    assert math.fsum(shares) == pytest.approx(1.0, abs=1e-9)
    assert dn.ask.mean(noisy, [4, 4, 4]).value == pytest.approx(4.0, abs=1e-9)


def test_a_ratio_by_a_count_near_zero_is_useless_and_says_so() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        far = dn.ask.ratio(np.array([500]), np.array([1000]), epsilon=0.2)
        near = dn.ask.ratio(np.array([500]), np.array([1]), epsilon=0.2)
    assert far.std_error < 0.1 * far.value
    assert near.useless


def test_divergences_of_equal_histograms_are_near_zero_without_being_cut_there(seed: int) -> None:
    # unbiased means below zero half of the time; false alarm 1e-9
    x = np.array([40, 30, 50, 25, 60])
    answers = [
        dn.ask.divergence(NOISE.release(x, seed=seed + 2 * i), NOISE.release(x, seed=seed + 2 * i + 1)).value
        for i in range(400)
    ]
    errors = np.array(answers)
    assert abs(errors.mean()) < 6.11 * errors.std(ddof=1) / math.sqrt(len(errors))
    assert 0.2 < (errors < 0).mean() < 0.8
