"""Variances of weighted sums: by enumeration of all reports for every mechanism, and by hand for some."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.arrays import Floats
from deniable.estimation.weighted_sums import EstimatedSums
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract import cases
from tests.contract import checks as contract


def enumerated(m: Mechanism) -> tuple[Floats, Floats]:
    """Pr[report | value], and what each report alone says of all frequencies, shifted to sum to 1."""
    possible = list(m.layout.all())
    chance = np.array([[float(m.probability(report, x)) for report in possible] for x in m.domain.all_labels()])
    units = [m.summarize(contract.payload_array(m, [report])) for report in possible]
    says = np.array([m.unbiased(unit) for unit in units])
    return chance, says + (1 - says.sum(axis=1, keepdims=True)) / m.k


def known(m: Mechanism, shares: Floats, n: int, target: str) -> EstimatedSums:
    """The sums of an estimate that happens to be the truth, so that nothing is plugged in."""
    estimate: Any = m.estimate(m.summarize(m.privatize([m.domain.label(0)], seed=1)), "unbiased", target=target)
    plain = estimate.sums
    return EstimatedSums(shares, n, target, m.variances_of, plain.noise, plain.rule, plain.supporters, m.additions)


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_the_variance_of_a_weighted_sum_is_that_of_all_reports(name: str, seed: int) -> None:
    m = cases.of(name).one()
    chance, says = enumerated(m)
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.ones(m.k))
    for weights in (np.eye(m.k)[0], np.arange(m.k, dtype=float), generator.normal(size=m.k)):
        adds = says @ weights
        mean, square = chance @ adds, chance @ adds**2
        np.testing.assert_allclose(mean, weights, atol=1e-9 * max(1, np.abs(adds).max()))
        users = float(shares @ (square - mean**2)) / 7
        population = float(shares @ square - (shares @ mean) ** 2) / 7
        assert known(m, shares, 7, "users").variance(weights) == pytest.approx(users, rel=1e-8)
        assert known(m, shares, 7, "population").variance(weights) == pytest.approx(population, rel=1e-8)
        assert known(m, shares, 7, "users").value(weights) == pytest.approx(float(shares @ weights))


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_two_users_vary_as_the_sum_says(name: str) -> None:
    """Over all pairs of reports of two users, through summaries that were merged."""
    m = dn.mechanism(name, **cases.of(name).small[0])
    possible = list(m.layout.all())
    assert len(possible) <= 64, "too many pairs of reports: give the case a smaller first setting"
    first, second = m.domain.label(0), m.domain.label(m.k - 1)
    weights = np.linspace(-1, 2, m.k) ** 3
    units = [m.summarize(contract.payload_array(m, [report])) for report in possible]
    sums = known(m, (np.eye(m.k)[0] + np.eye(m.k)[-1]) / 2, 2, "users")
    chances = [[float(m.probability(report, x)) for report in possible] for x in (first, second)]
    weighted = np.outer(*chances)
    values = np.array([[known_value(m, weights, (one + other)) for other in units] for one in units])
    mean = float((weighted * values).sum())
    assert mean == pytest.approx((weights[0] + weights[-1]) / 2)
    assert float((weighted * (values - mean) ** 2).sum()) == pytest.approx(sums.variance(weights), rel=1e-8)


def known_value(m: Mechanism, weights: Floats, summary: dn.Summary) -> float:
    found = m.unbiased(summary)
    return float(weights @ (found + (1 - found.sum()) / m.k))


def test_a_wrong_covariance_is_caught() -> None:
    class Careless(dn.RandomizedResponse):
        def variances_of(self, weights: Floats) -> Floats:
            return np.full(self.k, self.variance(0.0) * float(weights @ weights))  # as if values were independent

    with pytest.raises(AssertionError):
        contract.check_variances_of_weighted_sums(Careless(5, epsilon=1.0), seed=0)


def test_shares_that_sum_to_one_have_no_error_together() -> None:
    m = dn.mechanism("oue", k=6, epsilon=1.0)
    estimate = m.estimate(dn.simulate(m, [100] * 6, seed=1))
    everything = estimate.sum(range(6))
    assert (everything.value, everything.std_error) == (pytest.approx(1.0), pytest.approx(0.0, abs=1e-9))
    assert estimate.sum(range(3)).std_error == pytest.approx(estimate.sum(range(3, 6)).std_error)


def test_a_matrix_mechanism_needs_to_state_nothing() -> None:
    """Without a two-level operator of a pure channel, scores come from the unbiased estimate itself."""
    m = dn.mechanism("hr", k=6, epsilon=1.0, blocks=2)
    weights = np.arange(6.0)
    np.testing.assert_allclose(super(type(m).__mro__[1], m).scores(weights), m.scores(weights), atol=1e-9)
