"""Every question: the exact identity with all 3^d terms, the expectation by enumeration, and large samples."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import deniable as dn
from tests.naive import noise as naive_noise
from tests.naive import questions as twins
from tests.naive.questions import TWINS

Z_1E9 = 6.11  # a normal error exceeds this many standard errors with probability 1e-9

POINTS = [(3, 1, 2, 5), (2, 2, 2, 2), (0, -1, 4, 4), (7, 8, 9, 30), (-2, 1, 1, 0)]
TRUE = (4, 2, 3, 3)


@pytest.mark.parametrize("epsilon", [1.0, 2.5])
@pytest.mark.parametrize("name", TWINS)
def test_theorem_2_a_question_is_the_sum_over_all_neighbours(name: str, epsilon: float) -> None:
    twin, noise = TWINS[name], dn.DiscreteLaplace(epsilon)
    for y in POINTS:
        answer = twins.asked(twin, dn.Release(np.array(y), noise), TRUE)
        value, first, square = twins.wanted(twin, y, TRUE, float(noise.a))
        size = abs(value) + abs(answer.naive) + 1
        assert answer.value == pytest.approx(value, abs=1e-10 * size)
        assert answer.naive == pytest.approx(twin.f(y, TRUE), rel=1e-12, abs=1e-12)
        assert answer.unbiased
        assert answer.width < 1e-8 * size
        # the unbiased estimate of the variance, or the bound where that is negative, which is said
        estimate = first**2 - square
        if abs(estimate) < 1e-8 * (first**2 + abs(square)) + 1e-12:
            continue
        if estimate > 0 and twin.error != "mixed":
            assert answer.std_error**2 == pytest.approx(estimate, rel=1e-7)
        elif twin.error == "bound":
            assert answer.std_error**2 == pytest.approx(first**2 + abs(square), rel=1e-7)
            assert any("negative" in note for note in answer.notes)
        else:
            assert answer.std_error**2 >= estimate * (1 - 1e-7)
            assert answer.std_error > 0


# few counts and little noise, so that all noises can be tried; the tail is cut where it cannot matter to 1e-12
@pytest.mark.parametrize("name", [name for name, twin in TWINS.items() if not twin.even])
def test_the_expectation_of_an_answer_is_the_truth_by_enumeration(name: str) -> None:
    twin, noise = TWINS[name], dn.DiscreteLaplace(5.0)
    x = (4, 2)
    truth = twin.f(x, x)
    assert twins.expected_answer(twin, x, noise, 2.0**-60) == pytest.approx(truth, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", [name for name, twin in TWINS.items() if twin.even])
def test_the_expectation_of_a_divergence_is_the_truth_by_enumeration(name: str) -> None:
    twin, noise = TWINS[name], dn.DiscreteLaplace(16.0)
    x = (4, 2, 3, 3)
    # the public form is the divergence itself at the true counts
    truth = math.fsum(p * math.log(p / w) for p, w in ((4 / 6, 1 / 2), (2 / 6, 1 / 2)))
    assert twin.f(x, x) == pytest.approx(truth, rel=1e-13)
    assert twins.expected_answer(twin, x, noise, 2.0**-44) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("name", ["moment", "maximum", "entropy", "tree", "product"])
def test_enumeration_notices_an_answer_with_the_noise_of_another_epsilon(name: str) -> None:
    twin, noise, wrong = TWINS[name], dn.DiscreteLaplace(5.0), dn.DiscreteLaplace(5.01)
    planted = twin._replace(ask=lambda release, x: twin.ask(dn.Release(release.values, wrong), x))
    x = (4, 2)
    found = twins.expected_answer(planted, x, noise, 2.0**-60)
    assert abs(found - twin.f(x, x)) > 1e-10


def test_public_totals_do_not_change_the_question_at_the_true_counts() -> None:
    x = (4, 2, 3, 11)
    assert twins.public_entropy(x, 20) == pytest.approx(twins.entropy(x), rel=1e-13)
    assert twins.public_simpson(x, 20) == pytest.approx(twins.simpson(x), rel=1e-13)
    assert twins.public_simpson(x, 20, 1) == pytest.approx(twins.simpson(x, 1), rel=1e-13)


# Large samples: each test raises a false alarm with probability 1e-9 (the normal law of a mean of many answers), and
# shows its power on the naive answers, whose bias it must find where there is one.

LARGE = {
    "entropy": (lambda r, _: dn.ask.entropy(r), lambda x: twins.entropy(tuple(x)), 250, 100),
    "entropy with a public total": (
        lambda r, x: dn.ask.entropy(r, total=int(x.sum())),
        lambda x: twins.entropy(tuple(x)),
        400,
        1000,
    ),
    "gini": (lambda r, _: dn.ask.gini(r), lambda x: 1 - twins.simpson(tuple(x)), 200, 120),
    "moment": (lambda r, _: dn.ask.moment(r, 2), lambda x: float((x**2).mean()), 400, 1000),
    "threshold": (lambda r, _: dn.ask.threshold(r, 2), lambda x: float((x >= 2).sum()), 400, 1000),
    "stars": (lambda r, _: dn.ask.stars(r, 2), lambda x: float((x * (x - 1) // 2).sum()), 400, 1000),
    "partition": (lambda r, _: dn.ask.partition(r, -0.3), lambda x: float(np.exp(-0.3 * x).sum()), 400, 1000),
}


@pytest.mark.parametrize("name", LARGE)
def test_the_mean_of_many_large_answers_is_the_truth(name: str, seed: int) -> None:
    ask, truth, runs, size = LARGE[name]
    rng = np.random.default_rng(seed)
    x = rng.multinomial((2 if name == "gini" else 5) * size, rng.dirichlet(np.full(size, 0.5)))
    noise = dn.DiscreteLaplace(1.0)
    answers = [ask(noise.release(x, seed=seed + run), x) for run in range(runs)]
    errors = np.array([answer.value for answer in answers]) - truth(x)
    assert abs(errors.mean()) < Z_1E9 * errors.std(ddof=1) / math.sqrt(runs)
    # the standard errors are those of the answers
    mean_square = float(np.mean([answer.variance for answer in answers]))
    assert mean_square == pytest.approx(errors.var(ddof=1), rel=Z_1E9 * 2 * math.sqrt(2 / runs))
    naive = np.array([answer.naive for answer in answers]) - truth(x)
    assert abs(naive.mean()) > Z_1E9 * naive.std(ddof=1) / math.sqrt(runs)


def test_the_profile_of_many_releases_is_the_truth(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.minimum(rng.geometric(0.2, 4000) - 1, 15)
    noise, runs, most = dn.DiscreteLaplace(1.0), 200, 12
    truth = np.bincount(x, minlength=most + 1)[: most + 1]
    answers = [dn.ask.profile(noise.release(x, seed=seed + run), most) for run in range(runs)]
    errors = np.array([answer.value for answer in answers]) - truth
    z = np.abs(errors.mean(axis=0)) / (errors.std(axis=0, ddof=1) / math.sqrt(runs))
    assert (z < Z_1E9 + 0.4).all()  # the same level for 13 answers at once
    shares = np.mean([answer.variance for answer in answers], axis=0) / errors.var(axis=0, ddof=1)
    assert np.abs(shares - 1).max() < Z_1E9 * 2 * math.sqrt(2 / runs)
    assert dn.ask.profile(noise.release(x, seed=1), most, fraction=True).value.shape == (most + 1,)


@pytest.mark.parametrize("r", range(4))
def test_the_profile_is_unbiased_by_enumeration(r: int) -> None:
    noise, x = dn.DiscreteLaplace(4.0), (0, 2)
    twin = twins.Twin(lambda release, _: _at(dn.ask.profile(release, 5), r), lambda y, _: float(y.count(r)))
    assert twins.expected_answer(twin, x, noise, 2.0**-60) == pytest.approx(x.count(r), abs=1e-12)
    for y in ((0, 1, 3), (-2, 0, 0), (3, 2, 1)):
        answer = dn.ask.profile(dn.Release(np.array(y), noise), 5)
        own = twin._replace(f=lambda p, _: float(sum(each <= 0 for each in p) if r == 0 else p.count(r)))
        value, first, square = twins.wanted(own, y, y, float(noise.a))
        assert answer.value[r] == pytest.approx(value, abs=1e-12)
        assert answer.variance[r] == pytest.approx(first**2 - square, abs=1e-12)


@pytest.mark.parametrize("r", range(4))
def test_the_errors_of_a_profile_at_the_plug_in_are_those_of_all_noises(r: int) -> None:
    noise, y = dn.DiscreteLaplace(1.0), np.array([0, 2, 2, 3, -1])
    moments = dn.ask.profile(dn.Release(y, noise), 3).moments
    assert moments is not None
    steps, chance = naive_noise.window(noise.q)
    bias, plain, ours, both = 0.0, 0.0, 0.0, 0.0
    for each in y:
        f = (lambda t: float(t <= 0)) if r == 0 else (lambda t: float(t == r))
        truth, points = f(each), [int(each + z) for z in steps]
        naive = np.array([f(point) for point in points])
        unbiased = np.array([naive_noise.operate(f, point, float(noise.a)) for point in points])
        mean = math.fsum(chance * naive)
        bias += mean - truth
        plain += math.fsum(chance * naive**2) - mean**2
        ours += math.fsum(chance * unbiased**2) - truth**2
        both += math.fsum(chance * naive * unbiased) - mean * truth
    found = (moments.bias[r], moments.naive_variance[r], moments.variance[r], moments.covariance[r])
    assert found == pytest.approx((bias, plain, ours, both), abs=1e-10)


def _at(answer: dn.Answer, place: int) -> dn.Answer:
    return dn.Answer("one of many", float(answer.value[place]), float(answer.std_error[place]), 0.0)


def test_lemma_18_questions_grow_slowly_enough_and_partition_functions_only_below_the_rate() -> None:
    noisy = dn.DiscreteLaplace(1.0).release([3, 5, 2], seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        assert math.isfinite(dn.ask.moment(noisy, 30).std_error)
    with pytest.warns(dn.UnreliableAnswer):
        answer = dn.ask.partition(noisy, 0.7)  # the variance needs e^(2 beta) < 1/q
    assert math.isinf(answer.std_error)
    for beta in (1.0, 1.5, -1.2):
        with pytest.raises(dn.InvalidArgument, match="grow more slowly"):
            dn.ask.partition(noisy, beta)


EXTRA: dict[str, dict[str, object]] = {
    "mean": {"values": [1, 2, 3, 4, 5]},
    "triangles": {"edges": 75},
    "tree": {"tree": twins.TREE},
    "polynomial": {"terms": {(1, 1, 0, 0, 1): 1.0}},
    "divergence": {"other": dn.DiscreteLaplace(1.0).release([20, 25, 31, 29, 30], seed=3)},
    "ratio": {"other": dn.DiscreteLaplace(1.0).release([20, 25], seed=3)},
    "threshold": {"at": 30},
}


@pytest.mark.parametrize(
    "name", ["minimum", "median", "entropy", "gini", "moment", "stars", "simpson", "profile", "total", *EXTRA]
)
def test_a_question_can_be_asked_for_its_best_answer(name: str) -> None:
    noisy = dn.DiscreteLaplace(1.0).release([30, 30, 31, 29, 30], seed=2)
    function, extra = getattr(dn.ask, name), EXTRA.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        unbiased, naive, best = (function(noisy, best=best, **extra) for best in ("unbiased", "naive", "auto"))
    assert np.all(naive.value == unbiased.naive)
    assert not naive.unbiased
    assert np.all(naive.std_error >= 0)
    assert best.method in ("unbiased", "naive", "shrunk")
    assert best.unbiased == (best.method == "unbiased")
