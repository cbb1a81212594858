"""The Hadamard count mean sketch: its channel, its error beside the published one, its likelihood."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from tests.contract import checks as contract
from tests.contract.cases import Case, Refused
from tests.contract.vectors import FOUR, STRINGS, Vector
from tests.contract.vectors import OPEN as PAGES
from tests.naive import hadamard as naive

OPEN = dn.Domain.open()

CASE = Case(
    "hcms",
    small=[
        {"k": 3, "epsilon": 0.5, "cohorts": 5, "buckets": 2},
        {"k": 2, "epsilon": 3.0, "cohorts": 1, "buckets": 4, "seed": 1},
        {"k": 4, "epsilon": 2.0, "cohorts": 2, "buckets": 8},
        {"k": 5, "epsilon": 1.0, "cohorts": 3, "buckets": 4},
        {"k": 7, "epsilon": 1.0, "cohorts": 5, "buckets": 4},
    ],
    few=lambda _: {"cohorts": 4, "buckets": 8},
    refused=Refused(11, 14),
    vectors={
        "labels": Vector({"labels": FOUR, "epsilon": 1.5, "cohorts": 5, "buckets": 8}, FOUR * 3),
        "open": Vector(
            {"domain": PAGES, "epsilon": 2.0, "cohorts": 7, "buckets": 32, "candidates": 8, "seed": 3}, STRINGS * 2
        ),
    },
)


def sketch(k: int = 5, cohorts: int = 3, buckets: int = 8, epsilon: float = 1.5) -> dn.HadamardSketch:
    return dn.HadamardSketch(dn.Domain.of(k), epsilon, cohorts=cohorts, buckets=buckets)


def test_the_channel_is_the_published_one_without_the_row_of_ones() -> None:
    # Apple 2017: the sign H[l, h_j(d)], turned with 1/(1 + e^epsilon)
    m, e = sketch(), math.exp(1.5)
    for payload in m.layout.all():
        pair, odd = divmod(payload, 2)
        cohort, row = divmod(pair, 7)
        for value in range(5):
            true = naive.sign(row + 1, m.functions.bucket(value, cohort)) == (-1 if odd else 1)
            wanted = (e if true else 1) / ((e + 1) * 3 * 7)
            assert float(m.probability(payload, value)) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("buckets", [2, 8, 64])
def test_leaving_out_the_row_of_ones_saves_what_the_published_scheme_spends_on_it(buckets: int) -> None:
    # what a report adds to the estimate of a value with another bucket; published reports with l = 0 add a constant
    m = dn.HadamardSketch(OPEN, 1.0, cohorts=64, buckets=buckets, candidates=10)
    truth, c = float(m.truth), 1 / float(m.gain)
    own, other = 1, 0

    def moments(rows: range, scale: float) -> tuple[float, float]:
        """Mean and mean square over rows and coins of scale c sign H[l, other], but nothing for l = 0."""
        adds = [(naive.sign(row, own) * naive.sign(row, other) if row else 0) * scale * c for row in rows]
        mean = sum(add * (2 * truth - 1) for add in adds) / len(rows)
        return mean, sum(add**2 for add in adds) / len(rows)

    wide = buckets / (buckets - 1)
    published, ours = moments(range(buckets), wide), moments(range(1, buckets), 1.0)
    assert published[0] == pytest.approx(ours[0]) == pytest.approx(-1 / (buckets - 1))
    assert ours[1] == pytest.approx(published[1] * (1 - 1 / buckets)) == pytest.approx(m.unit() * wide)


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
@pytest.mark.parametrize(("values", "cohorts", "buckets"), [(200, 32, 32), (300, 128, 8)])
def test_the_error_is_the_formula_s(epsilon: float, values: int, cohorts: int, buckets: int) -> None:
    m = dn.HadamardSketch(OPEN, epsilon, cohorts=cohorts, buckets=buckets, candidates=values)
    design = m.functions.design(OPEN.indices([f"string {number}" for number in range(values)]), complete=False)
    found = m.unit() * cohorts * float(design.inverse_sums[0].mean())
    e, y = math.exp(epsilon), values / (cohorts * (buckets - 1))
    assert found == pytest.approx(((e + 1) / (e - 1)) ** 2 / (1 - y), rel=0.04)


@pytest.mark.parametrize("unlisted", [False, True])
def test_the_operator_is_the_channel(unlisted: bool, seed: int) -> None:
    m = sketch()
    rows = [[float(m._probability(report, x)) for report in range(m.symbols)] for x in range(m.k)]
    matrix = np.array(rows + [[1 / m.symbols] * m.symbols] * unlisted)
    contract.check_operator_is(m.channel_of(m.whole_design, unlisted=unlisted), matrix, seed)


def test_the_most_likely_frequencies_are_better_on_skewed_data(seed: int) -> None:
    m = dn.mechanism("hcms", k=200, epsilon=2.0, cohorts=32, buckets=64)
    true = (30_000 / np.arange(1, 201) ** 1.5).astype(np.int64)
    summary = dn.simulate(m, true, seed=seed)
    plain, better = (m.estimate(summary, name).frequencies for name in ("unbiased", "mle"))
    assert m.estimate(summary).method == "mle"
    assert np.abs(better - true / true.sum()).sum() < 0.5 * np.abs(plain - true / true.sum()).sum()


def test_simulation_by_cells_and_by_users_have_the_same_law(seed: int) -> None:
    # many users of a bucket go to their coordinates at once, few one by one
    m, rng = sketch(cohorts=2, buckets=8), np.random.default_rng(seed)
    users = rng.integers(0, 30, (2, 8))
    rows = {"each": m._add_each, "cells": m._add_cells}
    runs, moments = 4000, {}
    for name, add in rows.items():
        drawn = np.zeros((runs, 2, 7, 2), np.int64)
        for run in range(runs):
            add(users, drawn[run], rng)
        assert (drawn.sum((2, 3)) == users.sum(1)).all()
        moments[name] = drawn.mean(0), drawn.std(0)
    (mean, spread), (other, wide) = moments["each"], moments["cells"]
    assert (np.abs(mean - other) <= 6.2 * np.sqrt((spread**2 + wide**2) / runs) + 1e-9).all()
    # the standard error of a standard deviation is its 1/sqrt(2 runs)
    assert (np.abs(spread - wide) <= 9 * spread / math.sqrt(2 * runs) + 1e-9).all()


def test_every_sign_seen_is_half_of_all_where_a_value_has_a_bucket_to_itself() -> None:
    # the sum over coordinates of the signs of two buckets is that of the transform
    m = sketch(k=2, cohorts=4, buckets=4)
    agree = sum(m.odd(pair, 0) == m.odd(pair, 1) for pair in range(12))
    apart = sum(m.functions.bucket(0, cohort) != m.functions.bucket(1, cohort) for cohort in range(4))
    assert agree == 12 - 2 * apart
