"""Composition: the exact law against the enumeration of all outcomes, and the order of the bounds."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from mpmath import mp, mpf

import deniable as dn
from deniable.auditing.composition.composed import composed_delta


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
        assert composed_delta(Counter(epsilons), epsilon) == pytest.approx(enumerated(epsilons, epsilon), abs=1e-12)


def test_epsilons_without_a_common_unit_are_rounded_against_the_person() -> None:
    epsilons = [0.3, 0.7123, 0.51, 1.0 / 3, math.sqrt(0.5)]
    for part in (0.1, 0.5, 0.9):
        true = enumerated(epsilons, part * sum(epsilons))
        assert true <= composed_delta(Counter(epsilons), part * sum(epsilons)) <= true + 1e-3


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


def true_delta(epsilon: float, count: int, central: float) -> mpf:
    """The mean of (1 - e^(central - odds))_+ over the binomial law, to 40 digits."""
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
    ("epsilon", "count", "central"),
    [
        *((0.01, 10_000, central) for central in (1.0, 3.0, 5.0, 8.0)),
        *((0.003, 100_000, central) for central in (0.5, 4.0)),
        (0.7, 3000, 1200.0),
        (2.5, 40, 60.0),
        (1e-4, 20_000, 0.05),
        (0.3, 7, 0.9),
    ],
)
def test_delta_is_never_below_the_truth_of_40_digits_and_hardly_above_it(
    epsilon: float, count: int, central: float
) -> None:
    mp.dps = 40
    true, found = true_delta(epsilon, count, central), mpf(composed_delta(Counter({epsilon: count}), central))
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
        assert true <= mpf(composed_delta(Counter(counts), central))


def test_the_sum_is_rounded_up() -> None:
    each = [0.1] * 7 + [0.3, 0.7]
    assert Fraction(dn.compose(each).basic) >= sum(map(Fraction, each))


def test_many_reports_take_no_time_and_lose_no_small_probabilities() -> None:
    found = dn.compose(0.01, times=20_000, delta=1e-12)
    assert found.exact is not None
    assert found.exact < 0.01 * 20_000 / 10


def test_a_device_can_compose_without_a_statistics_library() -> None:
    code = "import deniable as dn, sys; dn.compose([0.5, 0.3], times=10, delta=1e-6)"
    code += "; print('scipy' in sys.modules, 'numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "epsilons must hold at least one number"),
        ("1", {}, "epsilons must be numbers"),
        ([1.0, 0.0], {}, "epsilons must be positive"),
        (1.0, {"times": 0}, "times must be a whole number"),
        (1.0, {"delta": 1.0}, "delta must be below 1"),
        (1.0, {"delta": -1e-6}, "delta must be a number from 0 to 1"),
        ([1.0] * 10, {"times": 100_000}, "times must leave at most 100,000 reports"),
    ],
)
def test_wrong_questions_are_answered_clearly(given: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.compose(given, **options)
