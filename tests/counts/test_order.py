"""The smallest, the largest, the k-th and the median: formulas, all at once, and answers that say nothing."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from math import comb

import numpy as np
import pytest

import deniable as dn
from deniable.counts.certain.balls import precision
from deniable.counts.questions.extremes import largest_pair
from deniable.counts.questions.order_statistics import suffix_sums
from tests.naive import noise as naive

NOISE = dn.DiscreteLaplace(1.0)
A = float(NOISE.a)


def quiet(ask: object, *args: object, **options: object) -> dn.Answer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        return ask(*args, **options)  # type: ignore[operator]


def of(*values: int) -> dn.Release:
    return dn.Release(np.array(values), NOISE)


@pytest.mark.parametrize(("ties", "next_to"), [(1, 0), (1, 1), (2, 3), (5, 1), (3, 4)])
def test_theorem_20_the_largest_and_the_smallest_by_their_closed_forms(ties: int, next_to: int) -> None:
    top, bottom = [9] * ties + [8] * next_to + [2], [-4] * ties + [-3] * next_to + [5]
    both = (1 + A) ** ties + (-A) ** ties * (1 + A) ** next_to
    assert quiet(dn.ask.maximum, of(*top)).value == pytest.approx(10 - both, rel=1e-12)
    assert quiet(dn.ask.minimum, of(*bottom)).value == pytest.approx(-5 + both, rel=1e-12)


def test_theorem_20_the_error_of_the_largest_is_estimated_without_bias() -> None:
    # E of (the estimate of the variance) = the variance, with all noises of two counts
    noise = dn.DiscreteLaplace(3.0)
    steps, chance = naive.window(noise.q, 2.0**-60)
    values, estimates, chances = [], [], []
    for i, z in enumerate(steps):
        for j, w in enumerate(steps):
            y = (3 + int(z), 2 + int(w))
            with precision(128):
                first, square = map(float, largest_pair(y.count(max(y)), y.count(max(y) - 1), noise))
            values.append(max(y) + first)
            estimates.append(first**2 - square)
            chances.append(float(chance[i] * chance[j]))
    mean = math.fsum(p * v for p, v in zip(chances, values, strict=True))
    variance = math.fsum(p * (v - 3) ** 2 for p, v in zip(chances, values, strict=True))
    assert mean == pytest.approx(3.0, abs=1e-12)
    assert math.fsum(p * v for p, v in zip(chances, estimates, strict=True)) == pytest.approx(variance, rel=1e-11)


@pytest.mark.parametrize("zeros", [0, 1, 4])
@pytest.mark.parametrize("ones", [0, 2, 5])
def test_theorem_21_the_sums_are_those_of_symmetric_rectangles(zeros: int, ones: int) -> None:
    # the double sum over how many of the counts at t go up and how many of those at t + 1 go down
    a = NOISE.a
    with precision(512):
        found = [float(each) for each in suffix_sums(zeros, ones, NOISE)]
    assert len(found) == zeros + ones + 1
    for least, value in enumerate(found):
        total = Fraction(0)
        for i in range(zeros + 1):
            for j in range(ones + 1):
                if i + j >= least:  # i of those at t stay at most t, j of those at t + 1 come down
                    stay = comb(zeros, i) * (1 + a) ** i * (-a) ** (zeros - i)
                    total += stay * comb(ones, j) * (-a) ** j * (1 + a) ** (ones - j)
        assert value == pytest.approx(float(total), rel=1e-12, abs=1e-12)
    assert found[0] == 1.0


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_theorem_21_every_order_statistic_is_the_sum_over_all_neighbours(k: int) -> None:
    for y in ((3, 3, 4, 4, 4), (1, 2, 3, 4, 5), (0, 0, 0, 0, 0), (2, 9, 9, 10, 11)):
        wanted = naive.operate_many(lambda point: float(sorted(point)[k - 1]), y, A)
        assert quiet(dn.ask.order_statistic, of(*y), k).value == pytest.approx(wanted, rel=1e-10, abs=1e-9)


def test_theorem_21_all_at_once_are_each_by_itself(rng: np.random.Generator) -> None:
    noisy = NOISE.release(rng.integers(0, 40, 60), seed=3)
    every = quiet(dn.ask.order_statistics, noisy)
    for k in (1, 7, 30, 31, 60):
        one = quiet(dn.ask.order_statistic, noisy, k)
        assert every.value[k - 1] == pytest.approx(one.value, rel=1e-9)
        assert every.std_error[k - 1] == pytest.approx(one.std_error, rel=1e-9)
    assert every.value[0] == pytest.approx(quiet(dn.ask.minimum, noisy).value, rel=1e-9)
    assert every.value[-1] == pytest.approx(quiet(dn.ask.maximum, noisy).value, rel=1e-9)
    assert every.naive.tolist() == sorted(noisy.values.tolist())


def test_the_sum_of_all_order_statistics_is_the_total(rng: np.random.Generator) -> None:
    noisy = NOISE.release(rng.integers(0, 60, 50), seed=4)
    every = quiet(dn.ask.order_statistics, noisy)
    assert math.fsum(every.value) == pytest.approx(float(noisy.values.sum()), abs=1e-6 * np.abs(every.value).max())


def test_zipf_counts_have_all_their_order_statistics_certain(rng: np.random.Generator) -> None:
    x = np.minimum(rng.zipf(1.3, 1500), 10**9)
    noisy = NOISE.release(x, seed=1)
    with pytest.warns(dn.UnreliableAnswer, match="of 1,500 answers have a standard error above"):
        answer = dn.ask.order_statistics(noisy)
    assert answer.width <= 1e-9
    assert answer.value[-1] == pytest.approx(x.max(), abs=40)
    fine = ~answer.useless
    assert fine.sum() > 300
    assert np.isfinite(answer.value).all()
    assert "useless" in answer.notes[-1]


def test_a_median_over_ties_is_useless_and_says_so() -> None:
    noisy = NOISE.release(np.full(101, 12), seed=3)
    with pytest.warns(dn.UnreliableAnswer, match=r"median: the standard error, .*e\+.* exceeds the largest"):
        answer = dn.ask.median(noisy)
    assert answer.std_error > 1e12
    assert answer.useless
    assert answer.width <= 1e-9
    assert answer.notes[-1].startswith("useless")


def test_an_answer_beyond_floats_is_cut_and_infinitely_uncertain() -> None:
    for size in (4000, 4001):
        with pytest.warns(dn.UnreliableAnswer):
            answer = dn.ask.median(NOISE.release(np.full(size, 12), seed=3))
        assert math.isfinite(answer.value)
        assert math.isinf(answer.std_error)
        low, high = answer.interval()
        assert low == -math.inf
        assert high == math.inf


def test_the_best_median_over_ties_is_the_naive_one() -> None:
    noisy = NOISE.release(np.full(41, 12), seed=3)
    answer = dn.ask.median(noisy, best="auto")  # without a warning
    assert answer.method == "naive"
    assert not answer.unbiased
    assert abs(answer.value - 12) < 6 * answer.std_error


def test_one_count_is_its_own_median_maximum_and_minimum() -> None:
    for ask in (dn.ask.median, dn.ask.maximum, dn.ask.minimum):
        answer = quiet(ask, of(7))
        assert answer.value == pytest.approx(7, abs=1e-12)
        assert answer.std_error == pytest.approx(math.sqrt(2 * A))


def test_the_largest_of_many_is_unbiased_in_large_samples(seed: int) -> None:
    # false alarm 1e-9; the naive maximum of the same releases is found to be biased
    x = np.concatenate([np.arange(500), [502, 503, 503]])
    answers = [quiet(dn.ask.maximum, NOISE.release(x, seed=seed + run)) for run in range(1500)]
    errors, biased = (np.array([getattr(each, name) for each in answers]) - 503 for name in ("value", "naive"))
    assert abs(errors.mean()) < 6.11 * errors.std(ddof=1) / math.sqrt(len(errors))
    assert abs(biased.mean()) > 6.11 * biased.std(ddof=1) / math.sqrt(len(biased))
