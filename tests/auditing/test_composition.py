"""Composition: the exact law against the enumeration of all outcomes, and the order of the bounds."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf

import deniable as dn
from deniable.auditing.composition.composed import composed_delta, moving_share
from deniable.auditing.composition.law import Step
from deniable.core.arrays import Floats
from tests.auditing.enumeration import channel
from tests.contract import cases


def enumerated(epsilons: list[float], epsilon: float) -> float:
    """Over all outcomes of randomised response at each epsilon: sum (Pr[y | x] - e^epsilon Pr[y | x'])_+."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(epsilons)):
        one = math.prod(1 / (1 + math.exp(-sign * e)) for sign, e in zip(signs, epsilons, strict=True))
        other = math.prod(1 / (1 + math.exp(sign * e)) for sign, e in zip(signs, epsilons, strict=True))
        total += max(0.0, one - math.exp(epsilon) * other)
    return total


@pytest.mark.parametrize("epsilons", [[1.0], [0.5] * 6, [0.5, 1.0, 1.5, 0.5], [0.1] * 10, [2.0, 1.0, 1.0]])
def test_the_exact_law_is_that_of_all_outcomes(epsilons: list[float]) -> None:
    for part in (0.0, 0.2, 0.5, 0.9):
        epsilon = part * sum(epsilons)
        assert composed_delta(Counter(map(Step, epsilons)), epsilon) == pytest.approx(
            enumerated(epsilons, epsilon), abs=1e-12
        )


def of_pair(one: Floats, other: Floats, count: int, epsilon: float) -> float:
    """Over all outcomes of so many reports of one value or another: sum (Pr[y | x] - e^epsilon Pr[y | x'])_+."""
    total = 0.0
    for outcome in itertools.combinations_with_replacement(range(len(one)), count):
        ways = math.factorial(count) // math.prod(math.factorial(each) for each in Counter(outcome).values())
        chosen = list(outcome)
        total += ways * max(0.0, float(one[chosen].prod() - math.exp(epsilon) * other[chosen].prod()))
    return total


def kinds(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The probabilities of all reports, with those of the same ratio added up."""
    ratios = np.round(np.log(one / other), 9)
    found, place = np.unique(ratios, return_inverse=True)
    return np.bincount(place, one, len(found)), np.bincount(place, other, len(found))


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_reports_of_a_mechanism_together_spend_no_more_than_is_said(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    rows, epsilon = channel(m), m.guarantee().epsilon
    pairs = [kinds(rows[a], rows[b]) for a, b in itertools.permutations(range(min(m.k, 6)), 2)]
    step = Step(epsilon, moving_share(m))
    for count, part in [(1, 0.0), (1, 0.5), (3, 0.2), (3, 0.6)]:
        central = part * count * epsilon
        true = max(of_pair(one, other, count, central) for one, other in pairs)
        found = composed_delta(Counter({step: count}), central)
        assert true <= found * (1 + 1e-9)
        if name in EXACT:
            assert found == pytest.approx(true, rel=1e-7, abs=1e-13)


EXACT = ("grr", "ss", "oue", "sue", "the", "csr", "pgr", "olh", "blh")  # all pairs of values alike, and two levels


def test_a_mechanism_spends_less_than_its_epsilon_alone_allows() -> None:
    m = dn.mechanism("grr", k=100, epsilon=1.0)
    of_many, of_any = (dn.compose(each, times=100, delta=1e-6) for each in (m, m.guarantee().epsilon))
    assert of_many.basic == of_any.basic
    assert of_many.exact is not None
    assert of_any.exact is not None
    assert of_many.exact < 12 < 83 < of_any.exact
    mixed = dn.compose([m, 0.5], times=10, delta=1e-6)
    assert mixed.reports == 20
    assert mixed.epsilon < dn.compose([1.0, 0.5], times=10, delta=1e-6).epsilon


def test_epsilons_without_a_common_unit_are_rounded_against_the_person() -> None:
    epsilons = [0.3, 0.7123, 0.51, 1.0 / 3, math.sqrt(0.5)]
    for part in (0.1, 0.5, 0.9):
        true = enumerated(epsilons, part * sum(epsilons))
        assert true <= composed_delta(Counter(map(Step, epsilons)), part * sum(epsilons)) <= true + 1e-3


def test_a_law_that_is_rounded_is_not_called_exact() -> None:
    found = dn.compose([(1 + place) / 1009 for place in range(300)], times=100, delta=1e-6)
    assert found.advanced is not None
    assert found.exact is not None
    assert found.epsilon == found.advanced < found.exact
    assert found.rounded == found.to_dict()["rounded"] is True
    assert "(the law of the odds, rounded up to a grid)" in str(found)
    assert not dn.compose([0.5, 0.25], times=4, delta=1e-6).rounded


@pytest.mark.parametrize("epsilon", [1e-300, 700.0])
def test_the_least_and_the_largest_epsilon_are_composed(epsilon: float) -> None:
    found = dn.compose([epsilon, 1.0], times=3, delta=1e-6)
    assert 0 < found.epsilon <= found.basic * (1 + 1e-12)
    assert str(dn.compose(epsilon)).startswith("1 reports of one person spend\n  epsilon ")


def test_the_bounds_are_in_order() -> None:
    found = dn.compose(0.1, times=1000, delta=1e-6)
    assert found.exact is not None
    assert found.advanced is not None
    assert found.exact < found.advanced < found.basic == pytest.approx(100.0)
    assert found.epsilon == found.exact
    few = dn.compose(1.0, times=2, delta=1e-9)
    assert few.epsilon <= few.basic == 2.0


def test_no_delta_leaves_the_sum() -> None:
    found = dn.compose([0.5, 0.25, 0.25], times=3)
    assert (found.epsilon, found.reports, found.advanced, found.exact) == (3.0, 9, None, None)
    assert "add up" in str(found)


def true_delta(epsilon: float, count: int, central: float, moves: float = 1.0) -> mpf:
    """The mean of (1 - e^(central - odds))_+ over the law of the odds, to 40 digits."""
    if moves < 1:
        share = [mp.binomial(count, m) * mpf(moves) ** m * (1 - mpf(moves)) ** (count - m) for m in range(count + 1)]
        return mp.fsum(chance * true_delta(epsilon, m, central) for m, chance in enumerate(share))
    up = 1 / (1 + mp.exp(-mpf(epsilon)))
    chance, total, scale = (1 - up) ** count, mpf(0), mp.exp(mpf(epsilon))
    grown, odds = mp.exp(central + count * mpf(epsilon)), -count * mpf(epsilon)
    for ups in range(count + 1):
        if odds > central:
            total += chance * (1 - grown)
        chance *= scale * (count - ups) / (ups + 1)
        grown /= scale * scale
        odds += 2 * mpf(epsilon)
    return total


@pytest.mark.parametrize(
    ("epsilon", "count", "central", "moves"),
    [
        *((0.01, 10_000, central, 1.0) for central in (1.0, 3.0, 5.0, 8.0)),
        *((0.003, 100_000, central, 1.0) for central in (0.5, 4.0)),
        (0.7, 3000, 1200.0, 1.0),
        (2.5, 40, 60.0, 1.0),
        (1e-4, 20_000, 0.05, 1.0),
        (0.3, 7, 0.9, 1.0),
        *((1.0, 100, central, 0.0366) for central in (0.0, 6.0, 12.0)),
        *((0.1, 150, central, 0.5) for central in (0.5, 4.0, 8.0)),
        (3.0, 30, 20.0, 0.999),
    ],
)
def test_delta_is_never_below_the_truth_of_40_digits_and_hardly_above_it(
    epsilon: float, count: int, central: float, moves: float
) -> None:
    mp.dps = 40
    true, found = (
        true_delta(epsilon, count, central, moves),
        mpf(composed_delta(Counter({Step(epsilon, moves): count}), central)),
    )
    assert true <= found <= true * (1 + mpf("1e-9")) + mpf("1.1e-24")


@pytest.mark.parametrize("counts", [{0.1: 60, 0.3: 20, 0.7: 5}, {0.1: 40, 0.13: 30, 1.0: 2}, {0.05: 100, 0.6: 10}])
def test_delta_of_several_epsilons_is_never_below_the_truth(counts: dict[float, int]) -> None:
    mp.dps = 40
    law = [(mpf(0), mpf(1))]
    for epsilon, count in counts.items():
        up = 1 / (1 + mp.exp(-mpf(epsilon)))
        own = [
            ((2 * u - count) * mpf(epsilon), math.comb(count, u) * up**u * (1 - up) ** (count - u))
            for u in range(count + 1)
        ]
        law = [(odds + step, chance * part) for odds, chance in law for step, part in own]
    for central in (0.5, 4.0, 10.0):
        true = mp.fsum(chance * (1 - mp.exp(central - odds)) for odds, chance in law if odds > central)
        assert true <= mpf(
            composed_delta(Counter({Step(epsilon): count for epsilon, count in counts.items()}), central)
        )


def test_the_sum_is_rounded_up() -> None:
    each = [0.1] * 7 + [0.3, 0.7]
    assert Fraction(dn.compose(each).basic) >= sum(map(Fraction, each))


def test_many_reports_take_no_time_and_lose_no_small_probabilities() -> None:
    found = dn.compose(0.01, times=20_000, delta=1e-12)
    assert found.exact is not None
    assert found.exact < 0.01 * 20_000 / 10


def test_a_device_can_compose_without_a_statistics_library() -> None:
    code = "import deniable as dn, sys; m = dn.mechanism('oue', k=9, epsilon=1.0)"
    code += "; dn.compose([0.5, m], times=10, delta=1e-6)"
    code += "; print('scipy' in sys.modules, 'numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "epsilons must hold at least one number"),
        ("1", {}, "epsilons must be numbers"),
        ([1.0, 0.0], {}, "epsilons must be positive"),
        (12000.0, {"delta": 1e-6}, "epsilons must be a number from 1e-300 to 700"),
        (1e-320, {}, "epsilons must be a number from 1e-300 to 700"),
        (1.0, {"times": 0}, "times must be a whole number"),
        (1.0, {"delta": 1.0}, "delta must be below 1"),
        (1.0, {"delta": -1e-6}, "delta must be a number from 0 to 1"),
        ([1.0] * 10, {"times": 100_000}, "times must leave at most 100,000 reports"),
    ],
)
def test_wrong_questions_are_answered_clearly(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.compose(given, **options)
