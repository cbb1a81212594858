"""Any function of several counts: all 3^d neighbours, or a sample of them; and Theorem 5's factor, met and needed."""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pytest

import deniable as dn
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.operator.function import Function
from deniable.counts.operator.multivariate import _all, _sampled, neighbours
from deniable.counts.operator.terms import terms_at
from tests.naive import noise as naive

JOINT = {
    "maximum": lambda x: x.max(axis=1),
    "product": lambda x: x.prod(axis=1),
    "ratio": lambda x: x[:, 0] / (1 + np.abs(x[:, 1])),
    "order": lambda x: (x[:, 0] >= x[:, 1]) * 1.0,
}


def expected(values: object, x: tuple[int, ...], noise: dn.DiscreteLaplace) -> float:
    """E of a function of d noisy counts given by its values on the grid of all noises in a window."""
    _, chance = naive.window(noise.q, 2.0**-52)
    for _ in x:
        values = np.tensordot(chance, values, axes=(0, 0))
    return float(values)


def on_grid(x: tuple[int, ...], noise: dn.DiscreteLaplace) -> np.ndarray:
    steps, _ = naive.window(noise.q, 2.0**-52)
    return np.stack(np.meshgrid(*[steps + each for each in x], indexing="ij"), axis=-1)


@pytest.mark.parametrize("name", JOINT)
def test_theorem_2_any_function_of_several_counts_is_answered_without_bias(name: str) -> None:
    noise, x, f = dn.DiscreteLaplace(3.0), (2, 1), JOINT[name]
    grid = on_grid(x, noise)
    estimates = np.array([_all(f, point, noise).value for point in grid.reshape(-1, 2)]).reshape(grid.shape[:-1])
    truth = float(f(np.array([x], float))[0])
    assert expected(estimates, x, noise) == pytest.approx(truth, abs=1e-12)


@pytest.mark.parametrize("name", JOINT)
def test_theorem_2_the_sum_is_the_brute_force_one(name: str) -> None:
    f, noise = JOINT[name], dn.DiscreteLaplace(1.0)
    y = (3, -1, 2, 3)
    answer = dn.debias_multivariate(f, np.array(y), epsilon=1.0, scale=math.inf)
    wanted = naive.operate_many(lambda point: float(f(np.array([point], float))[0]), y, float(noise.a))
    assert answer.value == pytest.approx(wanted, rel=1e-11)
    assert answer.naive == float(f(np.array([y], float))[0])
    assert answer.factor == pytest.approx(theorem_5_factor(noise) ** 4)


def test_the_weights_of_all_neighbours_add_up_to_one() -> None:
    for d in (1, 3, 10):
        weights = [weight for _, part in neighbours(d, 0.9) for weight in part]
        assert len(weights) == 3**d
        assert math.fsum(weights) == pytest.approx(1.0, abs=1e-9)


def test_the_variance_of_a_joint_answer_is_estimated_without_bias() -> None:
    noise, x, f = dn.DiscreteLaplace(3.0), (2, 1), JOINT["maximum"]
    grid = on_grid(x, noise)
    sums = [_all(f, point, noise) for point in grid.reshape(-1, 2)]
    values = np.array([each.value for each in sums]).reshape(grid.shape[:-1])
    estimates = np.array([each.value**2 - each.square for each in sums]).reshape(grid.shape[:-1])
    true = expected((values - 2) ** 2, x, noise)
    assert expected(estimates, x, noise) == pytest.approx(true, rel=1e-10)


def test_sampled_neighbours_are_unbiased_and_know_what_they_add(rng: np.random.Generator) -> None:
    noise, y = dn.DiscreteLaplace(1.0), np.array([3, 1, 4])
    f = JOINT["maximum"]
    exact = _all(f, y, noise).value
    runs = [_sampled(f, y, noise, 200, rng) for _ in range(400)]
    values = np.array([run.value for run in runs])
    assert abs(values.mean() - exact) < 6 * values.std() / math.sqrt(len(runs))
    assert np.mean([run.added for run in runs]) == pytest.approx(values.var(), rel=0.3)
    answer = dn.debias_multivariate(f, y, epsilon=1.0, samples=20_000, scale=math.inf)
    assert abs(answer.value - exact) < 6 * answer.std_error
    assert "20,000 of 3^3 neighbours were sampled" in answer.notes[0]


def test_many_counts_are_sampled_by_themselves() -> None:
    noisy = dn.DiscreteLaplace(4.0).release(np.arange(20), seed=1)
    answer = dn.debias_multivariate(lambda x: x.sum(axis=1), noisy, max_terms=3**7)
    assert "2,187 of 3^20 neighbours were sampled" in answer.notes[0]
    assert abs(answer.value - 190) < 6 * answer.std_error


def test_theorem_5_several_counts_stay_within_the_power_of_the_factor() -> None:
    noise, x = dn.DiscreteLaplace(3.0), (1, 1)
    grid = on_grid(x, noise)
    for f in JOINT.values():
        ours = np.array([_all(f, point, noise).value for point in grid.reshape(-1, 2)]).reshape(grid.shape[:-1])
        plain = f(grid.reshape(-1, 2).astype(float)).reshape(grid.shape[:-1])
        truth = float(f(np.array([x], float))[0])
        errors = [expected((part - truth) ** 2, x, noise) for part in (ours, plain)]
        assert errors[0] <= theorem_5_factor(noise, 2) * errors[1] * (1 + 1e-9)


@pytest.mark.parametrize("r", [0.7, 1.3, -1.0])
def test_proposition_6_exponentials_are_multiplied_by_a_power_of_lambda(r: float) -> None:
    noise, d = dn.DiscreteLaplace(1.0), 3
    q, a = float(noise.q), float(noise.a)
    factor = 1 - a * (r - 2 + 1 / r)  # lambda of the proposition
    y = np.array([2, 0, 5])
    answer = dn.debias_multivariate(lambda x: np.prod(np.float64(r) ** x, axis=1), y, epsilon=1.0, scale=math.inf)
    assert answer.value == pytest.approx(factor**d * r ** int(y.sum()), rel=1e-10)
    if r > 0:
        assert 0 < factor < 1
    # E[r^Z] = 1/lambda, by the noise itself; both variances exist for q < r^2 < 1/q and then differ by lambda^(2d)
    steps, chance = naive.window(noise.q)
    assert math.fsum(chance * np.float64(r) ** steps) == pytest.approx(1 / factor, rel=1e-9)
    assert q < r**2 < 1 / q
    each = naive.expectation(lambda y: (r**y) ** 2, 0, noise.q)
    assert (factor * factor) ** d * (each**d - (1 / factor**2) ** d) == pytest.approx(
        (naive.expectation(lambda y: naive.operate(lambda t: r**t, y, a) ** 2, 0, noise.q)) ** d - 1.0, rel=1e-8
    )


def multiplier(r: float, d: int) -> float:
    """What debiasing multiplies the product of r^x over d counts by."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        answer = dn.debias_multivariate(lambda x: np.prod(np.float64(r) ** x, axis=1), np.zeros(d, int), epsilon=1.0)
    return answer.value / answer.naive


def test_corollary_7_debiasing_can_cost_or_save_exponentially() -> None:
    noise = dn.DiscreteLaplace(1.0)
    steps, chance = naive.window(noise.q)
    cost, saving = [], []
    for d in (1, 3, 5, 7):
        for r, ratios in ((-1.0, cost), (0.7, saving)):
            # per count E[r^Z] and E[r^2Z]; the true value at zero counts is 1
            first, second = (math.fsum(chance * (np.float64(r) ** k) ** steps) for k in (1, 2))
            naive_error = second**d - first ** (2 * d) + (first**d - 1) ** 2
            our_error = multiplier(r, d) ** 2 * second**d - 1
            ratios.append(our_error / naive_error)
    assert all(later > 10 * earlier for earlier, later in itertools.pairwise(cost))
    assert all(later < 0.95 * earlier for earlier, later in itertools.pairwise(saving))


def test_proposition_8_a_monotone_indicator_has_exponential_variance_in_our_version() -> None:
    # 1[at least half of the counts are >= 1] at zero counts: the naive answer is 0 or 1, its error at most 1;
    # ours is a coefficient sum of prod (1 - w_i + w_i z), where w_i is our answer to 1[x_i >= 1]
    noise = dn.DiscreteLaplace(0.5)
    steps, chance = naive.window(noise.q)
    weights = terms_at(Function.of(lambda x: (x >= 1) * 1.0), noise, steps).value.round(12)
    kinds, places = np.unique(weights, return_inverse=True)
    chances = np.bincount(places, chance)
    assert len(kinds) == 4
    variances = []
    for d in (2, 4, 6):
        second = 0.0
        for chosen in itertools.product(range(len(kinds)), repeat=d):
            polynomial = np.array([1.0])
            for kind in chosen:
                polynomial = np.convolve(polynomial, [1 - kinds[kind], kinds[kind]])
            second += math.prod(chances[kind] for kind in chosen) * polynomial[d // 2 :].sum() ** 2
        variances.append(second)
    assert variances[0] > 1
    assert variances[1] > 2 * variances[0]
    assert variances[2] > 2 * variances[1]
    y = np.array([0, 1, -1, 1])  # the product form is the brute force one
    answer = dn.debias_multivariate(lambda x: ((x >= 1).sum(axis=1) >= 2) * 1.0, y, epsilon=0.5, scale=math.inf)
    polynomial = np.array([1.0])
    for w in terms_at(Function.of(lambda x: (x >= 1) * 1.0), noise, y).value:
        polynomial = np.convolve(polynomial, [1 - w, w])
    assert answer.value == pytest.approx(polynomial[2:].sum(), rel=1e-9)


WRONG = [
    (lambda: dn.debias_multivariate(lambda x: x, [1, 2], epsilon=1.0), "f must return one value per row"),
    (lambda: dn.debias_multivariate(lambda x: x[:, 0] * np.nan, [1, 2], epsilon=1.0), "f must be finite"),
    (lambda: dn.debias_multivariate(lambda x: x[:, 0], [1, 2]), "epsilon must be given"),
    (
        lambda: dn.debias_multivariate(lambda x: x[:, 0], [1, 2], epsilon=1.0, samples=1),
        "samples must be a whole number",
    ),
    (lambda: dn.debias_multivariate(lambda x: x[:, 0], [2**60], epsilon=1.0), "data must be below 2^53"),
]


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says[:50] for _, says in WRONG])
def test_a_wrong_question_gives_one_clear_line(call: object, says: str) -> None:
    with pytest.raises(dn.DeniableError) as caught:
        call()  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
