"""Experiments on modular subset selection: small cells of each, judges on rows made by hand, and a planted fault."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.operators.residues import ResidueSystem, identifies
from papers.frame.cache import Cache
from papers.frame.experiment import FAILS, HOLDS, IN_PART, NOT_RUN, UNDECIDED, Grid
from papers.frame.record import judged
from papers.frame.rows import Rows
from papers.frame.runner import run
from papers.mss import (
    EXPERIMENTS,
    attack,
    attack_figure,
    communication,
    conditioning,
    exactness,
    formulas,
    times,
    utility,
)
from papers.mss.dynamic_program import supported
from papers.mss.oracles import THEIRS, made, optimum
from papers.mss.published_moduli import drawn_moduli, fallback, primes, subset_size
from papers.mss.published_numbering import attack_rates, vectors
from papers.mss.theory import reconstruction_bound, regularized, system_condition

SMALL: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (utility.measure, {"k": 60, "n": 500, "epsilon": 2.0}),
    (communication.measure, {"k": 100, "epsilon": 2.0}),
    (attack.measure, {"k": 60, "n": 200, "epsilon": 2.0, "rounding": "nearest"}),
    (formulas.measure, {"k": 60, "epsilon": 2.0}),
    (times.measure, {"k": 100, "n": 200, "epsilon": 2.0}),
    (exactness.privacy, {"case": [5, [3, 4]], "epsilon": 1.0}),
    (exactness.privacy, {"case": [100, []], "epsilon": 1.0}),
    (exactness.bias, {"case": [5, [3, 4]], "epsilon": 1.0}),
    (conditioning.errors, {"k": 60, "number": 3, "epsilon": 1.0}),
    (conditioning.conditions, {"case": [200, 3, 6, "drawn"], "epsilon": 2.0}),
]


@pytest.mark.parametrize(("measure", "cell"), SMALL, ids=lambda each: getattr(each, "__name__", None))
def test_every_measure_gives_finite_numbers(measure: Callable[..., Any], cell: dict[str, Any]) -> None:
    rows = measure(seed=1, **cell)
    assert rows
    for row in rows:
        numbers = [value for value in row.values() if isinstance(value, float | int)]
        assert numbers
        assert all(math.isfinite(number) for number in numbers)


@pytest.mark.parametrize("measure", [utility.measure, attack.measure])
def test_the_same_seed_gives_the_same_rows(measure: Callable[..., Any]) -> None:
    cell = next(cell for each, cell in SMALL if each is measure)
    assert measure(seed=2, **cell) == measure(seed=2, **cell)


def test_all_entries_are_there_and_say_nothing_before_they_are_run() -> None:
    figures, theorems = [f"figure-{place}" for place in (1, 2, 3)], [f"theorem-{place}" for place in (1, 2, 3, 4)]
    assert {each.name for each in EXPERIMENTS} == {*figures, "table-1", "table-2", *theorems}
    for each in EXPERIMENTS:
        assert {verdict.kind for _, verdict in each.judged(Rows([]))} <= {NOT_RUN}, each.id


def test_a_wrong_estimator_turns_the_verdict_on_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = Grid({"k": [60], "n": [1000], "epsilon": [2.0]}, repeats=8)
    tiny = replace(utility.FIGURE_1, quick=grid)
    run([tiny], Cache(tmp_path / "right"))
    assert judged(tiny, Cache(tmp_path / "right")).verdicts[0][1].kind == UNDECIDED
    right = dn.ModularSubsetSelection.unbiased
    monkeypatch.setattr(dn.ModularSubsetSelection, "unbiased", lambda self, summary: 2 * right(self, summary))
    run([tiny], Cache(tmp_path / "wrong"))
    assert judged(tiny, Cache(tmp_path / "wrong")).verdicts[0][1].kind == FAILS


def test_a_wrong_estimator_turns_the_verdict_on_unbiasedness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = replace(exactness.THEOREM_2, quick=Grid({"case": [[5, [3, 4]]], "epsilon": [1.0]}))
    right = dn.ModularSubsetSelection.unbiased
    monkeypatch.setattr(dn.ModularSubsetSelection, "unbiased", lambda self, summary: 1.01 * right(self, summary))
    run([tiny], Cache(tmp_path))
    assert judged(tiny, Cache(tmp_path)).verdicts[0][1].kind == FAILS


def test_primes_and_sizes_of_subsets() -> None:
    assert primes(2, 20).tolist() == [2, 3, 5, 7, 11, 13, 17, 19]
    assert primes(7.5, 11).tolist() == [11]
    assert [subset_size(10, 1.0), subset_size(10, 1.0, "nearest"), subset_size(2, 5.0)] == [2, 3, 1]


@pytest.mark.parametrize("k", [30, 100])
def test_drawn_moduli_are_primes_that_determine_the_histogram(k: int) -> None:
    for moduli in (drawn_moduli(k, 1.0, 0), fallback(k)):
        assert identifies(k, moduli)
        assert set(moduli) <= set(primes(2, k).tolist())


def test_another_seed_draws_other_moduli() -> None:
    assert drawn_moduli(60, 1.0, 0) != drawn_moduli(60, 1.0, 1)
    assert drawn_moduli(60, 1.0, 0) == drawn_moduli(60, 1.0, 0)


@pytest.mark.parametrize(("q", "t"), [(2, 2), (3, 2), (2, 4), (3, 3), (5, 3), (3, 4)])
def test_the_dynamic_program_counts_reports_on_hyperplanes(q: int, t: int) -> None:
    points = vectors(q, t)
    assert len({tuple(point) for point in points.tolist()}) == len(points) == (q**t - 1) // (q - 1)
    reports = np.random.default_rng(q * t).integers(0, 9, len(points)).astype(float)
    np.testing.assert_array_equal(supported(reports, q, t), (points @ points.T % q == 0) @ reports)


def test_attack_rates_of_the_published_numbering_average_to_the_mechanisms_own() -> None:
    m = dn.ProjectiveGeometryResponse(40, 1.0, q=7, t=3)
    exact = [float(row) for row in attack_rates(7, 3, 57, 1.0)]
    assert exact == pytest.approx([float(dn.ProjectiveGeometryResponse(57, 1.0, q=7, t=3).reconstruction_rate())] * 57)
    # every report supports some value, in both numberings
    assert attack_rates(7, 3, 40, 1.0).mean() == pytest.approx(float(m.reconstruction_rate()), rel=0.02)


@pytest.mark.parametrize("name", [*THEIRS, "csr", "clh"])
def test_guesses_are_right_as_often_as_the_exact_rate_says(name: str) -> None:
    k, each = 40, 400
    mechanism = made(name, k, 2.0)
    assert mechanism is not None
    rate, n = float(mechanism.reconstruction_rate()), k * each
    guessed = attack.guessed(mechanism, np.full(k, each), 5)
    assert abs(guessed - rate) < 4.5 * math.sqrt(rate * (1 - rate) / n)


def test_errors_of_all_senders_average_to_the_mechanisms_variance() -> None:
    k, moduli = 60, (29, 37, 43)
    sizes = tuple(subset_size(m, 2.0) for m in moduli)
    mechanism = dn.ModularSubsetSelection(k, 2.0, moduli=moduli, sizes=sizes)
    v0, v1, _ = mechanism.noise("users")
    condition, errors = conditioning.senders(k, moduli, 2.0)
    assert errors.mean() == pytest.approx(v0 + v1 / k, rel=1e-9)
    assert condition**2 == pytest.approx(system_condition(mechanism.system), rel=1e-6)


def test_one_modulus_of_all_values_has_the_error_of_subset_selection() -> None:
    ss = dn.mechanism("ss", k=20, epsilon=1.0, w=subset_size(20, 1.0))
    v0, v1, _ = ss.noise("users")
    condition, errors = conditioning.senders(20, (20,), 1.0)
    assert condition == pytest.approx(1.0)
    np.testing.assert_allclose(errors, v0 + v1 / 20, rtol=1e-9)


def test_the_tuple_that_breaks_the_bound_of_theorem_4() -> None:
    (row,) = conditioning.conditions(0, [600, 3, 6, conditioning.FIXED], 2.0)
    assert row["condition"] == pytest.approx(43.2, abs=0.1)
    assert row["bound"] == pytest.approx(2.69, abs=0.01)
    assert conditioning.published_bound(600, 3, 2, 2.0) is None


def _verdict(name: str, place: int, rows: list[dict[str, Any]]) -> Any:
    experiment = next(each for each in EXPERIMENTS if each.name == name)
    return experiment.claims[place].judge(Rows(rows))


def test_speeds_are_judged_over_all_epsilons() -> None:
    def rows(*seconds: float) -> list[dict[str, Any]]:
        own = [{"epsilon": at, "method": "mss", "seconds": 1.0} for at in range(len(seconds))]
        return own + [{"epsilon": at, "method": times.PROGRAM, "seconds": each} for at, each in enumerate(seconds)]

    kinds = [_verdict("table-2", 0, rows(*each)).kind for each in [(2.0, 3.0), (2.0, 0.5), (0.3, 0.5)]]
    assert kinds == [HOLDS, IN_PART, FAILS]


def test_published_numbers_are_judged_by_how_far_off_they_are() -> None:
    def rows(*offs: float) -> list[dict[str, Any]]:
        common = {"k": 10, "epsilon": 1.0, "method": "grr", "quantity": formulas.BITS, "said": 1.0, "exact": 1.0}
        return [{**common, "off": off} for off in offs]

    kinds = [_verdict("table-1", 0, rows(*each)).kind for each in [(0.0, 0.0), (0.0, 0.3), (0.2, 0.3)]]
    assert kinds == [HOLDS, IN_PART, FAILS]


def test_errors_are_judged_against_the_bound() -> None:
    def rows(*shares: float) -> list[dict[str, Any]]:
        common = {
            "k": 10,
            "epsilon": 1.0,
            "group": "larger",
            "moduli": "3 11",
            "value": 0,
            "loss": 1.0,
            "condition": 1.0,
        }
        return [{**common, "of_bound": share} for share in shares]

    kinds = [_verdict("theorem-3", 1, rows(*each)).kind for each in [(0.5, 1.0), (*[0.5] * 10, 1.1), (0.5, 1.1)]]
    assert kinds == [HOLDS, IN_PART, FAILS]


def test_bounds_on_condition_numbers_are_judged_one_by_one() -> None:
    row = {"kind": conditioning.DRAWN, "condition": 2.0, "gram_condition": 4.0, "bound": 3.0}
    assert _verdict("theorem-4", 0, [row]).kind == HOLDS
    assert _verdict("theorem-4", 0, [row, {**row, "condition": 3.1}]).kind == FAILS


def test_attack_rates_are_split_into_sizes_of_subsets_and_places_of_values() -> None:
    cell = {"k": 10, "rounding": "floor", "epsilon": 1.0, "seed": 0}
    rows = [
        {**cell, "method": "ss", "rate": 0.4, "uniform": 0.4, "shares": 0.4},
        {**cell, "method": "mss", "rate": 0.1, "uniform": 0.2, "shares": 0.2},
    ]
    split = attack_figure.FIGURE_3.claims[-1].judge
    verdict = split(Rows(rows))
    assert verdict.kind == HOLDS
    assert "gives 50% of it" in verdict.numbers
    assert split(Rows([{**row, "uniform": 0.3} for row in rows])).kind == FAILS


def test_the_optimum_is_that_of_the_paper() -> None:
    assert optimum(1.0, 100) == pytest.approx(4 * math.e / (100 * (math.e - 1) ** 2))


def test_the_attack_rate_is_the_papers_bound_where_moduli_divide_k_and_more_elsewhere() -> None:
    even, odd = (
        dn.ModularSubsetSelection(12, 1.0, moduli=(4, 12 - 1)),
        dn.ModularSubsetSelection(6, 1.0, moduli=(2, 3, 5)),
    )
    assert odd.reconstruction_rate() > reconstruction_bound(odd)
    alone = dn.ModularSubsetSelection(12, 1.0, moduli=(12,))
    assert alone.reconstruction_rate() == reconstruction_bound(alone)
    assert even.reconstruction_rate() > reconstruction_bound(even)


def test_a_ridge_shrinks_and_none_changes_nothing() -> None:
    m = dn.ModularSubsetSelection(5, 1.0, moduli=(3, 4))
    summary = m.summarize(m.privatize([0, 1, 2, 3, 4] * 100, seed=1))
    np.testing.assert_allclose(regularized(m, summary, 0.0), m.unbiased(summary), rtol=1e-12)
    assert np.linalg.norm(regularized(m, summary, 0.5)) < np.linalg.norm(m.unbiased(summary))


def test_the_condition_number_of_a_large_system_is_that_of_its_matrix() -> None:
    system = ResidueSystem(400, (199, 211, 223, 227), (1.0, 1.0, 0.9, 1.1))
    values = np.linalg.eigvalsh(system.matrix())
    assert system_condition(system) == pytest.approx(values[-1] / values[0], rel=1e-3)
