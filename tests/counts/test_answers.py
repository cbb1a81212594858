"""What an answer says of itself: intervals, warnings, the choice of a method; and the answers of many parties."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import deniable as dn
from deniable.counts.answer import settle
from deniable.counts.moments import Moments
from deniable.counts.operator.function import Function
from deniable.counts.operator.plug_in import smoothed
from deniable.counts.operator.terms import terms_at
from tests.naive import noise as naive

NOISE = dn.DiscreteLaplace(1.0)


def entropy_term(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x * np.log(np.maximum(x, 1)), 0.0)


def test_smoothing_a_table_is_the_expectation_over_the_noise() -> None:
    table = np.zeros(401)
    table[150:250] = np.random.default_rng(0).random(100)
    wanted = naive.expectation(lambda y: table[y] if 0 <= y < 401 else 0.0, 200, NOISE.q)
    assert smoothed(table, float(NOISE.q))[200] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "f", [entropy_term, lambda x: (x >= 3) * 1.0, lambda x: x**2], ids=["entropy", "step", "square"]
)
def test_moments_at_the_plug_in_are_exact(f: object) -> None:
    steps, chance = naive.window(NOISE.q)
    y = np.array([[0, 2], [7, 7]])
    moments = dn.debias(f, y, epsilon=1.0).moments
    for place, x in np.ndenumerate(y):
        terms = terms_at(Function.of(f), NOISE, x + steps)
        at = float(f(np.array(float(x))))
        mean = math.fsum(chance * terms.naive)
        assert moments.bias[place] == pytest.approx(mean - at, abs=1e-9)
        assert moments.naive_variance[place] == pytest.approx(math.fsum(chance * (terms.naive - mean) ** 2), rel=1e-8)
        assert moments.variance[place] == pytest.approx(math.fsum(chance * (terms.value - at) ** 2), rel=1e-8)
        both = math.fsum(chance * (terms.value - at) * (terms.naive - mean))
        assert moments.covariance[place] == pytest.approx(both, rel=1e-8)
    total, mean = (dn.debias(f, y, epsilon=1.0, reduce=how).moments for how in ("sum", "mean"))
    assert total.bias == pytest.approx(moments.bias.sum())
    assert total.naive_mse == pytest.approx(moments.bias.sum() ** 2 + moments.naive_variance.sum())
    assert mean.variance == pytest.approx(total.variance / 16)
    far = np.array([[0, 2], [7, 10**9 + 7]])  # too far apart for one table
    wide = dn.debias(f, far, epsilon=1.0).moments
    assert wide.variance[0] == pytest.approx(moments.variance[0], rel=1e-8)
    assert wide.bias[1, 0] == pytest.approx(moments.bias[1, 0], abs=1e-8)


def test_the_naive_answers_bias_is_estimated_without_bias() -> None:
    steps, chance = naive.window(NOISE.q)
    answer = dn.debias(lambda x: x**2, 5 + steps, epsilon=1.0)
    assert math.fsum(chance * answer.bias) == pytest.approx(2 * float(NOISE.a), rel=1e-9)  # the variance of the noise


def test_intervals_cover_as_they_say(seed: int) -> None:
    truth = np.random.default_rng(1).poisson(3, 200)
    inside = {"normal": 0, "chebyshev": 0}
    for run in range(300):
        answer = dn.debias(entropy_term, NOISE.release(truth, seed=seed + run), reduce="sum")
        for rule in inside:
            low, high = answer.interval(0.9, rule=rule)
            inside[rule] += low <= entropy_term(truth * 1.0).sum() <= high
    assert abs(inside["normal"] - 270) < 6 * math.sqrt(300 * 0.9 * 0.1)
    assert inside["chebyshev"] > inside["normal"]


def test_shrinkage_has_the_least_error_between_naive_and_unbiased() -> None:
    moments = Moments(bias=2.0, naive_variance=1.0, variance=9.0, covariance=2.0)
    weight = moments.weight()
    errors = [moments.mse(w) for w in np.linspace(0, 1, 1001)]
    assert moments.mse(weight) == pytest.approx(min(errors), rel=1e-5)
    assert moments.mse(1.0) == 9.0
    assert moments.mse(0.0) == moments.naive_mse == 5.0
    assert Moments(0.0, 1.0, math.inf, math.inf).weight() == 0.0


def test_auto_takes_the_naive_answer_where_it_is_better_and_says_so() -> None:
    # one count far from where the step is: debiasing a single step function only adds variance
    few = np.array([2, 3, 3])
    auto = dn.debias(lambda x: np.cos(np.pi * x), few, epsilon=1.0, reduce="sum", best="auto")
    assert auto.method in ("naive", "shrunk")
    assert not auto.unbiased
    assert auto.bias is None
    assert any("biased" in note for note in auto.notes)
    # many counts: bias adds up, and the unbiased answer is taken
    many = NOISE.release(np.full(20_000, 3), seed=1)
    assert dn.debias(entropy_term, many, reduce="sum", best="auto").method == "unbiased"
    naive_one = dn.debias(entropy_term, many, reduce="sum", best="naive")
    assert naive_one.value == naive_one.naive
    assert naive_one.std_error == pytest.approx(math.sqrt(naive_one.moments.naive_mse))
    shrunk = dn.debias(entropy_term, few, epsilon=1.0, best="shrunk")
    assert shrunk.value.shape == (3,)
    assert shrunk.method == "shrunk"


def test_auto_has_no_larger_error_than_both_on_average(seed: int) -> None:
    truth = np.random.default_rng(3).poisson(1.0, 12)
    errors: dict[str, list[float]] = {"unbiased": [], "naive": [], "auto": []}
    for run in range(300):
        noisy = NOISE.release(truth, seed=seed + run)
        for best, squares in errors.items():
            found = dn.debias(entropy_term, noisy, reduce="sum", best=best).value
            squares.append((found - entropy_term(truth * 1.0).sum()) ** 2)
    mean = {best: float(np.mean(squares)) for best, squares in errors.items()}
    assert mean["auto"] < 1.1 * max(mean["unbiased"], mean["naive"])


def test_a_useless_answer_warns() -> None:
    with pytest.warns(dn.UnreliableAnswer, match="it says nothing about the counts"):
        answer = dn.debias(lambda x: np.cos(np.pi * x), [3, 4], epsilon=0.05, reduce="sum")
    assert answer.useless
    assert "useless" in answer.notes[-1]
    with pytest.warns(dn.UnreliableAnswer):
        settle(dn.Answer("median", 5.0, 1e12, 5.0, scale=40.0))
    assert not settle(dn.Answer("median", 5.0, 1.0, 5.0, scale=40.0)).useless


def test_an_answer_prints_and_converts_to_json() -> None:
    answer = dn.debias(entropy_term, [5, -1, 3], epsilon=1.0, reduce="sum", question="nats")
    text = str(answer)
    assert text.startswith("nats: ")
    assert "(unbiased; naive " in text
    assert "1 noisy counts are negative" in text
    found = json.loads(json.dumps(answer.to_dict()))
    assert found["low"] < found["value"] < found["high"]
    assert found["unbiased"] is True
    many = dn.debias(entropy_term, [5, -1, 3], epsilon=1.0)
    assert str(many) == "f of every count: 3 answers (unbiased)"
    assert len(json.loads(json.dumps(many.to_dict()))["value"]) == 3
    with pytest.raises(dn.InvalidArgument, match="best must be unbiased for this question"):
        settle(dn.Answer("q", 1.0, 1.0, 1.0), "auto")


def test_combining_many_parties_adds_squares_of_errors(seed: int) -> None:
    truth = np.random.default_rng(2).poisson(2.0, (40, 6))
    parts = [dn.debias(entropy_term, NOISE.release(row, seed=seed + i), reduce="sum") for i, row in enumerate(truth)]
    total, mean = dn.combine(parts), dn.combine(parts, how="mean")
    assert total.value == pytest.approx(sum(part.value for part in parts))
    assert total.std_error == pytest.approx(math.sqrt(sum(part.std_error**2 for part in parts)))
    assert mean.value == pytest.approx(total.value / 40)
    assert mean.std_error == pytest.approx(total.std_error / 40)
    assert abs(total.value - entropy_term(truth * 1.0).sum()) < 6 * total.std_error
    assert total.unbiased
    assert total.n == 240
    assert total.moments.bias == pytest.approx(sum(part.moments.bias for part in parts))
    weighted = dn.combine(parts[:2], weights=[2.0, -1.0])
    assert weighted.value == pytest.approx(2 * parts[0].value - parts[1].value)
    assert weighted.std_error == pytest.approx(math.sqrt(4 * parts[0].std_error ** 2 + parts[1].std_error ** 2))
    rows = [dn.debias(entropy_term, NOISE.release(row, seed=seed)) for row in truth[:3]]
    assert dn.combine(rows).value.shape == (6,)


def test_combining_biased_answers_warns_and_bounds_their_error() -> None:
    parts = [dn.debias(entropy_term, [2, 3], epsilon=1.0, reduce="sum", best=best) for best in ("naive", "unbiased")]
    with pytest.warns(dn.UnreliableAnswer, match="1 of 2 answers are biased"):
        total = dn.combine(parts)
    assert not total.unbiased
    assert total.method == "mixed"
    with pytest.warns(dn.UnreliableAnswer):
        both = dn.combine([parts[0], parts[0]])
    assert both.std_error == pytest.approx(2 * parts[0].std_error)  # biases add, they do not average out


def test_combining_nothing_or_unlike_answers_is_refused() -> None:
    one = dn.debias(entropy_term, [2, 3], epsilon=1.0, reduce="sum")
    many = dn.debias(entropy_term, [2, 3], epsilon=1.0)
    for call, says in (
        (lambda: dn.combine([]), "answers must be one or more answers"),
        (lambda: dn.combine([one, 3.0]), "answers must be one or more answers"),
        (lambda: dn.combine([one, many]), "answers must have the same shape"),
        (lambda: dn.combine([one], weights=[1.0, 2.0]), "weights must be 1 finite numbers"),
        (lambda: dn.combine([one], how="median"), "how must be one of sum, mean"),
    ):
        with pytest.raises(dn.InvalidArgument, match=says):
            call()


def test_moments_at_the_smallest_epsilons_come_from_quantiles_of_the_noise() -> None:
    noise, y = dn.DiscreteLaplace(1e-4), np.array([10**5, 5 * 10**6])
    moments = dn.debias(lambda x: x**2, y, epsilon=1e-4).moments
    a = float(noise.a)
    assert moments.bias == pytest.approx([2 * a, 2 * a], rel=0.01)
    # Var[(x + Z)^2] = 4 x^2 Var Z + Var Z^2, E[Z^4] = 24 a^2 + 2 a
    true = 4 * y.astype(float) ** 2 * 2 * a + (24 * a**2 + 2 * a - 4 * a**2)
    assert moments.naive_variance == pytest.approx(true, rel=0.03)
    assert moments.variance == pytest.approx(true, rel=0.03)


def test_errors_of_very_many_and_different_counts_come_from_a_sample_of_them(rng: np.random.Generator) -> None:
    y = rng.integers(0, 10**9, 100_000)
    total = dn.debias(lambda x: x**2, y, epsilon=0.1, reduce="sum", best="auto")
    assert total.moments.variance == pytest.approx(total.std_error**2, rel=0.02)
    with pytest.raises(dn.InvalidArgument, match=r"best must be unbiased for more than [\d,]+ distinct counts"):
        dn.debias(lambda x: x**2, y, epsilon=0.1, best="auto")


def test_an_answer_says_how_far_its_arithmetic_may_be_off() -> None:
    y = np.array([3 * 10**9 + 1])
    rough = dn.debias(lambda x: x**2, y, epsilon=1e-4, reduce="sum")
    exact = float(int(y[0]) ** 2 - 2 * dn.DiscreteLaplace(1e-4).a)
    assert abs(rough.value - exact) <= rough.width
    low, high = rough.interval(1e-12)
    assert low <= exact <= high
