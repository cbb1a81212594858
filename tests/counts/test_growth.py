"""Functions that grow too fast are refused, those that do not are taken, and infinite variances are said to be that."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import growth_of

NOISE = dn.DiscreteLaplace(1.0)
NOISY = np.array([3, 0, 8])


def factorial_like(x: Any) -> Any:
    """x^x, and 1 below zero."""
    size = np.maximum(x, 0)
    return size**size


@pytest.mark.parametrize(
    ("f", "epsilon"),
    [
        (lambda x: np.exp(x**2), 40.0),
        (factorial_like, 7.0),
        (lambda x: np.exp(np.maximum(x, 0) ** 1.2), 30.0),
        (lambda x: np.exp(2 * x) / (1 + np.exp(x)), 0.5),  # NaN far out
        (lambda x: np.exp(np.abs(x)) / (1 + x**2), 0.9),
        (lambda x: np.exp(0.7 * x), 0.7),
    ],
    ids=["e^(x^2)", "x^x", "e^(x^1.2)", "a quotient of overflows", "e^x over a polynomial", "at the limit"],
)
def test_no_growth_beyond_the_noise_is_accepted(f: Callable[[Any], Any], epsilon: float) -> None:
    with pytest.raises(dn.InvalidArgument, match="grow more slowly"):
        dn.debias(f, NOISY, epsilon=epsilon)


@pytest.mark.parametrize(
    ("f", "rate"),
    [
        (lambda x: x**100, 0.0),
        (lambda x: x**400, 0.0),
        (lambda x: np.exp(0.3 * x), 0.3),
        (lambda x: np.exp(0.3 * x) * (1 + x**4), 0.3),
        (lambda x: np.exp(0.3 * np.abs(x)) / (1 + x**4), 0.3),
        (np.cosh, 1.0),
        (lambda x: x * np.log(np.maximum(x, 1)), 0.0),
    ],
    ids=["x^100", "x^400", "e^(0.3 x)", "times a polynomial", "over a polynomial", "cosh", "x log x"],
)
def test_growth_that_is_slow_enough_is_measured_as_it_is(f: Callable[[Any], Any], rate: float) -> None:
    assert growth_of(Function.of(f)).rate == pytest.approx(rate, abs=1e-3)


@pytest.mark.parametrize("beta", np.linspace(0.02, 0.98, 25))
def test_a_variance_is_infinite_from_half_the_rate_on(beta: float) -> None:
    noise = dn.DiscreteLaplace(2 * beta)
    with pytest.warns(dn.UnreliableAnswer):
        answer = dn.debias(lambda x: np.exp(beta * x), dn.Release(NOISY, noise), reduce="sum")
    assert answer.std_error == math.inf
    assert "nan" not in answer.recommendation


def test_the_power_of_a_sum_has_an_infinite_error_where_its_square_has_no_mean() -> None:
    with pytest.warns(dn.UnreliableAnswer):
        assert dn.ask.power_of_sum(NOISY, lambda x: np.exp(0.3 * x), 2, epsilon=1.0).std_error == math.inf


def test_growth_counts_for_laplace_noise_too() -> None:
    converted = dn.to_laplace(NOISE.release(NOISY, seed=1), seed=1)
    with pytest.raises(dn.InvalidArgument, match="grow more slowly"):
        dn.debias_continuous(np.exp, converted, first=np.exp, second=np.exp)
