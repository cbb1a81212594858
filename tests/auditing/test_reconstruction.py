"""Guesses with any prior, against the sum over all reports; repeated reports against all sequences of them."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.auditing.enumeration import channel
from tests.contract import cases


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_the_rate_is_the_sum_over_all_reports(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    rows = channel(m)
    random = np.random.default_rng(3)
    priors = [np.full(m.k, 1 / m.k), random.dirichlet(np.ones(m.k)), random.dirichlet(np.full(m.k, 0.1))]
    priors.append(np.eye(m.k)[1])
    for prior in priors:
        expected = float((prior[:, np.newaxis] * rows).max(axis=0).sum())
        assert dn.reconstruction(m, prior).with_report == pytest.approx(expected, rel=1e-9)
    assert dn.reconstruction(m).with_report == pytest.approx(float(m.reconstruction_rate()), rel=1e-12)


def test_a_report_never_makes_a_guess_worse_nor_surer_than_its_bound() -> None:
    m = dn.mechanism("csr", k=50, epsilon=1.0)
    found = dn.reconstruction(m, [0.9, *[0.1 / 49] * 49])
    assert found.without <= found.with_report < found.sure < 1
    assert found.sure == pytest.approx(9 * math.e / (9 * math.e + 1), rel=1e-9)


def test_large_domains_are_no_problem_with_a_prior_that_matters() -> None:
    prior = 1.0 / np.arange(1, 20_001) ** 2
    for name in ("ss", "sue", "grr", "csr"):
        m = dn.mechanism(name, k=20_000, epsilon=2.0)
        assert dn.reconstruction(m, prior / prior.sum()).with_report >= 0.6


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.4, 0.05], "prior must sum to 1, got 0.95. Divide each share by the sum."),
        ([0.5, 0.5], "prior must have one share for each of 3 values"),
        ([1.5, -0.5, 0.0], "prior must have shares from 0 to 1"),
        ({"a": 0.5, "x": 0.5}, "label must be one of the 3 labels"),
        ({"a": 0.2}, "prior must sum to 1"),
        ("abc", "prior must be a mapping"),
        (0.5, "prior must be a mapping"),
    ],
)
def test_a_wrong_prior_is_refused_clearly(prior: Any, message: str) -> None:
    m = dn.mechanism("grr", labels=["a", "b", "c"], epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match=message):
        dn.reconstruction(m, prior)


@pytest.mark.parametrize("name", ["grr", "sue", "oue", "ss", "hr", "blh"])
def test_repeated_reports_are_those_of_all_sequences(name: str) -> None:
    m = dn.mechanism(name, k=3, epsilon=1.2)
    rows = channel(m)
    found = dn.averaging(m, 3)
    for count in (1, 2, 3):
        products = itertools.product(range(rows.shape[1]), repeat=count)
        pairs = [(rows[0, list(each)].prod(), rows[1, list(each)].prod()) for each in products]
        assert found.right[count - 1] == pytest.approx(math.fsum(max(pair) for pair in pairs) / 2, rel=1e-9)


@pytest.mark.parametrize("name", ["clh", "she", "mss", "grr", "oue", "csr"])
def test_shares_that_are_rounded_say_so(name: str) -> None:
    found = dn.averaging(dn.mechanism(name, k=20, epsilon=1.0), 3)
    assert found.rounded == (name == "clh")
    assert ("about right" in str(found)) == found.rounded


@pytest.mark.parametrize("name", ["orr", "hcms", "cms", "orappor", "grr", "blh", "mss"])
def test_shares_that_may_be_too_large_say_so(name: str) -> None:
    found = dn.averaging(dn.mechanism(name, k=20, epsilon=1.0), 3)
    assert found.bound == found.to_dict()["bound"] == (name in ("orr", "hcms", "cms", "orappor"))
    assert ("at most" in str(found)) == found.bound


@pytest.mark.parametrize("name", ["orr", "grr", "blh", "flh", "pgr"])
def test_shares_are_those_of_the_worst_pair_or_a_bound_of_them(name: str) -> None:
    m = dn.mechanism(name, k=20, epsilon=1.0)
    found, rows = dn.averaging(m, 1), channel(m)
    right = max(np.maximum(one, other).sum() / 2 for one, other in itertools.combinations(rows, 2))
    assert found.right[0] > right * 1.01 if found.bound else found.right[0] == pytest.approx(right)


def test_guesses_between_two_values_are_right_for_both_alike() -> None:
    rows = [[0.9, 0.1], [0.5, 0.5]]
    found = dn.averaging(dn.mechanism("matrix", matrix=rows, labels=["a", "b"], epsilon=2.0), 3)
    assert found.right[0] == pytest.approx(0.7)
    assert found.right[2] == pytest.approx((0.9**3 + 1 - 0.5**3) / 2)


def test_more_reports_are_surer_and_no_surer_than_their_epsilons_allow() -> None:
    found = dn.averaging(dn.mechanism("csr", k=100, epsilon=1.0), 365)
    assert all(one <= other for one, other in itertools.pairwise(found.right))
    limits = [1 / (1 + math.exp(-spent)) for spent in found.epsilons]
    assert all(right <= limit * (1 + 1e-12) for right, limit in zip(found.right, limits, strict=True))
    until = found.reports_until(0.99)
    assert until is not None
    assert found.right[until - 2] < 0.99 <= found.right[until - 1]
    assert found.reports_until(1.1) is None
    assert "365" in str(found)


def test_a_mechanism_without_a_list_of_values_is_refused() -> None:
    m = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=1.0, cohorts=64, buckets=8, candidates=50)
    for ask in (dn.reconstruction, dn.poisoning):
        with pytest.raises(dn.InvalidArgument, match="domain must be closed here"):
            ask(m)
