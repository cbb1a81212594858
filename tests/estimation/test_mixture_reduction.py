"""Mixture reduction: the merged channel, the maximum on it, and when merging is accepted."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.methods.iterative import iterate
from deniable.estimation.methods.likelihood import log_likelihood, most_likely
from deniable.estimation.methods.mixture_reduction import GroupedOperator, Reduced, reduced, reduced_replacement
from deniable.estimation.operators.dense import MatrixOperator
from deniable.estimation.operators.two_level import Identity, two_level_operator


def merged_matrix(matrix: np.ndarray, merged: np.ndarray) -> np.ndarray:
    """The values left alone, then the mean of the merged ones."""
    return np.vstack([matrix[~merged], matrix[merged].mean(axis=0)])


def both(m: dn.RandomizedResponse, counts: np.ndarray) -> tuple[Reduced, Reduced]:
    """The closed form and the general way."""
    summary = dn.Summary(counts, int(counts.sum()), m.fingerprint)
    f, (v0, _, _) = m.unbiased(summary), m.noise("users")
    return reduced_replacement(counts, m.channel, f, v0), reduced(counts, m.operator(), f, v0)


def test_the_grouped_operator_is_that_of_the_merged_matrix(rng: np.random.Generator) -> None:
    matrix = rng.dirichlet(np.full(15, 1.0), size=8)
    merged = np.array([0, 1, 0, 1, 1, 0, 0, 1], bool)
    grouped, plain = GroupedOperator(MatrixOperator(matrix), merged), MatrixOperator(merged_matrix(matrix, merged))
    weights, scores = rng.dirichlet(np.ones(5)), rng.random(15)
    np.testing.assert_allclose(grouped.forward(weights), plain.forward(weights))
    np.testing.assert_allclose(grouped.adjoint(scores), plain.adjoint(scores))
    np.testing.assert_allclose(grouped.adjoint_squared(scores), plain.adjoint_squared(scores))
    assert grouped.expand(weights)[merged].tolist() == [weights[-1] / 4] * 4


def test_the_merged_channel_of_randomised_response_has_the_published_entries() -> None:
    m = dn.RandomizedResponse(6, 1.0)
    p, q = float(m.channel.p), float(m.channel.q)
    merged = np.array([0, 0, 1, 1, 1, 0], bool)
    matrix = np.array([GroupedOperator(m.operator(), merged).forward(row) for row in np.eye(4)])
    outputs = np.column_stack([matrix[:, ~merged], matrix[:, merged].sum(axis=1)])  # merge the outputs too
    wanted = np.full((4, 4), q) + np.diag([p - q] * 4)
    wanted[:, -1] = 3 * q  # P(super | v) = c q
    wanted[-1, -1] = p + 2 * q  # P(super | super) = p + (c - 1) q
    np.testing.assert_allclose(outputs, wanted, rtol=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("n", [200, 20_000])
def test_the_closed_form_is_the_maximum_on_the_merged_channel(n: int, epsilon: float, rng: np.random.Generator) -> None:
    m = dn.RandomizedResponse(60, epsilon)
    for _ in range(5):
        counts = dn.simulate(m, rng.multinomial(n, rng.dirichlet(np.full(60, 0.1))), seed=int(rng.integers(99))).counts
        closed, general = both(m, counts)
        assert (closed.merged, closed.candidates) == (general.merged, general.candidates)
        np.testing.assert_allclose(closed.frequencies, general.frequencies, atol=1e-9)
        assert closed.bic == pytest.approx(general.bic, rel=1e-12)
        assert general.gap <= 1e-12


def test_by_bic_it_is_never_worse_than_the_maximum_of_the_likelihood(rng: np.random.Generator) -> None:
    accepted = 0
    for _ in range(300):
        k, n = int(rng.integers(2, 50)), int(10 ** rng.uniform(0, 5))
        m = dn.RandomizedResponse(k, float(10 ** rng.uniform(-1, 1)))
        true = rng.multinomial(n, rng.dirichlet(np.full(k, 10 ** rng.uniform(-1.5, 1))))
        counts = dn.simulate(m, true, seed=int(rng.integers(10**6))).counts
        found, _ = both(m, counts)
        operator = m.operator()
        mle = most_likely(counts, m.channel)
        before = (k - 1) * math.log(n) - 2 * n * log_likelihood(mle, counts, operator)
        free = k - found.merged if found.merged else k - 1
        after = free * math.log(n) - 2 * n * log_likelihood(found.frequencies, counts, operator)
        assert found.bic_unmerged == pytest.approx(before, rel=1e-12, abs=1e-9)
        assert found.bic == pytest.approx(after, rel=1e-12, abs=1e-9)
        assert found.bic <= found.bic_unmerged
        assert found.frequencies.sum() == pytest.approx(1, abs=1e-12)
        assert found.frequencies.min() >= 0
        accepted += found.merged > 0
        if not found.merged:
            np.testing.assert_array_equal(found.frequencies, mle)
    assert 50 < accepted < 300


def test_merged_values_share_their_weight_evenly_and_the_others_keep_theirs(seed: int) -> None:
    m = dn.mechanism("grr", k=100, epsilon=3.0)
    true = np.array([50_000, 30_000, *[100] * 98])
    summary = dn.simulate(m, true, seed=seed)
    found = m.estimate(summary, "mixture-reduction")
    merged = m.unbiased(summary) < 2 * math.sqrt(m.variance(0.0, summary.n))
    assert found.details["merged"] == merged.sum() > 40
    assert len(set(found.frequencies[merged].tolist())) == 1
    assert found.details["bic"] < found.details["bic_unmerged"]
    truth = true / true.sum()
    mle = m.estimate(summary, "mle").frequencies
    assert ((found.frequencies - truth) ** 2).sum() < ((mle - truth) ** 2).sum()


def test_clear_data_are_not_merged() -> None:
    m = dn.mechanism("grr", k=4, epsilon=3.0)
    summary = dn.simulate(m, [4000, 3000, 2000, 1000], seed=1)
    found = m.estimate(summary, "mixture-reduction")
    assert found.details["candidates"] == found.details["merged"] == 0
    np.testing.assert_array_equal(found.frequencies, m.estimate(summary, "mle").frequencies)


def test_a_reduction_that_the_likelihood_cannot_spare_is_refused() -> None:
    # two values that both lie below two standard errors (as if v0 were large) but differ clearly
    m = dn.RandomizedResponse(3, 2.0)
    counts = np.array([5000, 4000, 1000])
    f = m.unbiased(dn.Summary(counts, 10_000, m.fingerprint))
    found = reduced_replacement(counts, m.channel, f, v0=500.0)
    assert (found.candidates, found.merged) == (2, 0)
    np.testing.assert_array_equal(found.frequencies, most_likely(counts, m.channel))


def test_if_nothing_stands_out_the_answer_is_uniform() -> None:
    m = dn.mechanism("grr", k=50, epsilon=0.5)
    summary = dn.simulate(m, np.full(50, 20), seed=3)
    threshold = 2 * math.sqrt(m.variance(0.0, summary.n))
    f = np.minimum(m.unbiased(summary), threshold / 2)
    for found in (
        reduced_replacement(summary.counts, m.channel, f, m.noise("users")[0]),
        reduced(summary.counts, m.operator(), f, m.noise("users")[0]),
    ):
        np.testing.assert_allclose(found.frequencies, 1 / 50, rtol=1e-12)
        assert found.merged == 50


def test_counts_that_would_overflow_take_the_general_way() -> None:
    m = dn.RandomizedResponse(8, 1.0)
    counts = np.full(8, 2**58)
    counts[0] = 2**60
    summary = dn.Summary(counts, int(counts.sum()), m.fingerprint)
    f = m.unbiased(summary)
    f[1:] = 0.0  # so that all others are candidates
    found = reduced_replacement(counts, m.channel, f, m.noise("users")[0])
    assert found.merged == 7
    np.testing.assert_allclose(found.frequencies, m.estimate(summary, "mle").frequencies, atol=1e-9)


def test_any_channel_can_be_reduced(rng: np.random.Generator) -> None:
    matrix = rng.dirichlet(np.full(60, 2.0), size=20)
    operator = MatrixOperator(matrix)
    true = np.array([0.6, 0.3, *[0.1 / 18] * 18])
    counts = rng.multinomial(5000, true @ matrix)
    left_inverse = np.linalg.pinv(matrix.T)
    f = left_inverse @ (counts / 5000)
    v0 = float((left_inverse**2 @ matrix.mean(axis=0)).mean())
    found = reduced(counts, operator, f, v0)
    merged = f < 2 * math.sqrt(v0 / 5000)
    assert found.merged == merged.sum() > 10
    smaller = iterate(counts, MatrixOperator(merged_matrix(matrix, merged)))
    np.testing.assert_allclose(found.frequencies[~merged], smaller.frequencies[:-1], atol=1e-9)
    assert found.frequencies[merged].sum() == pytest.approx(smaller.frequencies[-1], abs=1e-9)


def test_replacement_and_matrix_agree() -> None:
    m = dn.RandomizedResponse(30, 1.0)
    counts = dn.simulate(m, [5000, 2000, *[50] * 28], seed=4).counts
    matrix = np.array([two_level_operator(Identity(), m.channel.p, m.channel.q).forward(row) for row in np.eye(30)])
    f = m.unbiased(dn.Summary(counts, int(counts.sum()), m.fingerprint))
    v0 = m.noise("users")[0]
    found, dense = reduced_replacement(counts, m.channel, f, v0), reduced(counts, MatrixOperator(matrix), f, v0)
    np.testing.assert_allclose(found.frequencies, dense.frequencies, atol=1e-9)
