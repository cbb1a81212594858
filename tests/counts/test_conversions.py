"""From discrete Laplace noise to Laplace and Staircase noise, and what that costs in variance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

import deniable as dn
from deniable.counts.continuous.debias import Debiased
from deniable.counts.continuous.noises import ContinuousNoise, Laplace, Staircase, converted_density, discrete_moment
from deniable.counts.operator.function import Function
from deniable.counts.operator.terms import terms_at
from tests.naive import noise as naive

Polynomial = np.polynomial.Polynomial
MECHANISMS = [dn.DiscreteLaplace(0.5), dn.DiscreteLaplace(1.0), dn.DiscreteLaplace(4.0), dn.DiscreteLaplace(1.0, 2)]
SHAPES = [0.1, 0.3, 0.5, 0.77]


def noises(m: dn.DiscreteLaplace) -> list[ContinuousNoise]:
    return [Laplace(m.q), *(Staircase(m.q, shape) for shape in SHAPES)]


POINTS = np.concatenate([np.linspace(-4.97, 4.97, 200), [0.0]])


@pytest.mark.parametrize("m", MECHANISMS, ids=str)
def test_lemma_9_the_density_of_noise_plus_step_is_that_of_two_atoms(m: dn.DiscreteLaplace) -> None:
    q = float(m.q)
    for noise in noises(m):
        summed = sum(
            (1 - q) / (1 + q) * q ** abs(k) * np.where(np.abs(POINTS - k) < 1, noise.step_density(POINTS - k), 0.0)
            for k in range(-8, 9)
        )
        assert converted_density(noise, POINTS) == pytest.approx(summed, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("m", MECHANISMS, ids=str)
def test_theorem_10_the_step_makes_laplace_noise(m: dn.DiscreteLaplace) -> None:
    noise = Laplace(m.q)
    rate = m.epsilon / m.sensitivity
    assert noise.density(POINTS) == pytest.approx(rate / 2 * np.exp(-rate * np.abs(POINTS)), rel=1e-12)
    assert converted_density(noise, POINTS) == pytest.approx(noise.density(POINTS), rel=1e-9)
    q = float(m.q)
    w = rate * (np.exp(-rate * np.abs(POINTS / 5)) - q**2 * np.exp(rate * np.abs(POINTS / 5))) / (2 * (1 - q) ** 2)
    assert noise.step_density(POINTS / 5) == pytest.approx(w, rel=1e-9)
    assert quad(noise.step_density, -1, 1, points=[0])[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("m", MECHANISMS, ids=str)
def test_theorem_17_the_step_makes_staircase_noise(m: dn.DiscreteLaplace, shape: float) -> None:
    noise = Staircase(m.q, shape)
    q = float(m.q)
    height = (1 - q) / (2 * (shape + q * (1 - shape)))
    size = np.abs(POINTS)
    whole = np.floor(size)
    stairs = height * q**whole * np.where(size - whole < shape, 1.0, q)
    assert noise.density(POINTS) == pytest.approx(stairs, rel=1e-12)
    assert converted_density(noise, POINTS) == pytest.approx(stairs, rel=1e-9)
    assert all(density >= 0 for _, _, density in noise.pieces())
    assert sum(2 * (high - low) * density for low, high, density in noise.pieces()) == 1  # exactly


@pytest.mark.parametrize("m", MECHANISMS, ids=str)
def test_steps_follow_their_density(m: dn.DiscreteLaplace, seed: int) -> None:
    for noise in noises(m):
        drawn = noise.steps(np.random.default_rng(seed), (20_000,))
        assert np.abs(drawn).max() <= 1
        grid = np.linspace(-1, 1, 20_001)
        middle = (grid[1:] + grid[:-1]) / 2
        cumulated = np.concatenate([[0.0], np.cumsum(noise.step_density(middle)) * (grid[1] - grid[0])])
        assert kstest(drawn, lambda u, c=cumulated, g=grid: np.interp(u, g, c)).pvalue > 1e-9
        skewed = np.abs(drawn)  # steps of one sign are noticed
        assert kstest(skewed, lambda u, c=cumulated, g=grid: np.interp(u, g, c)).pvalue < 1e-9


def test_converted_releases_follow_the_continuous_mechanism(seed: int) -> None:
    m = dn.DiscreteLaplace(1.0)
    release = m.release(np.full(50_000, 10), seed=seed)
    laplace = dn.to_laplace(release, seed=seed)
    assert kstest(laplace.values - 10, "laplace").pvalue > 1e-9
    stairs = dn.to_staircase(release, 0.3, seed=seed)
    assert stairs.values.var() == pytest.approx(float(stairs.noise.moment(2)), rel=0.1)
    assert (laplace.epsilon, laplace.sensitivity, laplace.simulated) == (1.0, 1, True)
    assert np.abs(laplace.values - release.values).max() <= 1
    assert not np.array_equal(dn.to_laplace(release).values, dn.to_laplace(release).values)


@pytest.mark.parametrize("m", MECHANISMS, ids=str)
def test_moments_are_those_of_the_density(m: dn.DiscreteLaplace) -> None:
    steps, chance = naive.window(m.q)
    for k in range(7):
        assert float(discrete_moment(m.q, k)) == pytest.approx(
            math.fsum(chance * steps.astype(float) ** k), abs=1e-9, rel=1e-9
        )
    for noise in noises(m):
        assert noise.moment(0) == 1
        assert noise.moment(3) == 0
        for k in (2, 4):
            step = (
                2
                * quad(
                    lambda u, k=k, n=noise: u**k * float(n.step_density(u)),
                    0,
                    1,
                    points=[0.1, 0.23, 0.3, 0.5, 0.7, 0.77, 0.9],
                )[0]
            )
            assert float(noise.step_moment(k)) == pytest.approx(step, rel=1e-6)


QUESTIONS = [Polynomial([0, 1]), Polynomial([1, -2, 3]), Polynomial([0, 0, 0, 1]), Polynomial([0.0, -0.5, 0.5])]


@pytest.mark.parametrize("m", MECHANISMS, ids=str)
@pytest.mark.parametrize("f", QUESTIONS, ids=lambda f: str(f.coef))
def test_theorem_4_answers_from_converted_noise_vary_at_least_as_much(m: dn.DiscreteLaplace, f: object) -> None:
    release = m.release([5], seed=1)
    steps, chance = naive.window(m.q)
    for x in (0, 3, 40):
        discrete = math.fsum(chance * (terms_at(Function.of(f), m, x + steps).value - f(x)) ** 2)
        for converted in (dn.to_laplace(release), *(dn.to_staircase(release, shape) for shape in SHAPES)):
            line = Debiased(f, converted)
            assert line.expected(line.unbiased)(x) == pytest.approx(f(x), abs=1e-6)  # unbiased there too
            assert line.moments(x).variance >= discrete * (1 - 1e-9)


def test_laplace_debiasing_is_calmons_and_its_variance_is_estimated_without_bias(seed: int) -> None:
    m, n, x = dn.DiscreteLaplace(1.0), 200_000, 6
    noisy = dn.to_laplace(m.release(np.full(n, x), seed=seed), seed=seed)
    sine = {"first": lambda y: np.cos(y), "second": lambda y: -np.sin(y)}
    answer = dn.debias_continuous(np.sin, noisy, **sine, reduce="mean")
    assert abs(answer.value - math.sin(x)) < 6 * answer.std_error
    each = dn.debias_continuous(np.sin, noisy, **sine)
    assert answer.std_error * math.sqrt(n) == pytest.approx(each.value.std(), rel=0.02)
    cube = Polynomial([0, 0, 0, 1.0])
    as_polynomial = dn.debias_continuous(cube, noisy)
    b = 1.0
    assert as_polynomial.value == pytest.approx(noisy.values**3 - 6 * b**2 * noisy.values, rel=1e-9)
    as_function = dn.debias_continuous(
        lambda y: y**3, noisy, first=lambda y: 3 * y**2, second=lambda y: 6 * y, reduce="sum"
    )
    total = dn.debias_continuous(cube, noisy, reduce="sum")
    assert as_function.value == pytest.approx(total.value, rel=1e-9)
    assert as_function.std_error == pytest.approx(total.std_error, rel=1e-6)


def test_staircase_debiasing_by_moments_is_unbiased(seed: int) -> None:
    m, n, x = dn.DiscreteLaplace(1.0), 200_000, 6
    noisy = dn.to_staircase(m.release(np.full(n, x), seed=seed), 0.4, seed=seed)
    answer = dn.debias_continuous(Polynomial([0, 1, 0, 1]), noisy, reduce="mean")
    assert abs(answer.value - (x + x**3)) < 6 * answer.std_error
    auto = dn.debias_continuous(Polynomial([0, 1, 0, 1]), noisy, reduce="mean", best="auto")
    assert auto.unbiased  # with so many counts bias would cost more


RELEASE = dn.DiscreteLaplace(1.0).release([3], seed=1)
WRONG = [
    (lambda: dn.to_staircase(RELEASE, 1.0), "shape must lie strictly between 0 and 1, got 1.0"),
    (lambda: dn.to_laplace([1, 2]), "release must be a Release"),
    (lambda: dn.debias_continuous(np.sin, RELEASE), "release must be a ContinuousRelease"),
    (lambda: dn.debias_continuous(np.sin, dn.to_staircase(RELEASE, 0.5), second=np.sin), "f must be a Polynomial"),
]


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says[:50] for _, says in WRONG])
def test_a_wrong_call_gives_one_clear_line(call: object, says: str) -> None:
    with pytest.raises(dn.DeniableError) as caught:
        call()  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
