"""What one report adds to the estimates, against the estimate of that report alone, for all reports."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.core.arrays import Floats
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract import cases

MOST = 4096  # reports that are enumerated


def adds(m: Mechanism) -> Floats:
    """The estimate of one report alone, one row per report: n times the estimate is the sum over all reports."""
    payloads = [payload for payload, _ in zip(m.layout.all(), range(MOST), strict=False)]
    return np.array([m.unbiased(m.summarize(np.array([payload]))) for payload in payloads])


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_the_extremes_of_what_a_report_adds_are_those_of_all_reports(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    rows = adds(m)
    assert len(rows) < MOST
    random = np.random.default_rng(1)
    for weights in (np.eye(m.k)[0], np.eye(m.k)[-1], np.arange(m.k) % 2, random.normal(size=m.k)):
        sums = rows @ weights
        least, most = m.additions(weights.astype(np.float64))
        assert least == pytest.approx(float(sums.min()), abs=1e-8 * (1 + np.abs(sums).max()))
        assert most == pytest.approx(float(sums.max()), abs=1e-8 * (1 + np.abs(sums).max()))
    if m.influence is not None:
        assert m.influence == pytest.approx((float(rows.min()), float(rows.max())), rel=1e-8)


@pytest.mark.parametrize("name", dn.list_mechanisms())
@pytest.mark.parametrize("method", ["unbiased", "projected"])
def test_the_last_line_of_an_estimate_says_what_one_report_adds(name: str, method: str) -> None:
    m = cases.of(name).one()
    reports = m.privatize([m.domain.label(m.k - 1)] * 500, seed=1)
    estimate, rows = m.estimate(m.summarize(reports), method), adds(m)
    last, place = str(estimate).splitlines()[-1], int(np.argmax(estimate.frequencies))
    whose = f"the {'' if method == 'unbiased' else 'unbiased '}count of {m.domain.label(place)}"
    if m.influence is not None:  # all values are alike
        whose, rows = "a count" if method == "unbiased" else "an unbiased count", rows.max(axis=1, keepdims=True)
        place = 0
    assert last.startswith(f"One false report moves {whose} by up to {rows[:, place].max():.3g}; ")


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_the_most_for_a_number_of_values_is_that_of_the_best_of_all_sets(name: str, setting: dict[str, Any]) -> None:
    m = dn.mechanism(name, **setting)
    rows = adds(m)
    for many in {1, 2, 3, m.k - 1, m.k}:
        if not 1 <= many <= m.k or math.comb(m.k, many) > 50_000:
            continue
        sets = [list(chosen) for chosen in itertools.combinations(range(m.k), many)]
        expected = max(float(rows[:, chosen].sum(axis=1).max()) for chosen in sets)
        found = dn.poisoning(m, many)
        assert found.rule == "exact"
        assert found.together == found.reached == pytest.approx(expected, rel=1e-8, abs=1e-8)
        assert len(found.targets) == many
        if many == 1:
            assert (found.least, found.most) == pytest.approx((float(rows.min()), float(rows.max())), rel=1e-8)
            assert found.together == pytest.approx(found.most, rel=1e-8)
        # the values that are named attain it
        assert dn.poisoning(m, found.targets).together == pytest.approx(expected, rel=1e-8, abs=1e-8)


# k = 100, epsilon 1: ten values, of the best set that a random search of reports found
FOUND = {"csr": 32.38, "pgr": 27.46, "clh": 33.48, "hr": 21.64, "rhr": 21.55, "hpgr": 68.38, "olh": 27.4, "mss": 70.0}


@pytest.mark.parametrize("name", FOUND)
def test_ten_chosen_values_gain_more_than_ten_that_are_spread_evenly(name: str) -> None:
    m = dn.mechanism(name, k=100, epsilon=1.0)
    found = dn.poisoning(m, 10)
    assert found.together >= FOUND[name] - 0.1
    assert found.together <= 10 * found.most * (1 + 1e-12)
    spread = dn.poisoning(m, list(range(0, 100, 10)))
    assert found.reached >= spread.together - 1e-9
    assert found.rule == ("at most" if name == "mss" else "exact")


@pytest.mark.parametrize("name", ["hr", "rhr", "hpgr", "mss", "orr", "cms", "hcms", "orappor"])
def test_no_report_adds_more_to_any_set_than_is_said(name: str) -> None:
    m = dn.mechanism(name, k=60, epsilon=2.0)
    found, random = dn.poisoning(m, 5), np.random.default_rng(4)
    for payload in np.asarray(m.privatize(random.integers(60, size=300), seed=1).data):
        own = np.sort(m.unbiased(m.summarize(np.array([payload]))))
        assert own[-5:].sum() <= found.together * (1 + 1e-9)
        assert found.least - 1e-9 <= own[0]
        assert own[-1] <= found.most + 1e-9
    assert found.reached <= found.together


def test_of_many_values_of_a_sketch_some_are_tried_and_the_answer_says_so() -> None:
    m = dn.mechanism("orappor", k=600, epsilon=2.0)
    found = dn.poisoning(m, 3)
    assert found.rule == "of the values tried"
    assert "others may gain more" in str(found)
    assert "a bound;" in str(dn.poisoning(dn.mechanism("orappor", k=40, epsilon=2.0), 3))
