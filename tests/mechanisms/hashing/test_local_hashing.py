"""Local hashing: collisions are exact for every pair, the decoder is the inverse, and the papers' errors hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.hashing.primes import best_base, ideal_variance
from deniable.mechanisms.numbers import is_prime
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import Vector, integers, numbered
from tests.mechanisms.hashing.local import CLASSES, hashing
from tests.naive import hashing as naive_hashes

SEED = 2718


def vectors(epsilon: float, weak: float) -> dict[str, Vector]:
    """Labels at the second epsilon, numbers at the first."""
    return {
        "labels": Vector({"labels": numbered(5), "epsilon": weak}, ["ä0", "ä4", "β2", "漢4", "漢0", "ä1"]),
        "integers": Vector(
            {"domain": integers(60), "epsilon": epsilon, "salt": "2026, spring"}, [-3, 0, 5, 60, 2000, None]
        ),
    }


def public_bits(m: Any) -> int:
    """Of the seed of a hash function, which everybody may know."""
    return int(m.publics - 1).bit_length()


CASES = [
    Case(
        "olh",
        small=[
            {"k": 5, "epsilon": 0.5},
            {"k": 2, "epsilon": 1.0, "g": 2},
            {"k": 4, "epsilon": 3.0, "g": 5},
            {"k": 8, "epsilon": 2.0, "g": 3},
            {"k": 7, "epsilon": 1.0, "g": 3},
            {"k": 9, "epsilon": 1.0, "g": 3},
        ],
        refused=Refused(0, 8),  # many values at a large epsilon
        public_bits=public_bits,
        vectors=vectors(1.0, weak=1.5),
    ),
    Case(
        "blh",
        small=[
            {"k": k, "epsilon": epsilon} for k, epsilon in ((2, 1.0), (3, 3.0), (4, 0.5), (8, 2.0), (5, 1.0), (9, 0.5))
        ],
        public_bits=public_bits,
        vectors=vectors(2.0, weak=0.5),
    ),
    Case(
        "flh",
        small=[
            {"k": 5, "epsilon": 3.0},
            {"k": 7, "epsilon": 0.5, "g": 2},
            {"k": 6, "epsilon": 2.0, "g": 5},
            {"k": 11, "epsilon": 1.0, "g": 3},
            {"k": 9, "epsilon": 1.0, "g": 3},
            {"k": 2, "epsilon": 1.0},
        ],
        refused=Refused(0, 3),
        public_bits=public_bits,
        vectors=vectors(2.0, weak=0.5),
    ),
]


SETTINGS = [
    *(("olh", k, g) for k, g in ((2, 2), (4, 2), (3, 3), (7, 3), (9, 3), (5, 7), (11, 5), (25, 5))),
    *(("flh", k, g) for k, g in ((2, 2), (7, 2), (3, 3), (9, 3), (14, 3), (5, 7), (11, 5), (25, 5))),
    *(("blh", k, 2) for k in (2, 3, 6, 8)),
]


@pytest.mark.parametrize(("name", "k", "g"), SETTINGS)
def test_p_and_q_hold_for_every_pair_exactly(name: str, k: int, g: int) -> None:
    m = contract.coarse(hashing(name, k, 1.5, g), 9)
    known = naive_hashes.seeds(g, m.digits, m.lines)
    assert [m.seed(place) for place in range(m.publics)] == known
    supported = {
        place * g + y: {x for x in range(k) if naive_hashes.linear_hash(x, seed, g, m.digits) == y}
        for place, seed in enumerate(known)
        for y in range(g)
    }
    for own in range(k):
        chances = {payload: m._probability(payload, own) for payload in m.layout.all()}
        for other in range(k):
            total = sum((chance for payload, chance in chances.items() if other in supported[payload]), Fraction(0))
            assert total == (m.channel.p if other == own else m.channel.q)
    assert all(len(values) < k for values in supported.values())  # no report speaks for everybody
    assert m.channel.q < Fraction(1, g)


@pytest.mark.parametrize(("name", "k", "g"), SETTINGS)
def test_the_guess_and_the_variance_are_those_of_enumeration(name: str, k: int, g: int) -> None:
    m = hashing(name, k, 1.0, g)
    contract.check_reconstruction_rate(m)
    contract.check_unbiased_and_variance(m)


@pytest.mark.parametrize(("name", "k", "g"), SETTINGS)
def test_the_operator_is_the_matrix(name: str, k: int, g: int) -> None:
    m = hashing(name, k, 2.0, g)
    dense = np.array([[float(m.probability(payload, x)) for payload in m.layout.all()] for x in range(k)])
    operator, rng = m.operator(), np.random.default_rng(SEED)
    weights, scores = rng.random(k), rng.random(m.symbols)
    np.testing.assert_allclose(operator.forward(weights), weights @ dense, rtol=1e-10)
    np.testing.assert_allclose(operator.adjoint(scores), dense @ scores, rtol=1e-10)
    np.testing.assert_allclose(operator.adjoint_squared(scores), dense**2 @ scores, rtol=1e-10)


@pytest.mark.parametrize("g", [3, 5, 7, 23, 53, 149])
def test_the_error_of_olh_is_the_papers_at_its_best_g_or_a_little_less(g: int) -> None:
    # Wang et al. 2017, section 4.4: (e^eps - 1 + g)^2 / ((e^eps - 1)^2 (g - 1)), least at g = e^eps + 1.
    # Without seed 0, values collide less often than under a random function, by a share of g^(1-d)
    e = g - 1
    m = hashing("olh", 1000, math.log(e))
    assert m.g == g
    assert 1 - 2 / m.g ** (m.digits - 1) < m.loss < 1
    for other in (2, 11):
        wanted = (e - 1 + other) ** 2 / ((e - 1) ** 2 * (other - 1))
        found = hashing("olh", 1000, math.log(e), other)
        assert 1 - 2 / other ** (found.digits - 1) < found.variance(0.0, n=3) / (wanted / 3) < 1


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0])
def test_the_error_of_blh_is_the_papers(epsilon: float) -> None:
    # section 4.4: (e^eps + 1)^2 / (e^eps - 1)^2
    e, m = math.exp(epsilon), hashing("blh", 22_000, epsilon)
    assert m.variance(0.0) == pytest.approx(((e + 1) / (e - 1)) ** 2, rel=2**-14)
    assert float(m.channel.p) == pytest.approx(e / (e + 1), rel=1e-12)
    assert (float(m.channel.q), m.report_bits) == (pytest.approx(1 / 2, rel=2**-14), 1)


@pytest.mark.parametrize(
    ("epsilon", "g", "bits"), [(0.5, 3, 2), (1, 3, 2), (2, 7, 3), (3, 23, 5), (4, 53, 6), (5, 149, 8)]
)
def test_the_error_is_near_the_optimum_with_few_bits(epsilon: float, g: int, bits: int) -> None:
    for name in ("olh", "flh"):
        m = hashing(name, 22_000, epsilon)
        assert (m.g, m.report_bits) == (g, bits)
        assert m.loss < 1.025
    assert hashing("flh", 22_000, epsilon).channel == hashing("olh", 22_000, epsilon).channel


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("k", [6, 30, 300])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 1.7, 2.5, 3.5, 6.0])
def test_no_prime_has_less_error_than_the_one_chosen(k: int, epsilon: float, lines: bool) -> None:
    bound = exponential_below(epsilon)
    primes = [g for g in range(2, 2 * k) if is_prime(g)]
    largest = next(g for g in primes if g >= k)
    least = min(ideal_variance(bound, k, g) for g in primes if g <= largest)
    found = best_base(k, bound, lines)
    assert found is not None
    assert ideal_variance(bound, k, found) == least


@pytest.mark.parametrize("name", CLASSES)
def test_the_simulated_error_is_the_stated_one(name: str) -> None:
    m, n, runs = hashing(name, 500, 2.0), 1000, 150
    truth = np.bincount(np.random.default_rng(SEED).integers(0, 500, n), minlength=500)
    errors = [
        float(((m.unbiased(dn.simulate(m, truth, seed=SEED + run)) - truth / n) ** 2).mean()) for run in range(runs)
    ]
    wanted = float(np.mean([m.variance(f, n) for f in truth / n]))
    spread = float(np.std(errors, ddof=1)) / math.sqrt(runs)
    assert spread < 0.02 * wanted
    assert abs(np.mean(errors) - wanted) <= 6 * spread


def test_the_likelihood_is_that_of_the_dense_channel() -> None:
    from deniable.estimation.methods.iterative import iterate
    from deniable.estimation.operators.dense import MatrixOperator

    for name in CLASSES:
        m = hashing(name, 9, 1.0, 3)
        summary = dn.simulate(m, np.array([500, 0, 30, 200, 0, 0, 100, 5, 165]), seed=SEED)
        dense = np.array([[float(m.probability(payload, x)) for payload in m.layout.all()] for x in range(9)])
        wanted = iterate(summary.counts, MatrixOperator(dense)).frequencies
        np.testing.assert_allclose(m.estimate(summary, "mle").frequencies, wanted, atol=1e-9)
