"""The auditor's own numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.auditing.exact.arithmetic import digits, exponential_below, logarithm, subtract, uneven
from deniable.randomness import bounds

EPSILONS = st.floats(1e-6, 50)


@given(EPSILONS)
def test_exponentials_by_two_ways_agree(epsilon: float) -> None:
    assert exponential_below(Fraction(epsilon)) == bounds.exponential_below(epsilon)


@given(EPSILONS)
def test_logarithms_lie_within_the_rigorous_bounds(epsilon: float) -> None:
    ratio = bounds.exponential_below(epsilon)
    above = bounds.logarithm_above(ratio)
    assert math.nextafter(above, 0) <= float(logarithm(ratio)) <= above
    assert 0 <= subtract(Fraction(epsilon), logarithm(ratio)) < 2**-63


def test_digits_are_cut_off() -> None:
    assert digits(Fraction(2, 3), 5) == "0.66666"
    assert digits(Fraction(-1, 4), 3) == "-0.250"
    assert digits(logarithm(Fraction(2))) == "0.69314718055994530941"


@given(st.integers(2, 40), st.integers(0, 63))
def test_how_uneven_a_draw_is_equals_counting_all_words(bound: int, rejection: int) -> None:
    modulus = 64
    counts = [0] * bound
    for word in range(modulus):
        drawn, low = divmod(word * bound, modulus)
        counts[drawn] += low >= rejection
    if min(counts):
        assert uneven(bound, rejection, modulus) == Fraction(max(counts), min(counts))
    else:
        assert uneven(bound, rejection, modulus) > modulus


@pytest.mark.parametrize("bound", [2, 3, 7, 26, 1000, 22_000, 2**32 - 5])
def test_the_right_rejection_makes_a_draw_even(bound: int) -> None:
    assert uneven(bound, 2**64 % bound) == 1
    assert 2**64 % bound == 0 or uneven(bound, 0) > 1
