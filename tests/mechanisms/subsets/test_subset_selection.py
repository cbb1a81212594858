"""Subset selection: its papers' numbers, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.mechanisms.subsets.subset_selection import best_size
from deniable.randomness.bounds import exponential_below
from tests.contract.cases import Case, Refused
from tests.contract.vectors import FOUR, Vector, integers

LABELS = [*FOUR, "maybe", "je ne sais pas", "другое"]
CASE = Case(
    "ss",
    small=[
        {"k": 2, "epsilon": 0.5},
        {"k": 3, "epsilon": 1.0},
        {"k": 3, "epsilon": 1.0, "w": 2},
        {"k": 5, "epsilon": 3.0},
        {"k": 5, "epsilon": 1.0, "w": 3},
        {"k": 6, "epsilon": 1.0},
        {"k": 5, "epsilon": 0.5},
        {"k": 4, "epsilon": 1.0, "w": 3},
    ],
    refused=Refused(0, 11),
    summary_keeps_all=False,
    vectors={
        "labels": Vector({"labels": LABELS, "epsilon": 1.0}),
        "integers": Vector({"domain": integers(196), "epsilon": 1.5}, [-3, 0, 5, 100, 196, 2000, None]),
        "size": Vector({"k": 100, "epsilon": 2.0, "w": 40}, [0, 1, 50, 98, 99]),
    },
)


def made(k: int, epsilon: float, **parameters: int) -> dn.SubsetSelection:
    m = dn.mechanism("ss", k=k, epsilon=epsilon, **parameters)
    assert isinstance(m, dn.SubsetSelection)
    return m


@pytest.mark.parametrize(("k", "epsilon", "w"), [(1024, 2.0, 122), (22_000, 2.0, 2622), (100, 1.0, 27), (10, 5.0, 1)])
def test_the_size_of_the_sets_is_the_published_one(k: int, epsilon: float, w: int) -> None:
    assert made(k, epsilon).w == w
    assert abs(w - k / (math.exp(epsilon) + 1)) < 1


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("k", [2, 3, 7, 20, 101])
def test_no_other_size_has_a_smaller_total_error(k: int, epsilon: float) -> None:
    def risk(w: int) -> float:
        return k * made(k, epsilon, w=w).variance(1 / k, target="population")

    chosen = made(k, epsilon).w
    assert risk(chosen) <= min(map(risk, range(1, k))) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 5.0])
@pytest.mark.parametrize("k", [2, 10, 1024, 22_000])
def test_the_total_error_at_uniform_data_is_the_published_one(k: int, epsilon: float) -> None:
    m, e, n = made(k, epsilon), math.exp(epsilon), 1000
    w = m.w
    total = k * m.variance(1 / k, n, target="population")
    assert total == pytest.approx((k - 1) ** 2 * (w * e + k - w) ** 2 / (n * k * w * (k - w) * (e - 1) ** 2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_large_domain_reaches_the_optimum(epsilon: float) -> None:
    m, e = made(22_000, epsilon), math.exp(epsilon)
    assert m.variance(0.0) == pytest.approx(4 * e / (e - 1) ** 2, rel=2e-3)


@pytest.mark.parametrize(("k", "w"), [(2, 1), (5, 2), (12, 5), (64, 20), (65, 64), (300, 150)])
def test_the_short_formulas_are_those_of_the_design(k: int, w: int) -> None:
    m = made(k, 1.5, w=w)
    reports, supporting = math.comb(k, w), math.comb(k - 1, w - 1)
    assert m.layout.reports == reports
    assert m.channel == m.two_level.pure(supporting, math.comb(k - 2, w - 2) if w > 1 else 0)
    assert m.ratio() == m.two_level.ratio
    assert m.reconstruction_rate() == m.two_level.best_guesses(reports) / k
    e = exponential_below(1.5)
    p, q = w * e / (w * e + k - w), w * (e * (w - 1) + k - w) / ((k - 1) * (w * e + k - w))
    assert abs(m.channel.p - p) < Fraction(1, 2**64)
    assert abs(m.channel.q - q) < Fraction(1, 2**64)


def test_sets_of_one_value_are_randomised_response() -> None:
    ss, grr = made(7, 3.0), dn.mechanism("grr", k=7, epsilon=3.0)
    assert ss.w == 1
    assert ss.variance(0.1) == pytest.approx(grr.variance(0.1), rel=1e-12)
    assert float(ss.reconstruction_rate()) == pytest.approx(float(grr.reconstruction_rate()), rel=1e-12)


def test_the_frequencies_add_up_to_one_by_themselves(seed: int) -> None:
    m = made(300, 1.0)
    summary = m.summarize(m.privatize(np.arange(5000) % 300, seed=seed))
    assert int(summary.counts.sum()) == 5000 * m.w
    assert m.estimate(summary, "unbiased").frequencies.sum() == pytest.approx(1, abs=1e-9)
    default = m.estimate(summary)
    assert default.method == "projected"
    assert default.frequencies.min() >= 0
    assert default.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert "mle" not in m.methods  # the counts of a summary do not carry the likelihood


def test_a_huge_number_of_users_is_estimated() -> None:
    m, n = made(100, 1.0), 2**56
    counts = np.full(100, n * m.w // 100)
    counts[0] += n * m.w - int(counts.sum())
    summary = dn.Summary(counts, n, m.fingerprint)
    for method in ("unbiased", "projected", "normalized"):
        np.testing.assert_allclose(m.estimate(summary, method).frequencies, 0.01, rtol=1e-9)


@pytest.mark.parametrize("w", [0, -1, 5, 2.0, "2", True])
def test_a_size_outside_1_to_k_minus_1_is_refused(w: object) -> None:
    with pytest.raises(dn.InvalidArgument, match="w must be a whole number from 1 to 4"):
        dn.SubsetSelection(5, 1.0, w=w)  # type: ignore[arg-type]


def test_a_domain_too_large_for_its_reports_is_refused_with_advice() -> None:
    with pytest.raises(dn.InvalidArgument, match=r"k must be at most 1048576 for ss.*grr"):
        dn.mechanism("ss", k=2**20 + 1, epsilon=1.0)


def test_extreme_epsilons_keep_the_size_within_the_domain() -> None:
    assert made(22_000, 50.0).w == 1
    assert made(22_000, 1e-6).w == 11_000
    assert best_size(2, exponential_below(1e-9)) == 1


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([[3, 0]], "rows of 1 words"),
        ([3], "rows of 1 words"),
        ([[0.5]], "rows of 1 words"),
        ([[-1]], "negative"),
        ([[3], [1]], "position 1 must mark 2 of 5 values, got 1"),
        ([[7]], "must mark 2 of 5 values, got 3"),
        ([[33]], "beyond bit 4"),
    ],
)
def test_a_raw_array_that_marks_no_set_is_refused(raw: list[Any], message: str) -> None:
    with pytest.raises(dn.MalformedReport, match=message):
        made(5, 1.0, w=2).summarize(np.array(raw))


@pytest.mark.parametrize("counts", [[1, 1, 1, 1], [2, 2, 0, 0, 1], [3, 1, 0, 0, 0], [1, 1, 1, 0, 0]])
def test_a_summary_of_no_sets_is_not_estimated(counts: list[int]) -> None:
    m = made(5, 1.0, w=2)
    with pytest.raises(dn.MalformedSummary, match="5 counts of at most n = 2 that add up to 2 n"):
        m.estimate(dn.Summary(np.array(counts), 2, m.fingerprint))
