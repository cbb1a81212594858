"""Iterative Bayesian update: it reaches the maximum, and its certificate is true."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.methods import iterative as bayesian_update
from deniable.estimation.methods.iterative import ConvergenceWarning, iterate
from deniable.estimation.methods.likelihood import log_likelihood, most_likely
from deniable.estimation.operators.dense import MatrixOperator
from deniable.estimation.operators.two_level import Identity, two_level_operator


@pytest.mark.parametrize("skew", [0.01, 1.3, 2.5])
@pytest.mark.parametrize("n", [100, 10_000, 500_000])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 8.0])
def test_it_reaches_the_exact_maximum_of_randomised_response(epsilon: float, n: int, skew: float, seed: int) -> None:
    m = dn.RandomizedResponse(500, epsilon)
    shares = np.arange(1, 501) ** -skew
    true = np.random.default_rng(seed).multinomial(n, shares / shares.sum())
    counts = dn.simulate(m, true, seed=seed).counts
    found = iterate(counts, two_level_operator(Identity(), m.channel.p, m.channel.q))
    assert found.gap <= 1e-12
    assert np.abs(found.frequencies - most_likely(counts, m.channel)).sum() <= 1e-9
    assert found.frequencies.min() >= 0
    assert found.frequencies.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("shape", [(5, 5), (40, 60), (20, 200), (3, 2), (60, 30)])
def test_it_maximises_the_likelihood_of_any_channel(shape: tuple[int, int], rng: np.random.Generator) -> None:
    values, reports = shape
    for _ in range(10):
        matrix = rng.dirichlet(np.full(reports, 0.5), size=values)
        counts = rng.multinomial(20_000, rng.dirichlet(np.full(values, 0.3)) @ matrix)
        operator = MatrixOperator(matrix)
        found = iterate(counts, operator)
        assert found.gap <= 1e-12
        # the certificate is checked against other points: none may be likelier by more than the gap
        reached = log_likelihood(found.frequencies, counts, operator)
        for other in rng.dirichlet(np.full(values, 0.5), size=50):
            near = 0.999 * found.frequencies + 0.001 * other
            assert log_likelihood(near, counts, operator) <= reached + found.gap + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_start_changes_the_work_but_not_the_maximum(epsilon: float, rng: np.random.Generator) -> None:
    m = dn.RandomizedResponse(40, epsilon)
    counts = dn.simulate(m, rng.multinomial(3000, rng.dirichlet(np.full(40, 0.3))), seed=3).counts
    operator, exact = two_level_operator(Identity(), m.channel.p, m.channel.q), most_likely(counts, m.channel)
    one_value = np.eye(40)[int(exact.argmin())]  # all others must come back from zero
    for start in (exact, np.full(40, 1 / 40), rng.dirichlet(np.full(40, 0.1)), one_value):
        found = iterate(counts, operator, start=start)
        assert found.gap <= 1e-12
        assert np.abs(found.frequencies - exact).sum() <= 1e-9
    assert iterate(counts, operator, start=exact).updates == 0


def test_values_that_the_start_leaves_out_come_back() -> None:
    m = dn.RandomizedResponse(4, 2.0)
    counts = np.array([500, 300, 150, 50])
    operator = two_level_operator(Identity(), m.channel.p, m.channel.q)
    start = np.array([0.9, 0.1, 0.0, 0.0])
    found = iterate(counts, operator, start=start)
    assert found.updates == 0  # the start was likelier than equal frequencies, so it was used
    assert found.frequencies[2] > 0
    np.testing.assert_allclose(found.frequencies, most_likely(counts, m.channel), atol=1e-10)


def test_a_start_that_makes_a_report_impossible_is_not_used() -> None:
    operator = MatrixOperator(np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))
    found = iterate(np.array([10, 20, 10]), operator, start=np.array([1.0, 0.0]))
    np.testing.assert_allclose(found.frequencies, [0.5, 0.5], atol=1e-9)


def test_few_reports_and_a_weak_noise_are_no_trouble(rng: np.random.Generator) -> None:
    # values without a report make the second derivatives nearly singular
    for _ in range(300):
        k, n = int(rng.integers(2, 50)), int(10 ** rng.uniform(0, 3))
        m = dn.RandomizedResponse(k, float(rng.uniform(4, 9)))
        counts = dn.simulate(m, rng.multinomial(n, rng.dirichlet(np.full(k, 0.5))), seed=n).counts
        found = iterate(counts, two_level_operator(Identity(), m.channel.p, m.channel.q))
        assert found.gap <= 1e-12
        assert np.abs(found.frequencies - most_likely(counts, m.channel)).sum() <= 1e-8


def test_the_gap_bounds_the_likelihood_lost_at_every_plain_update(rng: np.random.Generator) -> None:
    m = dn.RandomizedResponse(30, 1.0)
    counts = dn.simulate(m, rng.multinomial(2000, rng.dirichlet(np.full(30, 0.3))), seed=1).counts
    operator, phi = two_level_operator(Identity(), m.channel.p, m.channel.q), counts / counts.sum()
    best = log_likelihood(most_likely(counts, m.channel), counts, operator)
    theta = np.full(30, 1 / 30)
    for _ in range(200):
        gradient = operator.adjoint(phi / operator.forward(theta))
        assert best - log_likelihood(theta, counts, operator) <= gradient.max() - 1 + 1e-12
        theta = theta * gradient


def test_operators_agree_with_their_matrix() -> None:
    m = dn.RandomizedResponse(7, 1.0)
    matrix = np.array([[float(m.probability(y, x)) for y in range(7)] for x in range(7)])
    vector = np.arange(7.0)
    for method in ("forward", "adjoint", "adjoint_squared"):
        wanted = getattr(MatrixOperator(matrix), method)(vector)
        np.testing.assert_allclose(
            getattr(two_level_operator(Identity(), m.channel.p, m.channel.q), method)(vector), wanted, rtol=1e-13
        )


def test_a_gap_that_is_not_reached_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bayesian_update, "_NEWTON_ROUNDS", 1)
    monkeypatch.setattr(bayesian_update, "_SQUAREM_ROUNDS", 0)
    m = dn.RandomizedResponse(500, 1.0)
    counts = dn.simulate(m, np.arange(500), seed=1).counts
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = iterate(counts, two_level_operator(Identity(), m.channel.p, m.channel.q))
    assert found.gap > 1e-12
    assert [warning.category for warning in caught] == [ConvergenceWarning]


def test_the_estimate_reports_its_certificate() -> None:
    m = dn.RandomizedResponse(20, 1.0)
    estimate = m.estimate(dn.simulate(m, np.arange(20) * 100), "ibu")
    assert estimate.details["gap"] <= 1e-12
    assert estimate.details.keys() == {"gap", "updates", "newton_steps"}
