"""Derived answers: their values by hand, and how often their intervals contain the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import deniable as dn
from deniable.derived import diversity, shares

RUNS = 200
FEWEST = 177  # of 200 intervals at 95%, fewer contain the truth with a chance of 1 in 10,000


def ages() -> dn.Domain:
    return dn.Domain.integers(18, 37)


TRUE = np.array([40, 80, 150, 300, 500, 700, 800, 700, 500, 400, 300, 200, 120, 80, 60, 30, 20, 10, 8, 2])
VALUES = np.repeat(np.arange(18, 38), TRUE)
SHARES = TRUE / TRUE.sum()

QUESTIONS: dict[str, tuple[Callable[[dn.Estimate], dn.Quantity], float]] = {
    "sum": (lambda e: e.sum(range(25, 38)), float((VALUES >= 25).mean())),
    "rare sum": (lambda e: e.sum([18, 35, 36, 37]), float(SHARES[[0, 17, 18, 19]].sum())),
    "difference": (lambda e: e.difference([24, 25], 22), float(SHARES[6] + SHARES[7] - SHARES[4])),
    "ratio": (lambda e: e.ratio([18, 19, 20, 21], 24), float(SHARES[:4].sum() / SHARES[6])),
    "weak ratio": (lambda e: e.ratio(24, [18, 35, 36, 37]), float(SHARES[6] / SHARES[[0, 17, 18, 19]].sum())),
    "mean": (lambda e: e.mean(), float(VALUES.mean())),
    "variance": (lambda e: e.variance(), float(VALUES.var())),
    "cdf": (lambda e: e.cdf(23), float((VALUES <= 23).mean())),
    "median": (lambda e: e.quantile(0.5), float(np.sort(VALUES)[math.ceil(len(VALUES) / 2) - 1])),
    "entropy": (lambda e: e.entropy(), float(-(SHARES * np.log2(SHARES)).sum())),
    "distinct": (lambda e: e.distinct(0.05), float((SHARES > 0.05).sum())),
}


@pytest.mark.parametrize("name", ["grr", "oue", "hr"])
def test_intervals_contain_the_truth(name: str) -> None:
    m = dn.mechanism(name, domain=ages(), epsilon=2.0)
    hits, far = dict.fromkeys(QUESTIONS, 0), dict.fromkeys(QUESTIONS, 0.0)
    for run in range(RUNS):
        estimate = m.estimate(dn.simulate(m, TRUE, seed=run), "unbiased")
        for question, (ask, truth) in QUESTIONS.items():
            found = ask(estimate)
            hits[question] += found.low <= truth <= found.high
            far[question] += ((found.value - truth) / found.std_error) ** 2 / RUNS if found.std_error else 0.0
    assert min(hits.values()) >= FEWEST, hits
    # the squared error is as the standard error says
    for question in ("sum", "rare sum", "difference", "ratio", "mean", "variance", "cdf"):
        assert 0.65 <= far[question] <= 1.45, far


def test_intervals_about_the_population_contain_it(rng: np.random.Generator) -> None:
    m = dn.mechanism("oue", domain=ages(), epsilon=4.0)
    wanted = {"sum": float(SHARES[7:].sum()), "mean": float(VALUES.mean()), "median": QUESTIONS["median"][1]}
    hits = dict.fromkeys(wanted, 0)
    for _ in range(RUNS):
        users = rng.multinomial(500, SHARES)
        estimate = m.estimate(dn.simulate(m, users, seed=int(rng.integers(2**32))), target="population")
        for question, truth in wanted.items():
            found = QUESTIONS[question][0](estimate)
            hits[question] += found.low <= truth <= found.high
    assert min(hits.values()) >= FEWEST, hits


def test_a_constrained_estimate_gets_the_errors_of_the_unbiased_one() -> None:
    m = dn.mechanism("oue", labels=["chrome", "edge", "firefox"], epsilon=1.0)
    summary = dn.simulate(m, [500, 300, 200], seed=1)
    plain, best = m.estimate(summary, "unbiased"), m.estimate(summary)
    assert best.sum(["chrome", "edge"]).value == pytest.approx(plain.sum(["chrome", "edge"]).value)
    assert "From the unbiased estimate" in best.sum(["chrome", "edge"]).note
    assert not plain.sum(["chrome", "edge"]).note


def test_a_constrained_answer_is_possible() -> None:
    m = dn.mechanism("oue", k=20, epsilon=0.5)
    for seed in range(30):
        estimate = m.estimate(dn.simulate(m, [100] + [0] * 19, seed=seed))
        for found in (estimate.sum([1]), estimate.cdf(18), estimate.mean()):
            least, most = (0, 19) if found.name == "mean" else (0, 1)
            assert least <= found.low <= found.value <= found.high <= most
            assert found.low < found.high


def test_fieller_by_trying_ratios() -> None:
    ratios = np.linspace(0, 60, 60_001)
    for a, b, var_a, var_b, covariance in (
        (0.3, 0.2, 1e-4, 1e-4, -2e-5),
        (0.3, 0.04, 1e-4, 1e-4, 0.0),
        (0.01, 0.01, 1e-4, 1e-4, 5e-5),
        (-0.01, 0.2, 1e-4, 1e-4, 0.0),
        (0.3, -0.005, 1e-4, 1e-4, 0.0),
    ):
        z = 1.96
        allowed = ratios[(a - ratios * b) ** 2 <= z * z * (var_a - 2 * ratios * covariance + ratios**2 * var_b)]
        low, high = shares.fieller(a, b, var_a, var_b, covariance, z)
        assert low == pytest.approx(allowed.min(), abs=2e-3)
        assert high == pytest.approx(allowed.max(), abs=2e-3) or (high, allowed.max()) == (math.inf, 60)


def test_a_ratio_to_what_may_be_absent_has_no_upper_limit() -> None:
    m = dn.mechanism("grr", labels=["a", "b", "c"], epsilon=1.0)
    found = m.estimate(dn.simulate(m, [500, 500, 0], seed=1)).ratio("a", "c")
    assert found.high == math.inf
    assert "no upper limit" in found.note
    assert "to infinity" in str(found)


def test_entropy_limits_contain_every_distribution_within_them(rng: np.random.Generator) -> None:
    for _ in range(200):
        shares_inside = rng.dirichlet(np.full(6, 0.4))
        width = rng.uniform(0, 0.3, (2, 6))
        low, high = np.maximum(shares_inside - width[0], 0), np.minimum(shares_inside + width[1], 1)
        terms = shares_inside[shares_inside > 0]
        truth = -(terms * np.log2(terms)).sum()
        assert diversity.least_entropy(low, high) <= truth + 1e-9
        assert truth <= diversity.largest_entropy(low, high) + 1e-9
    even = np.full(6, 1 / 6)
    assert diversity.least_entropy(even, even) == pytest.approx(math.log2(6))
    assert diversity.largest_entropy(np.zeros(6), np.ones(6)) == pytest.approx(math.log2(6))
    assert diversity.least_entropy(np.zeros(6), np.ones(6)) == 0


def test_quantiles_rise_with_their_share_and_follow_the_distribution() -> None:
    m = dn.mechanism("grr", domain=dn.Domain.integers(0, 999), epsilon=20.0)
    estimate = m.estimate(dn.simulate(m, [5] * 1000, seed=1), "unbiased")
    found = [estimate.quantile(share) for share in (0.1, 0.3, 0.5, 0.9)]
    assert all(one.value < other.value for one, other in pairwise(found))
    for share, each in zip((0.1, 0.3, 0.5, 0.9), found, strict=True):
        assert each.low <= 1000 * share <= each.high
        assert each.high - each.low <= 12  # only every fourth value is tested
        assert "of 1,000 values" in each.note


def test_numbers_leave_out_those_who_gave_none() -> None:
    domain = dn.Domain.integers(0, 9, no_answer=True)
    m = dn.mechanism("grr", domain=domain, epsilon=15.0)
    estimate = m.estimate(dn.simulate(m, [0, 0, 100, 0, 100, 0, 0, 0, 0, 0, 800], seed=1), "unbiased")
    assert float(estimate.mean()) == pytest.approx(3.0, abs=0.01)
    assert float(estimate.variance()) == pytest.approx(1.0, abs=0.01)
    assert float(estimate.cdf(2)) == pytest.approx(0.5, abs=0.01)
    assert estimate.quantile(0.5).low <= 2 <= estimate.quantile(0.5).high
    assert "gave a number" in estimate.mean().note


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.sum("chrme"), "Did you mean 'chrome'"),
        (lambda e: e.sum([]), "at least one label"),
        (lambda e: e.sum(["edge", "edge"]), "distinct"),
        (lambda e: e.mean(), "whole numbers"),
        (lambda e: e.sum("edge", level=95), "level must lie strictly between"),
        (lambda e: e.quantile(0.5), "whole numbers"),
        (lambda e: e.distinct(0), "above must lie strictly"),
    ],
)
def test_what_cannot_be_answered_is_refused(ask: Callable[[dn.Estimate], object], message: str) -> None:
    m = dn.mechanism("grr", labels=["chrome", "edge"], epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match=message):
        ask(m.estimate(dn.simulate(m, [10, 20], seed=1)))


def test_an_open_domain_has_no_sums() -> None:
    m = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=2.0, candidates=20)
    found = m.estimate(m.privatize(["a", "b"] * 50, seed=1), candidates=["a", "b"])
    with pytest.raises(dn.InvalidArgument, match="closed domain"):
        found.sum(["a", "b"])


def test_a_quantity_is_a_number_a_line_and_a_document() -> None:
    found = dn.Quantity("share", 0.25, 0.0123, 0.22, 0.28, 0.95, "population", percent=True)
    assert float(found) == 0.25
    assert str(found) == "share: 25.0% ± 1.2% (95% interval 22.0% to 28.0%, about the population)"
    assert dn.Quantity(**found.to_dict()) == found
    assert str(dn.Quantity("median", 24, None, 23, 25, 0.9, "users")).startswith("median: 24 (90% interval 23 to 25,")
