"""Generalised least squares: its equations, its error, and conjugate gradients behind it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.estimation.methods.iterative import iterate
from deniable.estimation.methods.least_squares import weighted
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.methods.systems import solve
from deniable.estimation.operators.dense import MatrixOperator
from tests.naive import response as naive


def design(epsilon: float, prime: int = 421) -> tuple[np.ndarray, np.ndarray]:
    """A channel with twice as many reports as values: shifts of the quartic residues, and of twice them.

    The prime is 5 modulo 8, so these two sets together meet every difference equally often.
    Returns the channel and which report supports which value.
    """
    residues = {pow(x, 4, prime) for x in range(1, prime)}
    sets = [residues, {x * 2 % prime for x in residues}]
    supports = np.array([[(y - x) % prime in s for s in sets for y in range(prime)] for x in range(prime)])
    e, w = math.exp(epsilon), (prime - 1) // 4
    return np.where(supports, e, 1.0) / (2 * (w * e + prime - w)), supports


def pure_channel(matrix: np.ndarray, supports: np.ndarray) -> PureChannel:
    """Its two numbers, by enumeration."""
    from fractions import Fraction

    agree = matrix @ supports.T
    p, q = agree[0, 0], agree[0, 1]
    np.testing.assert_allclose(agree, np.where(np.eye(len(matrix)), p, q), rtol=1e-12)
    return PureChannel(Fraction(p), Fraction(q))


def zipf(k: int, n: int, rng: np.random.Generator) -> np.ndarray:
    shares = np.arange(1, k + 1) ** -1.3
    return rng.multinomial(n, shares / shares.sum())


def test_it_solves_the_weighted_normal_equations(rng: np.random.Generator) -> None:
    for _ in range(20):
        matrix = rng.dirichlet(np.full(40, 2.0), size=12)
        counts = rng.multinomial(5000, rng.dirichlet(np.full(12, 0.5)) @ matrix)
        pilot = rng.normal(1 / 12, 0.05, 12)
        mu = np.array(naive.projected(pilot.tolist())) @ matrix
        inverse = np.linalg.inv((matrix / mu) @ matrix.T)
        wanted = inverse @ (matrix / mu) @ (counts / 5000)
        found = weighted(counts, MatrixOperator(matrix), pilot)
        apart = found.solution - wanted
        # in standard errors, of the sum of frequencies that is furthest off; the last step was below 1e-2
        assert np.sqrt(5000 * apart @ np.linalg.solve(inverse, apart)) < 1e-2
        np.testing.assert_allclose(found.frequencies, naive.projected(found.solution.tolist()), atol=1e-12)
        exactly = weighted(counts, MatrixOperator(matrix), pilot, precondition=lambda r, m=inverse: m @ r)
        assert exactly.steps <= 2
        np.testing.assert_allclose(exactly.solution, wanted, atol=1e-8)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("n", [1, 50, 100_000])
def test_for_a_square_channel_it_is_the_projection(n: int, epsilon: float, rng: np.random.Generator) -> None:
    m = dn.mechanism("grr", k=100, epsilon=epsilon)
    summary = dn.simulate(m, rng.multinomial(n, rng.dirichlet(np.full(100, 0.1))), seed=1)
    gls, projected = m.estimate(summary, "gls"), m.estimate(summary, "projected")
    np.testing.assert_allclose(gls.frequencies, projected.frequencies, atol=1e-6)
    assert gls.details["steps"] <= 50
    assert not gls.unbiased


def test_on_skewed_data_it_is_nearly_as_good_as_the_likelihood_for_far_less_work(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix, supports = design(2.0)
    channel, operator = pure_channel(matrix, supports), MatrixOperator(matrix)
    k, n, runs = len(matrix), 100_000, 20
    errors = {"unbiased": 0.0, "projected": 0.0, "gls": 0.0, "mle": 0.0}
    for _ in range(runs):
        true = zipf(k, n, rng)
        counts = sum(rng.multinomial(count, row) for count, row in zip(true, matrix, strict=True))
        plain = channel.unbiased((supports @ counts).astype(np.int64), n)
        gls = weighted(counts, operator, plain)
        assert gls.steps <= 20
        found = {
            "unbiased": plain,
            "projected": nearest_distribution(plain),
            "gls": gls.frequencies,
            "mle": iterate(counts, operator).frequencies,
        }
        for method, f in found.items():
            errors[method] += ((f - true / n) ** 2).sum() / runs
    assert errors["gls"] == pytest.approx(errors["mle"], rel=0.05)
    assert errors["gls"] < errors["projected"]
    assert errors["gls"] < 0.3 * errors["unbiased"]


def test_a_channel_with_zeros_and_unseen_reports_is_no_trouble() -> None:
    matrix = np.array([[0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5]])
    found = weighted(np.array([10, 10, 0, 0]), MatrixOperator(matrix), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(found.frequencies, [1, 0, 0], atol=1e-12)


def test_fewer_reports_than_values_move_the_pilot_only_where_they_say_something(rng: np.random.Generator) -> None:
    matrix = rng.dirichlet(np.full(5, 1.0), size=20)
    counts = rng.multinomial(1000, rng.dirichlet(np.full(20, 1.0)) @ matrix)
    pilot = rng.dirichlet(np.full(20, 1.0))
    found = weighted(counts, MatrixOperator(matrix), pilot)
    np.testing.assert_allclose(found.solution @ matrix, counts / 1000, atol=1e-8)
    assert np.isfinite(found.frequencies).all()


def test_conjugate_gradients_solve_in_as_many_steps_as_there_are_eigenvalues(rng: np.random.Generator) -> None:
    basis, _ = np.linalg.qr(rng.normal(size=(30, 30)))
    matrix = basis @ np.diag(np.repeat([1.0, 5.0, 20.0], 10)) @ basis.T
    wanted = rng.normal(size=30)
    found, steps = solve(matrix.__matmul__, wanted, np.zeros(30), lambda r: r, rounds=100, tolerance=1e-10)
    assert steps == 3
    np.testing.assert_allclose(matrix @ found, wanted, atol=1e-9)
    again, steps = solve(matrix.__matmul__, wanted, found, lambda r: r, rounds=100, tolerance=1e-10)
    assert steps <= 3
    np.testing.assert_allclose(again, found, atol=1e-9)
