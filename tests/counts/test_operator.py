"""The operator that makes functions of one noisy count unbiased, and the errors of its answers."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import numpy as np
import pytest

import deniable as dn
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import growth_of
from deniable.counts.operator.terms import terms_at
from tests.naive import noise as naive

NOISES = [dn.DiscreteLaplace(0.7), dn.DiscreteLaplace(2.0), dn.DiscreteLaplace(1.0, 2)]
FUNCTIONS = {
    "square": lambda x: x**2,
    "threshold": lambda x: (x >= 2) * 1.0,
    "indicator": lambda x: (x == 3) * 1.0,
    "entropy term": lambda x: np.where(x > 0, x * np.log(np.maximum(x, 1)), 0.0),
    "parity": lambda x: np.cos(np.pi * x),
    "absolute": np.abs,
    "root": lambda x: np.sqrt(np.maximum(x, 0)),
    "slow exponential": lambda x: np.exp(0.2 * x),
}


def ids(noise: dn.DiscreteLaplace) -> str:
    return f"{noise.epsilon:g}/{noise.sensitivity}"


@pytest.mark.parametrize("noise", NOISES, ids=ids)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_theorem_1_any_function_of_one_count_is_answered_without_bias(name: str, noise: dn.DiscreteLaplace) -> None:
    f = FUNCTIONS[name]
    steps, chance = naive.window(noise.q)
    for x in (0, 1, 3, 10):
        terms = terms_at(Function.of(f), noise, x + steps)
        assert math.fsum(chance * terms.value) == pytest.approx(float(f(np.array(x * 1.0))), rel=1e-12, abs=1e-12)
        assert terms.value[5] == pytest.approx(
            naive.operate(lambda y: float(f(np.float64(y))), x + int(steps[5]), float(noise.a))
        )


@pytest.mark.parametrize("below", ["constant", "linear", "zero", 7.5, lambda y: -3.0 * y])
def test_theorem_1_every_extension_below_zero_keeps_true_counts_unbiased(below: object) -> None:
    noise = dn.DiscreteLaplace(1.0)
    steps, chance = naive.window(noise.q)
    function = Function.of(lambda x: np.log(x + 1), below)
    for x in (0, 1, 5):
        value = terms_at(function, noise, x + steps).value
        assert math.fsum(chance * value) == pytest.approx(math.log(x + 1), abs=1e-12)


@pytest.mark.parametrize("noise", NOISES, ids=ids)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "slow exponential"])
def test_the_variance_is_estimated_without_bias_and_never_negative(name: str, noise: dn.DiscreteLaplace) -> None:
    f = FUNCTIONS[name]
    steps, chance = naive.window(noise.q)
    for x in (0, 2, 9):
        terms = terms_at(Function.of(f), noise, x + steps)
        true = math.fsum(chance * (terms.value - float(f(np.array(x * 1.0)))) ** 2)
        assert math.fsum(chance * terms.variance) == pytest.approx(true, rel=1e-10, abs=1e-12)
        assert (terms.variance >= 0).all()
        # f_hat^2 - L(f^2), without its cancellation
        squared = terms_at(Function.of(lambda y: f(y) ** 2), noise, x + steps[::9]).value
        assert terms.variance[::9] == pytest.approx(terms.value[::9] ** 2 - squared, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("noise", NOISES, ids=ids)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "slow exponential"])
def test_theorem_5_the_mean_square_error_is_within_the_factor(name: str, noise: dn.DiscreteLaplace) -> None:
    f = FUNCTIONS[name]
    steps, chance = naive.window(noise.q)
    for x in (0, 1, 2, 3, 10):
        at = float(f(np.array(x * 1.0)))
        terms = terms_at(Function.of(f), noise, x + steps)
        ours, plain = (math.fsum(chance * (part - at) ** 2) for part in (terms.value, terms.naive))
        assert ours <= theorem_5_factor(noise) * plain * (1 + 1e-9)


def test_theorem_5_the_factor_is_not_far_from_what_is_needed() -> None:
    # random functions that change sign from count to count come within a factor of seven of the bound
    noise, worst = dn.DiscreteLaplace(1.0), 0.0
    rng = np.random.default_rng(1)
    steps, chance = naive.window(noise.q, 1e-9)
    far = len(steps) // 2 + 1
    for _ in range(300):
        values = rng.standard_normal(2 * far + 1) * (-1.0) ** np.arange(2 * far + 1)
        values -= values[far]
        function = Function(lambda y, v=values: v[(y + far).astype(int)])
        terms = terms_at(function, noise, steps)
        worst = max(worst, float(chance @ terms.value**2 / (chance @ terms.naive**2)))
    assert theorem_5_factor(noise) / 7 < worst <= theorem_5_factor(noise)
    assert theorem_5_factor(noise) == pytest.approx(34.5, abs=0.1)
    assert theorem_5_factor(dn.DiscreteLaplace(2.0)) == pytest.approx(5.5, abs=0.05)
    assert theorem_5_factor(noise, 1000) == math.inf


def test_theorem_4_the_estimator_is_the_only_one() -> None:
    # On a circle of counts everything is finite: the noise is an invertible matrix, so that there is one unbiased
    # estimator of each function, and it is ours.
    noise, size = dn.DiscreteLaplace(0.9), 12
    q = float(noise.q)
    place = np.arange(size)
    gaps = (place[:, None] - place[None, :]) % size
    wrapped = (q**gaps + q ** (size - gaps)) / (1 - q**size) * (1 - q) / (1 + q)  # all turns around the circle
    wrapped[gaps == 0] = (1 - q) / (1 + q) * (1 + 2 * q**size / (1 - q**size))
    assert wrapped.sum(axis=0) == pytest.approx(np.ones(size))
    assert np.linalg.matrix_rank(wrapped) == size
    only = np.linalg.inv(wrapped)
    for j in range(size):
        indicator = Function(lambda y, j=j: (y % size == j) * 1.0)
        assert terms_at(indicator, noise, place).value == pytest.approx(only[:, j], abs=1e-10)


def test_theorem_4_randomised_estimators_vary_more() -> None:
    noise = dn.DiscreteLaplace(1.0)
    rng = np.random.default_rng(2)
    n = 200_000
    y = 4 + noise.release(np.zeros(n, np.int64), seed=3).values
    terms = terms_at(Function.of(lambda x: x**2), noise, y)
    a = float(noise.a)
    # evaluate one neighbour at random instead of all three: unbiased too, and worse
    weights = np.array([a, 1 + 2 * a, a]) / (1 + 4 * a)
    step = rng.choice([-1, 0, 1], n, p=weights)
    one = (1 + 4 * a) * np.where(step == 0, 1, -1) * (y + step) ** 2.0
    assert abs(one.mean() - 16) < 6 * one.std() / math.sqrt(n)
    assert abs(terms.value.mean() - 16) < 6 * terms.value.std() / math.sqrt(n)
    assert one.var() > terms.value.var()


def test_lemma_18_functions_below_the_noise_rate_are_answered_and_faster_ones_refused() -> None:
    noisy = dn.DiscreteLaplace(1.0).release([3, 5, 2], seed=1)
    for slow in (
        lambda x: x**30,
        lambda x: np.exp(np.sqrt(np.abs(x))),
        lambda x: np.exp(0.999 * x),
        lambda x: x * np.exp(0.4 * x),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dn.UnreliableAnswer)
            assert math.isfinite(dn.debias(slow, noisy, reduce="sum").value)
    for fast in (
        np.exp,
        lambda x: np.exp(1.01 * np.abs(x)),
        lambda x: np.exp(x**2 / 50),
        lambda x: 2.0**-x * np.exp(-x),
    ):
        with pytest.raises(dn.InvalidArgument, match="f must grow more slowly"):
            dn.debias(fast, noisy)
    assert dn.debias(np.exp, noisy, reduce="none", check_growth=False).notes == ("the growth of f was not checked",)


def test_growth_is_measured_as_the_limit() -> None:
    assert growth_of(Function.of(lambda x: x**7 * np.exp(0.3 * x))).rate == pytest.approx(0.3, abs=1e-9)
    assert growth_of(Function.of(lambda x: x**100)).rate == pytest.approx(0.0, abs=1e-9)
    assert growth_of(Function.of(lambda x: np.where(x > 5, 0.0, 1.0), "constant")).rate == 0.0
    assert not growth_of(Function.of(np.log)).checked
    assert not growth_of(Function.of(lambda x: np.arange(10.0)[x.astype(int)])).checked


def test_a_variance_that_does_not_exist_is_infinite_and_said() -> None:
    noisy = dn.DiscreteLaplace(1.0).release([3, 5, 2], seed=1)
    with pytest.warns(dn.UnreliableAnswer, match="standard error, inf"):
        answer = dn.debias(lambda x: np.exp(0.6 * x), noisy, reduce="sum")
    assert answer.std_error == math.inf
    assert any("variance is infinite" in note for note in answer.notes)
    assert answer.to_dict()["std_error"] is None
    assert math.isfinite(dn.debias(lambda x: np.exp(0.45 * x), noisy, reduce="sum", best="unbiased").std_error)


def test_sums_and_means_and_axes_agree_dense_and_sparse() -> None:
    f = FUNCTIONS["entropy term"]
    noise = dn.DiscreteLaplace(1.0)
    for counts in (np.random.default_rng(0).poisson(4, (30, 50)), np.random.default_rng(0).integers(0, 10**9, (3, 5))):
        noisy = noise.release(counts, seed=2)
        each = dn.debias(f, noisy)
        wanted = [
            [naive.operate(lambda y: float(f(np.float64(y))), int(y), float(noise.a)) for y in row]
            for row in noisy.values
        ]
        assert each.value == pytest.approx(np.array(wanted))
        total, mean = (dn.debias(f, noisy, reduce=how) for how in ("sum", "mean"))
        rows, columns = (dn.debias(f, noisy, reduce="sum", axis=axis) for axis in (1, 0))
        assert total.value == pytest.approx(each.value.sum(), rel=1e-12)
        assert mean.value == pytest.approx(each.value.mean(), rel=1e-12)
        assert total.variance == pytest.approx(each.variance.sum())
        assert mean.std_error == pytest.approx(total.std_error / counts.size)
        assert rows.value == pytest.approx(each.value.sum(axis=1))
        assert columns.variance == pytest.approx(each.variance.sum(axis=0))
        assert total.naive == pytest.approx(f(noisy.values.astype(float)).sum())


def test_an_array_of_values_is_a_function_and_goes_on_as_its_last() -> None:
    noisy = np.array([-2, -1, 0, 1, 2, 3, 9])
    given = dn.debias([0.0, 1.0, 4.0], noisy, epsilon=1.0)
    same = dn.debias(lambda x: np.clip(x, 0, 2) ** 2, noisy, epsilon=1.0)
    assert given.value == pytest.approx(same.value)
    assert given.notes == ("2 noisy counts are negative; there f is f(0)",)
    linear = dn.debias([0.0, 1.0, 4.0], noisy, epsilon=1.0, below="linear")
    assert linear.std_error[1] == pytest.approx(math.sqrt(2 * float(dn.DiscreteLaplace(1.0).a)))  # a line of slope 1


def test_large_integers_are_exact() -> None:
    noise = dn.DiscreteLaplace(1.0)
    values = np.array([2**80 + 1, -(2**70)], object)
    answer = dn.debias(lambda x: x**2 - 2**160, values, epsilon=1.0)
    wanted = [float((v**2 - 2**160) - 2 * noise.a) for v in values]
    assert answer.value == pytest.approx(wanted, rel=1e-15)


def test_statistical_unbiasedness_on_many_counts(seed: int) -> None:
    counts = np.random.default_rng(5).zipf(1.7, 200_000).clip(0, 10**6)
    f = FUNCTIONS["entropy term"]
    noisy = dn.DiscreteLaplace(0.5).release(counts, seed=seed)
    answer = dn.debias(f, noisy, reduce="sum")
    truth = f(counts * 1.0).sum()
    assert abs(answer.value - truth) < 6.2 * answer.std_error  # 1e-9
    assert abs(answer.naive - truth) > 6.2 * answer.std_error  # the naive answer is visibly biased


WRONG = [
    (lambda: dn.debias(lambda x: x, [1, 2]), "epsilon must be given with noisy counts"),
    (
        lambda: dn.debias(lambda x: x, [1.5], epsilon=1.0),
        "noisy counts must be whole numbers, got a value of type float",
    ),
    (lambda: dn.debias(lambda x: x, [], epsilon=1.0), "values must hold at least one count"),
    (
        lambda: dn.debias(lambda x: x, dn.DiscreteLaplace(1.0).release([1]), epsilon=1.0),
        "be omitted for a release, got",
    ),
    (lambda: dn.debias(np.log, [-3, 5], epsilon=1.0), "got 'NaN at -3'. Extend f below zero with below=."),
    (
        lambda: dn.debias(lambda x: x * np.nan, [5], epsilon=1.0),
        "f must be finite at every count and its neighbours, got",
    ),
    (lambda: dn.debias(lambda x: x[:1], [5, 6], epsilon=1.0), "f must return one value per count"),
    (lambda: dn.debias("log", [5], epsilon=1.0), "f must be a function of an array"),
    (lambda: dn.debias([1.0], [5], epsilon=1.0, below="f"), "below must extend an array of values below zero"),
    (lambda: dn.debias(np.abs, [5], epsilon=1.0, below="mirror"), "below must be one of f, constant, linear, zero"),
    (lambda: dn.debias(np.abs, [5], epsilon=1.0, reduce="max"), "reduce must be one of none, sum, mean"),
    (lambda: dn.debias(np.abs, [5], epsilon=1.0, best="mle"), "best must be one of unbiased, naive, shrunk, auto"),
    (lambda: dn.debias(lambda x: x**3, [2**400], epsilon=1.0), "f must have real values that floats can hold"),
    (lambda: dn.debias(lambda x: x * float("nan"), [2**70], epsilon=1.0), "f must be finite at every count"),
    (lambda: dn.debias(lambda x: x * 1j, [5], epsilon=1.0), "f must have real values"),
]


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says[:50] for _, says in WRONG])
def test_a_wrong_question_gives_one_clear_line(call: object, says: str) -> None:
    with pytest.raises(dn.DeniableError) as caught:
        call()  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_extensions_are_compared_by_their_errors() -> None:
    noisy = np.array([-1, 0, 0, 1, 3])
    found = dn.compare_extensions(lambda x: np.log(x + 1), noisy, epsilon=1.0, reduce="sum")
    assert set(found) == {"constant", "linear", "zero"}  # the logarithm itself has no value at -1
    assert found["constant"].value == found["zero"].value  # log(0 + 1) = 0
    assert found["linear"].std_error > found["constant"].std_error
    assert all(answer.unbiased for answer in found.values())
    with pytest.raises(dn.InvalidArgument, match="f must be a function"):
        dn.compare_extensions("log", noisy, epsilon=1.0)


def test_a_number_a_vector_and_a_matrix_are_asked_alike() -> None:
    square = FUNCTIONS["square"]
    one, row, table = (dn.debias(square, data, epsilon=1.0) for data in (5, [5, 6], [[5], [6]]))
    assert one.value == row.value[0] == table.value[0, 0]
    assert isinstance(one.value, float)
    with pytest.raises(dn.InvalidArgument, match="axis must be a whole number from -1 to 0, got 3"):
        dn.debias(square, [5, 6], epsilon=1.0, reduce="sum", axis=3)
    auto = dn.debias(square, [[5, 6], [7, 8], [1, 0]], epsilon=1.0, reduce="mean", axis=1, best="auto")
    assert auto.value.shape == (3,)


def test_a_long_guarantee_can_be_printed() -> None:
    assert "(a fraction of" in str(dn.DiscreteLaplace(20.0, 200).guarantee())
    assert "= 2.71828182845904523536... <= e^1.0" in str(dn.DiscreteLaplace(1.0).guarantee())


def test_a_few_counts_need_neither_compiler_nor_statistics() -> None:
    code = "import sys, deniable as dn; dn.debias(abs, dn.DiscreteLaplace(1.0).release([1, 2]), reduce='sum')"
    code += "; print(*(name for name in ('numba', 'scipy', 'pyarrow', 'pandas', 'rich') if name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


def test_debias_is_a_function_whatever_was_imported_before() -> None:
    code = "from deniable.counts.release import Release; import deniable as dn"
    code += "; print(dn.debias(lambda x: 2 * x, [3], epsilon=1.0).value[0], type(dn.debias).__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["6.0", "function"]
