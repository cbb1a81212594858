"""Verdicts on planted data: no claim holds without support, each states its power, and each is a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from papers.frame.cells import WRONG, State, below, levels
from papers.frame.experiment import FAILS, HOLDS, IN_PART, NOT_RUN, SLIP, UNDECIDED, Claim, Verdict
from papers.frame.judging import (
    alike,
    always_lowest,
    between,
    centred,
    exact,
    never_above,
    never_worst,
    only,
    share_of,
    signed,
)
from papers.frame.rows import Rows


def _rows(*means: tuple[str, float], spread: float = 0.01, repeats: int = 20) -> Rows:
    draw = np.random.default_rng(0)
    return Rows(
        {"cell": 0, "method": name, "seed": seed, "mse": mean + spread * draw.normal()}
        for name, mean in means
        for seed in range(repeats)
    )


def _planted(times: float, *, cells: int, seeds: int, noise: float, seed: int) -> Rows:
    """A is `times` B in every cell, with log-normal noise."""
    draw = np.random.default_rng(seed)
    return Rows(
        {"cell": c, "seed": s, "method": m, "l1": float(draw.lognormal(np.log(times) * (m == "A"), noise))}
        for c in range(cells)
        for s in range(seeds)
        for m in "AB"
    )


ALIKE = alike("l1", "A", "B", by=("cell",), slack=0.05)
NEVER_ABOVE = never_above("l1", "A", ["B"], by=("cell",))
CLEARLY = never_above("l1", "A", ["B"], by=("cell",), slack=-0.05)


def test_few_noisy_seeds_do_not_make_methods_alike() -> None:
    verdict = ALIKE(_planted(1.3, cells=4, seeds=4, noise=0.3, seed=1))
    assert verdict.kind == UNDECIDED
    assert verdict.numbers.startswith("True in 0 of 4 settings; too close to tell in 4 (")


@pytest.mark.parametrize("judge", [ALIKE, NEVER_ABOVE, CLEARLY])
def test_one_run_supports_nothing(judge: Callable[[Rows], Verdict]) -> None:
    verdict = judge(_planted(1.0, cells=3, seeds=1, noise=0.0, seed=0))
    assert verdict.kind == UNDECIDED
    assert "one run only" in verdict.power


@pytest.mark.parametrize(("seeds", "least_contradicted"), [(3, 0), (4, 0), (6, 0), (10, 30), (15, 38)])
def test_a_false_claim_is_not_said_to_hold_however_few_the_seeds(seeds: int, least_contradicted: int) -> None:
    trials = (_planted(1.3, cells=20, seeds=seeds, noise=0.15, seed=trial) for trial in range(40))
    kinds = Counter(NEVER_ABOVE(rows).kind for rows in trials)
    assert kinds[HOLDS] == 0
    assert kinds[IN_PART] == 0
    assert kinds[FAILS] >= least_contradicted
    assert kinds[UNDECIDED] + kinds[FAILS] == 40


def test_a_claim_that_is_false_in_one_setting_of_many_does_not_hold_either() -> None:
    kinds = []
    for trial in range(40):
        right = _planted(0.7, cells=19, seeds=4, noise=0.05, seed=trial)
        wrong = ({**row, "cell": 19} for row in _planted(1.3, cells=1, seeds=4, noise=0.15, seed=1000 + trial))
        kinds.append(NEVER_ABOVE(Rows([*right, *wrong])).kind)
    assert kinds.count(HOLDS) <= 2  # at most 1% of them


def test_at_the_edge_of_a_claim_it_holds_as_rarely_as_is_said() -> None:
    kinds = [CLEARLY(_planted(0.95, cells=1, seeds=5, noise=0.1, seed=trial)).kind for trial in range(2000)]
    for kind in (HOLDS, FAILS):
        assert kinds.count(kind) <= 2000 * WRONG + 5 * (2000 * WRONG) ** 0.5


def test_enough_seeds_decide_both_ways() -> None:
    assert ALIKE(_planted(1.0, cells=4, seeds=60, noise=0.05, seed=0)).kind == HOLDS
    assert ALIKE(_planted(1.3, cells=4, seeds=60, noise=0.05, seed=0)).kind == FAILS
    assert NEVER_ABOVE(_planted(1.0, cells=4, seeds=200, noise=0.05, seed=0)).kind == HOLDS
    assert CLEARLY(_planted(0.9, cells=4, seeds=60, noise=0.05, seed=0)).kind == HOLDS
    assert CLEARLY(_planted(0.97, cells=4, seeds=200, noise=0.02, seed=0)).kind == FAILS


def test_clearly_better_in_half_of_the_settings_is_not_decided() -> None:
    far = _planted(0.7, cells=2, seeds=6, noise=0.05, seed=0)
    near = ({**row, "cell": row["cell"] + 2} for row in _planted(0.96, cells=2, seeds=6, noise=0.05, seed=1))
    verdict = CLEARLY(Rows([*far, *near]))
    assert verdict.kind == UNDECIDED
    assert verdict.numbers.startswith("True in 2 of 4 settings; too close to tell in 2")


def test_the_stated_power_is_the_share_of_planted_differences_that_are_found() -> None:
    seeds, noise, used = 6, 0.05, levels(10)
    # the difference that noise of a known size lets through in 90% of cases
    pairs = [_rows(("a", 1.0), ("b", 1.0), spread=noise, repeats=2000)]
    known = below(pairs[0], "mse", "method", "a", "b")
    error = known.error * (2000 / seeds) ** 0.5
    planted = type(known)(0.0, error, seeds - 1).detectable(used)
    draw, found = np.random.default_rng(5), 0
    for _ in range(600):
        rows = Rows(
            {"cell": 0, "method": m, "seed": s, "mse": 1 + planted * (m == "a") + noise * draw.normal()}
            for m in "ab"
            for s in range(seeds)
        )
        found += below(rows, "mse", "method", "a", "b").state(used) == State.AGAINST
    assert 0.85 <= found / 600 <= 0.95


def test_every_comparison_states_its_power() -> None:
    rows = _rows(("a", 1.0), ("m", 1.5), ("b", 2.0))
    for judge in (
        never_above("mse", "a", ["b"], by=["cell"]),
        never_worst("mse", "m", ["a", "b"], by=["cell"]),
        between("mse", "m", ("a", "b"), by=["cell"]),
        alike("mse", "a", "b", by=["cell"], slack=0.1),
        centred("mse", "a", by=["cell"], within=2.0),
        signed("mse", "a", 1, by=["cell"]),
    ):
        assert "would be seen with 90% probability" in judge(rows).power
    assert "no noise" in never_above("mse", "a", ["b"], by=["cell"])(_rows(("a", 1.0), ("b", 2.0), spread=0.0)).power


def test_a_difference_within_the_noise_counts_for_nobody_unless_the_noise_is_small() -> None:
    judge = never_above("mse", "a", ["b"], by=["cell"])
    assert judge(_rows(("a", 1.0), ("b", 1.0), spread=0.2)).kind == UNDECIDED
    assert judge(_rows(("a", 1.0), ("b", 1.0), spread=0.001, repeats=60)).kind == HOLDS
    assert judge(_rows(("a", 1.0), ("b", 1.0), spread=0.0)).kind == HOLDS


def test_a_claim_that_holds_in_most_cells_holds_in_part_and_says_where_not() -> None:
    cells = [(1.0, 2.0)] * 3 + [(2.0, 1.0)]
    rows = Rows({**row, "cell": cell} for cell, (a, b) in enumerate(cells) for row in _rows(("a", a), ("b", b)))
    verdict = never_above("mse", "a", ["b"], by=["cell"])(rows)
    assert verdict.kind == IN_PART
    assert verdict.numbers.startswith("True in 3 of 4 settings; false in 1 (cell = 3): the mean squared error of a is")
    assert verdict.numbers.endswith("times that of b (cell = 3)")


def test_slack_allows_about_the_same() -> None:
    rows = _rows(("a", 1.05), ("b", 1.0))
    assert never_above("mse", "a", ["b"], by=["cell"])(rows).kind == FAILS
    assert never_above("mse", "a", ["b"], by=["cell"], slack=0.1)(rows).kind == HOLDS


def test_being_alike_looks_at_both_sides() -> None:
    judge = alike("mse", "a", "b", by=["cell"], slack=0.1)
    assert judge(_rows(("a", 1.05), ("b", 1.0))).kind == HOLDS
    assert judge(_rows(("a", 1.2), ("b", 1.0))).kind == FAILS
    assert judge(_rows(("a", 0.8), ("b", 1.0))).kind == FAILS


def test_between_looks_at_both_ends() -> None:
    judge = between("mse", "m", ("a", "b"), by=["cell"])
    assert judge(_rows(("a", 1.0), ("m", 1.5), ("b", 2.0))).kind == HOLDS
    assert judge(_rows(("a", 1.0), ("m", 2.5), ("b", 2.0))).kind == FAILS
    assert judge(_rows(("a", 1.0), ("m", 0.5), ("b", 2.0))).kind == FAILS


def test_the_worst_of_several_is_found_and_the_middle_is_not() -> None:
    judge = never_worst("mse", "m", ["a", "b"], by=["cell"])
    assert judge(_rows(("a", 1.0), ("m", 1.5), ("b", 2.0))).kind == HOLDS
    assert judge(_rows(("a", 1.0), ("m", 2.5), ("b", 2.0))).kind == FAILS
    assert judge(_rows(("a", 1.0), ("m", 2.0), ("b", 2.0), spread=0.5)).kind == UNDECIDED


def test_the_lowest_each_time_is_not_the_lowest_on_average() -> None:
    judge = always_lowest("mse", "a", by=["cell"])
    assert judge(_rows(("a", 1.0), ("b", 2.0))).kind == HOLDS
    assert judge(_rows(("a", 2.0), ("b", 1.0))).kind == FAILS
    assert judge(_rows(("a", 1.0), ("b", 1.01))).kind != HOLDS


def test_a_judge_can_be_shown_some_rows_only() -> None:
    rows = Rows([*_rows(("a", 1.0), ("b", 2.0)), *({**row, "cell": 1} for row in _rows(("a", 2.0), ("b", 1.0)))])
    judge = never_above("mse", "a", ["b"], by=["cell"])
    assert judge(rows).kind == IN_PART
    assert only(judge, cell=0)(rows).kind == HOLDS
    assert only(judge, cell=1)(rows).kind == FAILS


def test_a_mean_of_zero_is_told_from_one_that_is_not_and_from_one_that_is_not_known() -> None:
    judge = centred("mse", "a", by=["cell"], within=0.02)
    assert judge(_rows(("a", 0.0), ("b", 1.0))).kind == HOLDS
    assert judge(_rows(("a", 0.1), ("b", 0.0))).kind == FAILS
    assert judge(_rows(("a", 0.0), ("b", 0.0), spread=1.0)).kind == UNDECIDED
    assert judge(Rows([])).kind == NOT_RUN


def test_a_mean_has_a_sign_only_where_it_is_sure() -> None:
    above, under = signed("mse", "a", 1, by=["cell"]), signed("mse", "a", -1, by=["cell"])
    assert [judge(_rows(("a", 0.1))).kind for judge in (above, under)] == [HOLDS, FAILS]
    both = Rows([*_rows(("a", 0.1)), *({**row, "cell": 1} for row in _rows(("a", 1e-4), spread=1.0))])
    assert above(both).kind == UNDECIDED
    assert above(Rows([])).kind == NOT_RUN


def test_without_results_nothing_is_judged() -> None:
    empty = Rows([])
    for judge in (
        never_above("mse", "a", ["b"], by=["cell"]),
        never_worst("mse", "a", ["b"], by=["cell"]),
        always_lowest("mse", "a", by=["cell"]),
        exact(lambda _: True, lambda _: ""),
        share_of(lambda _: True, "all"),
    ):
        assert judge(empty).kind == NOT_RUN


def test_shares_hold_in_part_and_fail() -> None:
    rows = Rows({"good": place < 95} for place in range(100))
    assert share_of(lambda row: row["good"], "good")(rows).kind == IN_PART
    assert share_of(lambda row: not row["good"], "bad")(rows).kind == FAILS


def test_a_slip_in_print_is_told_from_a_contradiction() -> None:
    rows = _rows(("a", 2.0), ("b", 1.0))
    wrong = never_above("mse", "a", ["b"], by=["cell"])
    assert Claim("a <= b", wrong).judged(rows).kind == FAILS
    assert Claim("a <= b", wrong, slip="a >= b").judged(rows).kind == SLIP
    assert Claim("b <= a", never_above("mse", "b", ["a"], by=["cell"]), slip="").judged(rows).kind == HOLDS
    assert Claim("b <= a", never_above("mse", "b", ["a"], by=["cell"]), slip="none").judged(rows).kind == HOLDS
