"""Histogram encoding, summed and thresholded: the paper's numbers, exact integers, bytes, and limits."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.unary.histogram_summation import MAX_REACH, MAX_VALUES, default_reach, level_weights
from deniable.mechanisms.unary.histogram_thresholding import best_theta
from deniable.randomness.bounds import exponential_below
from tests.contract import cases
from tests.contract.cases import Case, Refused
from tests.contract.vectors import FOUR, Vector, integers
from tests.mechanisms.unary.words import coins, sliced_words

EPSILONS = [0.5, 1.0, 2.0, 4.0, 8.0]

INTEGERS = [-3, 0, 60, 61, 96, 2000, None]
CASES = [
    Case(
        "the",
        small=[{"k": k, "epsilon": epsilon} for k, epsilon in ((2, 1.0), (2, 3.0), (3, 2.0), (3, 3.0), (4, 3.0))],
        largest=8,
        refused=Refused(0, 4),
        summary_keeps_all=False,
        words=sliced_words,
        draws=coins,
        vectors={
            "labels": Vector({"labels": FOUR, "epsilon": 1.5}),
            "integers": Vector({"domain": integers(96), "epsilon": 3.0, "theta": 0.75}, INTEGERS),
        },
    ),
    Case(
        "she",
        small=[
            {"k": 2, "epsilon": 0.5, "reach": 1},
            {"k": 2, "epsilon": 1.0, "reach": 2},
            {"k": 2, "epsilon": 3.0, "reach": 1},
            {"k": 3, "epsilon": 1.0, "reach": 0},
            {"k": 4, "epsilon": 3.0, "reach": 0},
        ],
        large={"k": 60, "epsilon": 3.0},
        few=lambda _: {"reach": 1},
        largest=5,
        refused=Refused(0, 11),
        summary_keeps_all=False,
        draws=lambda m: m.k,
        vectors={
            "labels": Vector({"labels": FOUR, "epsilon": 1.5}),
            "reach": Vector({"domain": integers(96), "epsilon": 3.0, "reach": 2}, INTEGERS),
        },
    ),
]


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wang_2017_the_variance_of_the(epsilon: float) -> None:
    m = dn.mechanism("the", k=100, epsilon=epsilon)
    e = math.exp(epsilon * m.theta / 2)
    stated = (2 * e - 1) / (1 + math.exp(epsilon * (m.theta - 0.5)) - 2 * e) ** 2
    assert m.variance(0.0, n=50) == pytest.approx(stated / 50, rel=1e-6)
    assert float(m.channel.p) == pytest.approx(1 - math.exp(epsilon * (m.theta - 1) / 2) / 2, rel=1e-8)
    assert float(m.channel.q) == pytest.approx(math.exp(-epsilon * m.theta / 2) / 2, rel=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wang_2017_the_best_theta_lies_between_a_half_and_one(epsilon: float) -> None:
    theta = np.linspace(0.5, 1, 5001)
    e = np.exp(epsilon * theta / 2)
    variances = (2 * e - 1) / (1 + np.exp(epsilon * (theta - 0.5)) - 2 * e) ** 2
    assert best_theta(epsilon) == pytest.approx(theta[variances.argmin()], abs=2e-4)
    best = dn.mechanism("the", k=10, epsilon=epsilon)
    assert best.variance() <= variances.min() * (1 + 1e-6)
    for other in (0.5, best.theta - 0.02, best.theta + 0.02, 1.0):
        assert dn.mechanism("the", k=10, epsilon=epsilon, theta=other).variance() > best.variance()


@pytest.mark.parametrize("epsilon", [*EPSILONS, 20.0])
def test_the_variance_of_discrete_noise_is_just_below_the_papers(epsilon: float) -> None:
    m = dn.mechanism("she", k=100, epsilon=epsilon)
    q = math.exp(-epsilon / 2)
    discrete = 2 * q / (1 - q) ** 2
    assert m.variance(0.3, n=50) == pytest.approx(discrete / 50, rel=1e-5)
    assert m.variance() < discrete < 8 / epsilon**2


def test_wang_2017_the_variance_of_she_where_steps_are_small() -> None:
    # 2q/(1-q)^2 = (8/eps^2)(1 - eps^2/48 + ...)
    for epsilon in (0.25, 0.5, 1.0):
        m = dn.mechanism("she", k=10, epsilon=epsilon)
        assert m.variance() == pytest.approx(8 / epsilon**2 * (1 - epsilon**2 / 48), rel=5e-4)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_wang_2017_thresholding_beats_summation_and_unary_encoding_beats_both(epsilon: float) -> None:
    variances = [dn.mechanism(name, k=10, epsilon=epsilon).variance() for name in ("oue", "sue", "the", "she")]
    oue, sue, the, she = variances
    assert oue < sue < the < she


@pytest.mark.parametrize("epsilon", [0.1, *EPSILONS])
def test_noise_of_reach_zero_is_symmetric_unary_encoding(epsilon: float) -> None:
    she, sue = dn.mechanism("she", k=3, epsilon=epsilon, reach=0), dn.mechanism("sue", k=3, epsilon=epsilon)
    p, q = Fraction(she.weights[0], 2**64), Fraction(she.weights[1], 2**64)
    assert float(p) == pytest.approx(float(sue.channel.p), abs=1e-9)
    assert p + q == 1
    assert she.variance() == pytest.approx(sue.variance(), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_cutting_the_noise_off_sooner_only_lowers_the_variance(epsilon: float) -> None:
    reaches = [0, 1, 2, 5, 11, 40, MAX_REACH]
    variances = [dn.mechanism("she", k=3, epsilon=epsilon, reach=reach).variance() for reach in reaches]
    assert all(a < b * (1 + 1e-12) for a, b in pairwise(variances))
    assert variances[0] == pytest.approx(math.exp(-epsilon / 2) / (1 - math.exp(-epsilon / 2)) ** 2, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 8.0])
def test_thresholding_leaves_part_of_epsilon_unspent_and_unary_encoding_none(epsilon: float) -> None:
    assert dn.mechanism("the", k=10, epsilon=epsilon).guarantee().slack > 0.05 * epsilon
    for name in ("oue", "sue", "she"):
        assert dn.mechanism(name, k=10, epsilon=epsilon).guarantee().slack < 1e-6


@pytest.mark.parametrize(("modulus", "reach"), [(2**64, 127), (2**64, 6), (2**64, 0), (2**11, 7), (2**5, 2), (8, 3)])
def test_every_pair_of_levels_is_as_far_apart_as_epsilon_allows(modulus: int, reach: int) -> None:
    for epsilon in (1e-9, 1e-6, 0.1, *EPSILONS, 20.0, 50.0):
        bound = exponential_below(epsilon)
        weights = level_weights(bound, modulus, reach)
        assert sum(weights) == modulus, epsilon
        assert min(weights) >= 1, epsilon
        for rare, frequent in zip(weights[reach + 1 :], weights[reach::-1], strict=True):
            assert rare <= frequent, epsilon
            assert frequent**2 <= bound * rare**2, epsilon
            assert rare == 1 or (frequent + 1) ** 2 > bound * (rare - 1) ** 2, epsilon


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_weights_are_those_of_the_two_sided_geometric_distribution(epsilon: float) -> None:
    q, reach = math.exp(-epsilon / 2), 12
    weights = np.array([float(w) for w in level_weights(exponential_below(epsilon), 2**64, reach)]) / 2**64
    steps = np.arange(-reach, reach + 2)
    ideal = (1 - q) / (1 + q) * q ** np.abs(steps)
    ideal[0], ideal[-1] = q**reach / (1 + q), q ** (reach + 1) / (1 + q)  # with all that lies beyond
    np.testing.assert_allclose(weights, ideal, rtol=1e-9)


def test_the_guarantee_is_that_of_all_pairs_of_levels_at_the_default_reach() -> None:
    for epsilon in (0.1, 1.0, 5.0, 50.0):
        m = dn.mechanism("she", k=2, epsilon=epsilon)
        w = m.weights
        # both orders of two levels; w(a|1) w(b|0) / (w(a|0) w(b|1))
        extremes = [Fraction(w[-1 - a], w[a]) for a in range(m.levels)]
        largest = max(a / b for a, b in product(extremes, repeat=2))
        assert m.guarantee().ratio == largest <= exponential_below(epsilon)


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 3.0, 10.0, 30.0, 50.0])
def test_the_default_reach_fills_whole_bits(epsilon: float) -> None:
    m = dn.mechanism("she", k=5, epsilon=epsilon)
    assert m.levels == 2**m.layout.level_bits <= 256
    assert m.report_bits == 5 * m.layout.level_bits
    assert (m.reach == MAX_REACH) == (epsilon <= 0.25)
    assert default_reach(epsilon) == m.reach


@pytest.mark.parametrize("k", [63, 64, 65, 3000])
def test_the_attack_rate_of_large_domains_is_rounded_up_by_next_to_nothing(k: int) -> None:
    m = dn.mechanism("she", k=k, epsilon=2.0, reach=2)
    levels = sorted((Fraction(m.weights[-1 - c], m.weights[c]), Fraction(m.weights[c], 2**64)) for c in range(6))
    shares = [sum(share for _, share in levels[: c + 1]) for c in range(6)]
    chances = [share**k - (shares[c - 1] ** k if c else 0) for c, share in enumerate(shares)]
    exact = sum(odds * chance for (odds, _), chance in zip(levels, chances, strict=True)) / k
    assert 0 <= m.reconstruction_rate() - exact < Fraction(1, 2**100)
    assert (m.reconstruction_rate() == exact) == (k <= 64)


M5 = dn.mechanism("she", k=5, epsilon=1.0, reach=2)

MALFORMED = [
    (np.array([3, 4], np.uint8), "rows of 5 levels, got shape (2,), uint8"),
    (np.zeros((1, 4), np.uint8), "rows of 5 levels, got shape (1, 4)"),
    (np.zeros((1, 5)), "rows of 5 levels, got shape (1, 5), float64"),
    (np.array([[0, 0, 0, 0, 5], [0, 0, 6, 0, 0]]), "report at position 1 must have levels from 0 to 5, got 6"),
    (np.array([[0, 0, 0, -1, 5]]), "report at position 0 must have levels from 0 to 5, got -1"),
]


@pytest.mark.parametrize(("array", "says"), MALFORMED, ids=[says[-20:] for _, says in MALFORMED])
def test_a_malformed_batch_is_refused(array: np.ndarray, says: str) -> None:
    with pytest.raises(dn.MalformedReport) as caught:
        M5.summarize(array)
    assert says in str(caught.value)


def test_malformed_bytes_are_refused() -> None:
    with pytest.raises(dn.MalformedReport, match="must have 2 bytes, got 3"):
        M5.decode(bytes(3))
    with pytest.raises(dn.MalformedReport, match="no bit set beyond bit 14"):
        M5.decode(b"\x00\x80")
    with pytest.raises(dn.MalformedReport, match="levels from 0 to 5, got 7"):
        M5.decode(b"\x07\x00")


@pytest.mark.parametrize("counts", [[1] * 4, [1, 1, 1, 1, 11]])
def test_an_impossible_summary_is_refused(counts: list[int]) -> None:
    with pytest.raises(dn.MalformedSummary, match="5 sums of levels, of at most 10"):
        M5.estimate(dn.Summary(np.array(counts), 2, M5.fingerprint))


REFUSED = [
    ("she", {"k": 5, "epsilon": 1.0, "reach": -1}, "reach must be a whole number from 0 to 127"),
    ("she", {"k": 5, "epsilon": 1.0, "reach": 128}, "reach must be a whole number from 0 to 127"),
    ("she", {"k": 5, "epsilon": 1.0, "reach": 2.0}, "reach must be a whole number from 0 to 127"),
    ("she", {"k": MAX_VALUES + 1, "epsilon": 1.0}, "k must be at most 65536 for she"),
    ("she", {"k": 5, "epsilon": 1e-25}, "No 64-bit coin is that weak"),
    ("the", {"k": 5, "epsilon": 1.0, "theta": 0.4}, "theta must be a number from 0.5 to 1"),
    ("the", {"k": 5, "epsilon": 1.0, "theta": "0.7"}, "theta must be a number from 0.5 to 1"),
    ("the", {"k": 5, "epsilon": 1e-9}, "No 32-bit coin is that weak"),
]


@pytest.mark.parametrize(("name", "setting", "says"), REFUSED, ids=str)
def test_a_setting_that_cannot_be_served_is_refused(name: str, setting: dict[str, object], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says):
        dn.mechanism(name, **setting)  # type: ignore[arg-type]


def test_words_too_short_for_the_levels_are_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="reach must be smaller for words below 8"):
        level_weights(Fraction(2), 8, 4)


@pytest.mark.parametrize("name", ["she", "the"])
def test_what_a_spec_names_is_not_searched_for_again(name: str) -> None:
    m = dn.mechanism(name, k=5, epsilon=1.3)
    given = {"she": {"reach": m.reach} if name == "she" else {}, "the": {"theta": getattr(m, "theta", 0)}}[name]
    assert dn.mechanism(name, k=5, epsilon=1.3, **given).fingerprint == m.fingerprint
    assert dn.from_spec(m.spec.to_json()) == m
    assert cases.of(name).one().spec.parameters.keys() == m.spec.parameters.keys()
