"""Products and polynomials: Theorem 14, and errors that do not cancel."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import deniable as dn
from deniable.counts.questions.polynomials import _plug_in, covariance_term, unbiased_power
from deniable.counts.questions.products import product_variance
from tests.naive import noise as naive
from tests.naive import questions as twins

NOISE = dn.DiscreteLaplace(1.0)
A = float(NOISE.a)


def quiet(call: object) -> dn.Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        return call()  # type: ignore[operator]


@pytest.mark.parametrize("y", [(5, 9, 4, 6), (3, 3, 2, 2), (2, 8, 8, 3)])
def test_theorem_14_the_product_of_answers_about_different_counts_is_the_answer_to_the_product(
    y: tuple[int, ...],
) -> None:
    # a product of two questions that join two counts each
    left, right = (dn.Release(np.array(part), NOISE) for part in (y[:2], y[2:]))
    answers = quiet(lambda: dn.ask.maximum(left)).value * quiet(lambda: dn.ask.entropy(right)).value
    wanted = naive.operate_many(lambda point: max(point[:2]) * twins.entropy(point[2:]), y, A)
    assert answers == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_theorem_14_monomials_are_products_of_powers() -> None:
    y = (4, -1, 7)
    answer = quiet(lambda: dn.ask.polynomial(np.array(y), {(3, 1, 2): -2.0}, epsilon=1.0))
    powers = [naive.operate(lambda t, p=p: float(t) ** p, each, A) for each, p in zip(y, (3, 1, 2), strict=True)]
    assert answer.value == pytest.approx(-2.0 * math.prod(powers), rel=1e-12)
    functions = [lambda t: t**3, lambda t: t, lambda t: -2 * t**2]
    same = quiet(lambda: dn.ask.product(functions, np.array(y), epsilon=1.0))
    assert same.value == pytest.approx(answer.value, rel=1e-12)
    assert same.std_error == pytest.approx(answer.std_error, rel=1e-9)


@pytest.mark.parametrize("power", [0, 1, 2, 3, 6])
def test_powers_and_their_covariances_are_those_of_the_operator(power: int) -> None:
    y = np.array([-2.0, 0.0, 1.0, 9.0])
    assert unbiased_power(y, power, A) == pytest.approx(
        [naive.operate(lambda t: float(t) ** power, int(each), A) for each in y], rel=1e-12, abs=1e-9
    )
    for other in (1, 2, 4):
        wanted = unbiased_power(y, power, A) * unbiased_power(y, other, A) - unbiased_power(y, power + other, A)
        assert covariance_term(y, power, other, A) == pytest.approx(wanted, rel=1e-9, abs=1e-7)


def test_errors_of_large_counts_keep_their_digits() -> None:
    # f_hat^2 - L(f^2) in floats would be zero or worse
    big = 10**9
    answer = dn.ask.polynomial(np.array([big, big]), {(1, 1): 1.0}, epsilon=1.0)
    # x y with independent noises: variance 2a (x^2 + y^2), to first order
    assert answer.std_error == pytest.approx(math.sqrt(4 * A) * big, rel=1e-6)
    same = dn.ask.product([lambda t: t, lambda t: t], np.array([big, big]), epsilon=1.0)
    assert same.std_error == pytest.approx(answer.std_error, rel=1e-6)
    assert product_variance([1e9, 1e9], [0.0, 0.0]) == 0.0


def test_the_error_at_the_plug_in_is_the_variance_there() -> None:
    # by all noises of one count: x^3 - 4x, and the same as a polynomial in two counts of which one does not matter
    noise, x = dn.DiscreteLaplace(1.5), 3
    a = float(noise.a)
    steps, chance = naive.window(noise.q)
    values = np.array([naive.operate(lambda t: float(t) ** 3 - 4 * t, x + int(z), a) for z in steps])
    variance = math.fsum(chance * (values - (x**3 - 4 * x)) ** 2)
    found = _plug_in([(1.0, (3, 0)), (-4.0, (1, 0))], np.array([[3.0, 8.0]]), noise)
    assert found[0] == pytest.approx(variance, rel=1e-9)


def test_a_negative_estimate_is_replaced_by_the_plug_in_and_said() -> None:
    noisy = [dn.Release(np.array(y), dn.DiscreteLaplace(0.5)) for y in ((0, 0), (1, -1), (0, 1), (1, 1))]
    answers = [quiet(lambda r=r: dn.ask.polynomial(r, {(1, 1): 1.0})) for r in noisy]
    answers += [quiet(lambda r=r: dn.ask.product([lambda t: t, lambda t: t], r)) for r in noisy]
    assert all(answer.std_error > 0 for answer in answers)
    said = [answer for answer in answers if any("negative" in note for note in answer.notes)]
    assert said


def test_polynomials_add_over_rows() -> None:
    rows = np.array([[3, 5], [40, 2], [7, 7]])
    noisy = dn.Release(rows, NOISE)
    terms = {(1, 1): 1.0, (2, 0): -0.5}
    each, total, mean = (dn.ask.polynomial(noisy, terms, reduce=reduce) for reduce in ("none", "sum", "mean"))
    assert total.value == pytest.approx(each.value.sum())
    assert total.std_error == pytest.approx(math.sqrt((each.std_error**2).sum()))
    assert mean.value == pytest.approx(total.value / 3)


def test_the_best_product_is_chosen_by_errors_at_the_plug_in() -> None:
    noisy = dn.DiscreteLaplace(0.5).release([3, 4], seed=1)
    functions = [lambda t: t**2, lambda t: t**2]
    answer = quiet(lambda: dn.ask.product(functions, noisy, best="auto"))
    moments = quiet(lambda: dn.ask.product(functions, noisy)).moments
    assert moments is not None
    assert moments.variance > 0
    assert answer.std_error**2 <= moments.variance * (1 + 1e-9)
    added = quiet(lambda: dn.ask.separable(functions, noisy, best="auto"))
    assert added.method in ("unbiased", "naive", "shrunk")


def test_powers_of_sums_are_answered_without_expanding_them(rng: np.random.Generator) -> None:
    y = (3, 0, 5)
    answer = quiet(lambda: dn.ask.power_of_sum(np.array(y), lambda t: t * (t - 1), 3, epsilon=1.0))
    wanted = naive.operate_many(lambda p: float(sum(t * (t - 1) for t in p)) ** 3, y, A)
    assert answer.value == pytest.approx(wanted, rel=1e-12)
    # the square of the total: Y^2 - 2 a n, also for many counts
    noisy = NOISE.release(rng.integers(0, 50, 5000), seed=2)
    square = dn.ask.power_of_sum(noisy, lambda t: t * 1.0, 2)
    assert square.value == pytest.approx(float(noisy.values.sum()) ** 2 - 2 * A * 5000, rel=1e-12)
