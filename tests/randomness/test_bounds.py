"""Bounds by integers agree with ball arithmetic, value for value."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from deniable.randomness import bounds


def _arb(number: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _floor(number: flint.arb) -> int:
    found = number.floor().unique_fmpz()
    assert found is not None
    return int(found)


@pytest.fixture(autouse=True)
def _precise() -> object:
    with flint.ctx.workprec(2048):
        yield


def _epsilons(rng: np.random.Generator) -> list[float]:
    few = [5e-324, 1e-300, 2.0**-60, 1e-9, 0.1, 1.0, math.log(2), math.log(3), 2.0, 8.0, 50.0, math.nextafter(1, 2)]
    return few + np.exp(rng.uniform(math.log(1e-6), math.log(50), 1500)).tolist()


def test_exponentials_and_their_inverses(rng: np.random.Generator) -> None:
    for epsilon in _epsilons(rng):
        assert bounds.exponential_below(epsilon) == Fraction(_floor(flint.arb(epsilon).exp() * 2**64), 2**64)
        divisor = int(rng.integers(1, 1000))
        exact = -_floor(-((-flint.arb(epsilon) / divisor).exp() * 2**128))
        assert bounds.negative_exponential_above(epsilon, divisor) == Fraction(exact, 2**128)


def test_powers_and_their_digits(rng: np.random.Generator) -> None:
    bases = [Fraction(int(rng.integers(1, 2**62)), 2**62) for _ in range(300)]
    bases += [Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2**64 - 1, 2**64)]
    for base in bases:
        exponent = int(rng.choice([1, 2, 3, 7, 64, 1000, 2**20]))
        power = _arb(base) ** exponent
        assert bounds.power_below(base, exponent) == Fraction(_floor(power * 2**192), 2**192)
        for bits in (32, 96, 160):
            assert bounds.digits_below(base, exponent, False, bits) == _floor(power * 2**bits)
            assert bounds.digits_below(base, exponent, True, bits) == _floor(power / (1 + power) * 2**bits)


def test_logarithms_are_the_next_float_above_and_the_slack_the_next_below(rng: np.random.Generator) -> None:
    for epsilon in _epsilons(rng)[3:]:
        for ratio in (bounds.exponential_below(epsilon), 1 + Fraction(epsilon) / 3, Fraction(math.ceil(epsilon) + 1)):
            exact = _arb(ratio).log()
            above = bounds.logarithm_above(ratio)
            assert flint.arb(above) >= exact
            assert flint.arb(math.nextafter(above, -math.inf)) < exact
            slack = bounds.logarithm_slack(epsilon, ratio)
            assert flint.arb(slack) <= epsilon - exact
            assert flint.arb(math.nextafter(slack, math.inf)) > epsilon - exact
    assert bounds.logarithm_above(Fraction(1)) == 0.0
    assert bounds.logarithm_slack(0.7, Fraction(1)) == 0.7
