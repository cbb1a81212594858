"""Standard errors that are estimated as 0 show the known noise instead, and intervals with them hold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import deniable as dn
from deniable.counts.answer import UNKNOWN
from deniable.counts.questions.tree_errors import exact_variance, rectangles
from deniable.counts.questions.tree_forms import read_tree
from deniable.counts.questions.trees import volumes

NOISE = dn.DiscreteLaplace(1.0)
FAR = np.array([18, 3, 30])  # no count is next to the step from 19 to 20


def expected_variance(x: np.ndarray, reach: int = 40) -> float:
    """The variance of threshold at 20, by adding up the noise of every count."""
    a = float(NOISE.a)
    steps = {19: -a, 20: 1 + a}
    total = 0.0
    for count in x:
        chances = {count + z: float(NOISE.probability(z)) for z in range(-reach, reach + 1)}
        answers = {y: steps.get(y, float(y > 20)) for y in chances}
        mean = math.fsum(chances[y] * answers[y] for y in chances)
        total += math.fsum(chances[y] * (answers[y] - mean) ** 2 for y in chances)
    return total


def test_a_threshold_that_no_count_is_next_to_has_the_error_of_the_noise() -> None:
    answer = dn.ask.threshold(FAR, 20, epsilon=1.0)
    assert answer.std_error**2 == pytest.approx(expected_variance(FAR), rel=1e-9)
    assert answer.variance == 0  # the unbiased estimate, which adds up
    low, high = answer.interval(0.95)
    assert low < answer.value < high


@pytest.mark.parametrize("place", [0, 1, 10, 24])
def test_every_answer_of_a_profile_has_an_error(place: int) -> None:
    answer = dn.ask.profile(FAR, epsilon=1.0)
    moments = answer.moments
    assert (answer.std_error > 0).all()
    estimated = answer.variance[place]
    shown = estimated if estimated else moments.variance[place]
    assert answer.std_error[place] ** 2 == pytest.approx(shown, rel=1e-6)


def test_profiles_far_from_all_counts_have_tiny_errors_that_are_not_zero() -> None:
    answer = dn.ask.profile([100], most=120, epsilon=1.0)
    assert 0 < answer.std_error[0] < 1e-20


@pytest.mark.parametrize(
    "answer",
    [
        lambda: dn.debias(lambda x: (x >= 20) * 1.0, FAR, epsilon=1.0),
        lambda: dn.debias(lambda x: (x >= 20) * 1.0, FAR, epsilon=1.0, reduce="sum"),
        lambda: dn.ask.separable([lambda x: (x >= 20) * 1.0] * 3, FAR, epsilon=1.0),
        lambda: dn.debias_multivariate(lambda x: (x.min(axis=1) >= 6) * 1.0, FAR, epsilon=0.5, scale=9.0),
        lambda: dn.ask.tree(FAR, {"column": 0, "threshold": 21, "yes": 0, "no": 1}, epsilon=1.0),
        lambda: dn.ask.tree([[18, 3], [30, 2]], {"column": 0, "threshold": 21, "yes": 0, "no": 1}, epsilon=1.0),
    ],
)
def test_no_question_shows_a_standard_error_of_zero(answer: object) -> None:
    assert np.all(answer().std_error > 0)  # type: ignore[operator]


@pytest.mark.parametrize("counts", [[4, 9], [2, 5], [7, 6]])
def test_the_variance_of_a_tree_is_exact(counts: list[int]) -> None:
    yes = {"column": 1, "threshold": 7.5, "yes": 2.0, "no": -1.0}
    rule = {"column": 0, "threshold": 3.5, "yes": yes, "no": {"column": 0, "threshold": 5, "yes": 1.0, "no": 4.0}}
    root = read_tree(rule, 2, None, 0)
    here = dn.ask.tree(counts, rule, epsilon=2.0).naive
    found = exact_variance(list(rectangles(root)), counts, here, dn.DiscreteLaplace(2.0))
    chances = {z: float(dn.DiscreteLaplace(2.0).probability(z)) for z in range(-12, 13)}
    total = 0.0
    for (s, p), (t, r) in itertools.product(chances.items(), repeat=2):
        leaves = volumes(root, [counts[0] + s, counts[1] + t], float(dn.DiscreteLaplace(2.0).a))
        total += p * r * (math.fsum(volume * value for volume, value in leaves) - here) ** 2
    assert found == pytest.approx(total, rel=1e-8)


def test_a_constant_has_no_error() -> None:
    assert dn.debias(lambda x: 7 + 0 * x, FAR, epsilon=1.0, reduce="sum").std_error == 0


def test_an_error_that_is_not_known_is_not_zero() -> None:
    answer = dn.debias(lambda x: (x > 2**55) * 1, [2**60, 5], epsilon=1.0, reduce="sum")
    assert math.isnan(answer.std_error)
    assert any(note.startswith(UNKNOWN) for note in answer.notes)
    assert math.isfinite(dn.ask.threshold([2**60, 5], 10, epsilon=1.0).std_error)


def test_sums_over_parties_add_the_unbiased_estimates() -> None:
    near = dn.ask.threshold([19, 90], 20, epsilon=1.0)
    both = dn.combine([near, dn.ask.threshold([17], 20, epsilon=1.0)])
    assert both.std_error == pytest.approx(near.std_error)
    far = dn.combine([dn.ask.threshold([17], 20, epsilon=1.0), dn.ask.threshold([24], 20, epsilon=1.0)])
    assert far.std_error**2 == pytest.approx(expected_variance(np.array([17, 24])), rel=1e-6)


@pytest.mark.parametrize("truth", [[3, 20, 30, 50], [3, 19, 30, 50], [18, 3, 40]])
def test_intervals_of_thresholds_cover_the_truth(truth: list[int]) -> None:
    # exactly, over the noise of the one count near the step: the others are far away
    near = next(count for count in truth if 15 <= count <= 25)
    covered = 0.0
    for z in range(-14, 15):
        y = [count + z if count == near else count for count in truth]
        low, high = dn.ask.threshold(y, 20, epsilon=1.0).interval(0.95)
        covered += float(NOISE.probability(z)) * (low <= sum(count >= 20 for count in truth) <= high)
    assert covered > 0.95


def test_functions_of_integers_are_called_with_integers() -> None:
    answer = dn.debias_multivariate(lambda v: np.gcd(v[:, 0], v[:, 1]), np.array([6, 4]), epsilon=2.0)
    a = float(dn.DiscreteLaplace(2.0).a)
    weights = {-1: -a, 0: 1 + 2 * a, 1: -a}
    steps = itertools.product(weights, repeat=2)
    assert answer.value == pytest.approx(sum(weights[s] * weights[t] * math.gcd(6 + s, 4 + t) for s, t in steps))
    table = np.arange(20.0) ** 2
    assert dn.debias_multivariate(lambda v: table[v].sum(axis=1), [6, 4], epsilon=2.0).naive == 52


def test_functions_of_large_counts_do_not_overflow() -> None:
    big = dn.debias_multivariate(lambda v: v[:, 0] ** 3 * v[:, 1], [10**7, 10**7], epsilon=2.0)
    assert big.naive == pytest.approx(1e28)
