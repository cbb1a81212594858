"""Sums that cancel are certain, or say that they are not."""

from __future__ import annotations

from fractions import Fraction

import pytest

import deniable as dn
from deniable.counts.certain.balls import ball, certain, certain_all


def alternating(d: int) -> object:
    """sum_k C(d, k) (-2/3)^k (5/3)^(d - k) = 1, with terms beyond 10^300."""
    from math import comb

    return sum((ball(comb(d, k) * Fraction(-2, 3) ** k * Fraction(5, 3) ** (d - k)) for k in range(d + 1)), ball(0))


@pytest.mark.parametrize("d", [10, 200, 900])
def test_a_sum_that_floats_cannot_do_is_certain(d: int) -> None:
    found = certain(lambda: alternating(d), 1e-12)
    assert found.value == pytest.approx(1.0, abs=1e-12)
    assert found.width <= 1e-12


def test_many_sums_are_certain_together_and_relative_to_themselves() -> None:
    small, large = certain_all(lambda: [ball(Fraction(1, 3**200)), ball(3**200) / 7], 1e-15, relative=True)
    assert small.value == pytest.approx(3.0**-200, rel=1e-15)
    assert large.value == pytest.approx(3.0**200 / 7, rel=1e-15)


def test_a_tolerance_that_cannot_be_reached_is_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="tolerance must be positive"):
        certain(lambda: ball(1), 0.0)
