"""Answers at the edge: counts beyond floats, errors near zero, and what leaves the process."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import Growth
from deniable.counts.operator.plug_in import moments_of
from deniable.counts.questions.profile import _moments
from deniable.randomness.discrete_laplace import Sampler

NOISE = dn.DiscreteLaplace(1.0)
NOISY = np.array([3, 0, 8])


def test_a_function_may_change_the_array_it_is_given() -> None:
    def careless(x: Any) -> Any:
        x[x < 0] = 0
        return np.sqrt(x)

    noisy = np.array([-5, -2, 0, 1, 4, 900])
    found = dn.debias(careless, noisy, epsilon=1.0)
    wanted = dn.debias(lambda x: np.sqrt(np.maximum(x, 0)), noisy, epsilon=1.0)
    np.testing.assert_array_equal(found.value, wanted.value)


@pytest.mark.parametrize(
    ("ask", "slope"),
    [
        (lambda y: dn.ask.stars(y, 2, epsilon=1.0), lambda y: y),
        (lambda y: dn.ask.degree_polynomial(y, [1.0, 0.25, 0.5], epsilon=1.0), lambda y: y),
        (lambda y: dn.ask.simpson(y, 4 * int(y[0]), epsilon=1.0), lambda y: 6 / y / 16),
    ],
    ids=["stars", "polynomial", "simpson"],
)
def test_counts_beyond_floats_keep_their_standard_error(
    ask: Callable[[Any], dn.Answer], slope: Callable[[float], float]
) -> None:
    y = 2**60
    answer = ask(np.array([y]))
    assert answer.std_error == pytest.approx(math.sqrt(2 * NOISE.a) * slope(float(y)), rel=1e-9)


def test_what_floats_cannot_hold_is_refused() -> None:
    with pytest.raises(dn.InvalidArgument, match="below 2\\^53"):
        dn.ask.power_of_sum(np.array([2**60]), lambda x: x, epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match="that floats can hold"):
        dn.ask.polynomial(np.array([10**6]), {(64,): 1.0}, epsilon=1.0)
    for ask in (dn.ask.median, dn.ask.maximum, dn.ask.order_statistics):
        with pytest.raises(dn.InvalidArgument, match="be counts below 1e\\+300"):
            ask([3, 10**400], epsilon=1.0)


def test_a_public_total_may_be_beyond_64_bits() -> None:
    answer = dn.ask.entropy([10**30, 10**30], 2 * 10**30, epsilon=1.0)
    assert answer.value == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda: dn.debias(lambda x: np.full(x.shape, "a"), NOISY, epsilon=1.0), "f must have real values"),
        (lambda: dn.combine([dn.ask.total(NOISY, epsilon=1.0)], weights=["a"]), "weights must be finite numbers"),  # type: ignore[list-item]
        (lambda: dn.ask.moment(NOISY, axis="a", epsilon=1.0), "axis must be an axis"),  # type: ignore[arg-type]
    ],
    ids=["text from f", "text for a weight", "text for an axis"],
)
def test_text_where_numbers_belong_is_refused_in_one_line(ask: Callable[[], dn.Answer], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says):
        ask()


@pytest.mark.parametrize("size", [10**4, 10**8, 10**12])
def test_small_variances_of_quotients_are_certain_too(size: int) -> None:
    # the slope of the entropy is -(log p + H)/N, so N times the standard error tends to a limit
    shares = np.array([0.3, 0.2, 0.5])
    entropy = -float(shares @ np.log(shares))
    limit = math.sqrt(2 * NOISE.a * float(((np.log(shares) + entropy) ** 2).sum()))
    answer = dn.ask.entropy((10 * shares).astype(np.int64) * size, epsilon=1.0)
    assert answer.std_error * 10 * size == pytest.approx(limit, rel=100 / size + 1e-6)


def test_equal_counts_have_an_entropy_with_next_to_no_error() -> None:
    # slope and deviation from the largest entropy are zero there
    answer = dn.ask.entropy(np.full(3, 1000), 3000, epsilon=0.5)
    assert answer.std_error < 1e-4


@pytest.mark.parametrize("ask", [dn.ask.entropy, dn.ask.simpson])
def test_the_width_covers_terms_that_cancel(ask: Callable[..., dn.Answer]) -> None:
    counts = np.full(2, 10**6)
    answer = ask(counts, 2 * 10**6, epsilon=1.0)
    assert 1e-17 < answer.width < 1e-8


def test_the_width_covers_neighbours() -> None:
    # f is 0 at the count itself and large beside it
    answer = dn.debias([0.0, 1e10 / 3, 2.0], np.zeros(3, np.int64), epsilon=1.0, reduce="sum")
    assert answer.width > 1e10 * 2.0**-53


def test_no_method_is_left_out_in_silence() -> None:
    matrix = dn.Release(np.array([[50, 20, 30], [10, 60, 30]]), NOISE)
    with pytest.raises(dn.InvalidArgument, match="best must be unbiased"):
        dn.ask.entropy(matrix, best="naive")
    with pytest.raises(dn.InvalidArgument, match="best must be one of"):
        dn.ask.entropy(matrix, best="other")


def test_biased_answers_are_not_shrunk_once_more() -> None:
    part = dn.debias(np.square, NOISY, epsilon=1.0, reduce="sum", best="naive")
    with (
        pytest.warns(dn.UnreliableAnswer, match="are biased"),
        pytest.raises(dn.InvalidArgument, match="best must be unbiased"),
    ):
        dn.combine([part, part], best="shrunk")


@pytest.mark.parametrize("ask", [lambda y: dn.debias(np.square, y, reduce="sum"), dn.ask.median, dn.ask.entropy])
def test_answers_can_be_pickled_and_copied(ask: Callable[[Any], dn.Answer]) -> None:
    answer = ask(dn.Release(np.array([12, 30, 8]), NOISE))
    early = pickle.loads(pickle.dumps(answer))
    assert (early.value, early.std_error, early.notes, early.moments) == (
        answer.value,
        answer.std_error,
        answer.notes,
        None,
    )
    assert answer.moments is not None
    late = pickle.loads(pickle.dumps(answer))
    assert late.moments == answer.moments
    assert late.recommendation == answer.recommendation
    assert copy.deepcopy(answer).moments == copy.copy(answer).moments == answer.moments


def test_sampled_neighbours_are_independent_between_answers() -> None:
    release = dn.Release(np.arange(6), NOISE)
    found = [dn.debias_multivariate(lambda x: x.max(axis=1), release, samples=50, scale=1e9).value for _ in range(4)]
    assert len(set(found)) > 1
    again = [dn.debias_multivariate(lambda x: x.max(axis=1), release, samples=50, scale=1e9, seed=3) for _ in range(2)]
    assert again[0].value == again[1].value


@pytest.mark.parametrize("epsilon", [0.002, 1.0])
def test_the_errors_of_a_profile_count_noise_from_far_away(epsilon: float) -> None:
    noise, values = dn.DiscreteLaplace(epsilon), np.arange(-3000, 4000, 41)
    found = _moments(values, 2, noise, 1.0)
    for r in (1, 2):
        wanted = moments_of(Function.of(lambda x, r=r: (x == r) * 1.0), noise, values, "sum", None, Growth(0.0))
        for name in ("bias", "naive_variance", "variance", "covariance"):
            assert getattr(found, name)[r] == pytest.approx(getattr(wanted, name), rel=1e-8, abs=1e-10)


def test_a_fitted_polynomial_has_moments() -> None:
    converted = dn.to_laplace(NOISE.release(NOISY, seed=1), seed=1)
    fitted = np.polynomial.Polynomial.fit([0, 1, 2, 3], [0, 1, 4, 9], 2)
    plain = dn.debias_continuous(np.polynomial.Polynomial([0, 0, 1]), converted, reduce="sum")
    found = dn.debias_continuous(fitted, converted, reduce="sum")
    assert found.value == pytest.approx(plain.value)
    assert found.moments.bias == pytest.approx(plain.moments.bias)


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("blocks", [0, 1, 2, 5])
def test_noise_beyond_its_digits_is_counted_in_blocks(blocks: int, negative: bool) -> None:
    # Pr[more] is 2^-33: 32 zero bits are a tie, which another word of zeros decides; then a word of zeros each
    sampler, high = Sampler(Fraction(7, 10)), 2**64 - 1
    overflow = [0] * blocks + [high]
    words = [high] * sampler.stride
    words[-1] = (high if blocks == 0 else 0xFFFFFFFF) - (0xFFFFFFFF if negative else 0)
    source = iter(overflow)
    number = blocks * 2**sampler.size
    assert sampler.draw_one(words, source) == (-1 - number if negative else number)
    assert blocks == 0 or list(source) == []


def test_a_part_without_weight_leaves_no_trace() -> None:
    with pytest.warns(dn.UnreliableAnswer):
        endless = dn.debias(lambda x: np.exp(0.6 * x), NOISY, epsilon=1.0, reduce="sum")
    own = dn.debias(np.square, NOISY, epsilon=1.0, reduce="sum")
    together = dn.combine([endless, own], weights=[0, 1])
    assert (together.value, together.std_error) == (own.value, own.std_error)
    with pytest.raises(dn.InvalidArgument, match="not all be zero"):
        dn.combine([own], weights=[0])
