"""Power: the posterior mean under a power law whose exponent fits the data."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.methods.power_law import FALLBACK, STEEPEST, exponent, posterior_mean


def slow_posterior_mean(x: float, n: int, alpha: float, variance: float) -> float:
    """Integer by integer."""
    c = np.arange(1.0, n + 1)
    logs = -alpha * np.log(c) - (x - c) ** 2 / (2 * variance)
    terms = np.exp(logs - logs.max())
    return float(terms @ c / terms.sum())


@pytest.mark.parametrize("n", [1, 2, 300, 4096, 4097, 60_000])
@pytest.mark.parametrize("v0", [1e-8, 0.3, 40.0, 1e6])
def test_power_is_the_posterior_mean(n: int, v0: float, rng: np.random.Generator) -> None:
    for mean in (0.5, 1.0001, 2.0, n / 50, n / 3):
        spread = math.sqrt(v0 / n)
        f = np.concatenate([rng.normal(0, spread, 6), rng.uniform(0, 1, 3), [1 + 3 * spread, -20 * spread]])
        f += mean / n - f.mean()
        alpha = exponent(float(f.mean()) * n, n)
        wanted = [slow_posterior_mean(n * x, n, alpha, max(n * v0, 1e-200)) / n for x in f]
        np.testing.assert_allclose(posterior_mean(f, n, v0), wanted, rtol=1e-10)


@pytest.mark.parametrize("n", [2, 50, 4096, 5000, 10**6])
def test_the_exponent_gives_the_prior_its_mean(n: int) -> None:
    c = np.arange(1.0, n + 1)
    for mean in (1.0001, 1.3, 1 + 0.4 * (n - 1) / 2, (n + 0.9) / 2):
        weights = c ** -exponent(mean, n)
        assert weights @ c / weights.sum() == pytest.approx(mean, rel=1e-9)


def test_an_exponent_that_does_not_exist_is_replaced_by_the_nearest() -> None:
    assert exponent(0.99, 1000) == exponent(-5.0, 1000) == exponent(1.0, 1000) == FALLBACK
    assert exponent(np.nextafter(1.0, 2), 1000) == pytest.approx(52, abs=1)  # 2^-52 is the next number's distance
    assert exponent(900.0, 1000) == pytest.approx(0, abs=1e-12)  # above the mean of the uniform prior
    assert exponent(1.5, 1) == pytest.approx(0, abs=1e-12)
    assert exponent(2.0, 10**12) < STEEPEST


def test_power_at_huge_n_stays_between_one_report_and_all() -> None:
    for n in (10**9, 10**15, 2**62):
        found = posterior_mean(np.array([-0.5, -1e-9, 0.0, 1e-9, 1e-3, 0.5, 1.0, 3.0]), n, 2.0)
        assert (found >= 1 / n * (1 - 1e-9)).all()
        assert (found <= 1 + 1e-9).all()
        assert (np.diff(found) >= 0).all()
        assert found[5] == pytest.approx(0.5, rel=1e-3)


def test_power_ns_is_best_of_all_on_a_power_law(seed: int) -> None:
    m = dn.mechanism("grr", k=300, epsilon=2.0)
    rng = np.random.default_rng(seed)
    shares = np.arange(1, 301) ** -1.3 / (np.arange(1, 301) ** -1.3).sum()
    errors: dict[str, float] = dict.fromkeys(m.methods, 0.0)
    for run in range(20):
        true = rng.multinomial(100_000, shares)
        summary = dn.simulate(m, true, seed=seed + run)
        for method in errors:
            errors[method] += ((m.estimate(summary, method).frequencies - true / 100_000) ** 2).sum()
    assert min(errors, key=errors.__getitem__) == "power-ns"
    assert errors["power-ns"] < 0.2 * errors["unbiased"]
