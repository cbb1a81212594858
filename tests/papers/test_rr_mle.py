"""The experiments on the likelihood of randomised response: measures run, judges judge, wrong estimators are seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.estimation.channel import PureChannel
from papers.frame.data import VARIABLE
from papers.frame.experiment import FAILS, HOLDS, IN_PART, NOT_RUN, UNDECIDED, Experiment
from papers.frame.library import experiments
from papers.frame.rows import Rows
from papers.rr_mle.columns import INCOME_FILE, column
from papers.rr_mle.iterations import checkpoints, falling, not_reached, reached, takes_about, updated
from papers.rr_mle.statements import EXACT, PRINTED, SEVERAL
from papers.rr_mle.timing import ITERATED, far_faster, near_linear
from papers.rr_mle.verdicts import (
    adds_up,
    falls_like_one_over_n,
    grows_like_k,
    near_half,
    off_the_line,
    right_ratio,
)
from tests.papers.experiments import shrunk, verdicts

SMALL: dict[str, dict[str, Any]] = {
    "figure-1": {"k": [50], "epsilon": [1.0], "skew": [2.5]},
    "figure-2": {"k": [50], "n": [1000], "skew": [1.3]},
    "figure-3": {"dataset": ["PUMA"], "epsilon": [4.0]},
    "figure-4": {"n": [10**4], "skew": [1.3], "epsilon": [2.0], "k": [50], "iterations": [2000]},
    **{f"figure-{number}": {"k": [50], "epsilon": [2.0], "skew": [1.3]} for number in range(5, 11)},
    "table-1": {"k": [100, 1000], "epsilon": [4.0], "n": [1000], "repeats": [1]},
    "validity": {"k": [50], "epsilon": [1.0], "n": [1000, 100_000], "draws": [10]},
    "bias": {"k": [20], "epsilon": [1.0], "n": [1000], "skew": [1.3], "draws": [20]},
    "theorem-1": {"k": [50], "epsilon": [1.0], "n": [1000], "skew": [1.3]},
    "algorithm-1": {"k": [100], "epsilon": [2.0], "n": [1000], "skew": [0.01]},
    "theorem-2": {"k": [10], "epsilon": [2.0], "n": [10**5]},
    "equation-8": {"k": [10], "epsilon": [1.0], "frequency": [0.3], "n": [1000], "draws": [200]},
    "theorem-9": {"k": [10, 100], "epsilon": [1.0], "skew": [1.3], "n": [10**8, 10**10]},
}


@pytest.fixture(autouse=True)
def _without_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def small(name: str, repeats: int = 2, **changes: Any) -> Experiment:
    return shrunk(f"rr_mle/{name}", {**SMALL[name], **changes}, repeats)


def test_every_figure_table_and_statement_has_a_small_setting() -> None:
    assert {each.name for each in experiments(["rr_mle"])} == set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_every_measure_gives_finite_numbers_and_a_verdict(name: str, tmp_path: Path) -> None:
    kinds = verdicts(small(name), tmp_path)  # small settings lack some of the cells that some claims are about
    assert FAILS not in kinds or name in {"algorithm-1", "equation-8", "theorem-9", "figure-4", "table-1"}
    assert set(kinds) != {NOT_RUN}


def _least_frequent(counts: Any, *_: Any) -> Any:
    """A distribution, and a bad guess: all on the value with the fewest reports."""
    guess = np.zeros(len(counts))
    guess[np.argmin(counts)] = 1.0
    return guess


def test_a_planted_wrong_maximum_turns_the_verdicts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("figure-1", "figure-8", "theorem-1", "theorem-2")
    for name in names:
        assert FAILS not in verdicts(small(name, repeats=6), tmp_path / "right")
    monkeypatch.setattr("deniable.estimation.methods.likelihood.most_likely", _least_frequent)
    planted = {name: verdicts(small(name, repeats=6), tmp_path / "planted") for name in names}
    assert planted["figure-1"][0] == FAILS  # never the worst
    assert planted["figure-1"][4] == FAILS  # always the most likely
    assert planted["figure-8"] == [FAILS]
    assert planted["theorem-1"] == [FAILS, FAILS]
    assert planted["theorem-2"][:2] == [FAILS, FAILS]


def test_a_planted_goal_is_not_where_the_iterations_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert verdicts(small("figure-4"), tmp_path / "right")[0] == HOLDS
    monkeypatch.setattr("deniable.estimation.methods.likelihood.most_likely", _least_frequent)
    assert verdicts(small("figure-4"), tmp_path / "planted")[0] == FAILS


def test_a_planted_shift_of_the_unbiased_estimate_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = verdicts(small("validity"), tmp_path / "right")
    assert right[2] == HOLDS
    monkeypatch.setattr(PureChannel, "unbiased", lambda _, counts, n: counts / n + 0.1)
    assert verdicts(small("validity"), tmp_path / "planted")[2] == FAILS
    assert verdicts(small("equation-8"), tmp_path / "planted")[1] == FAILS


def _run(distances: list[float], **more: Any) -> list[dict[str, Any]]:
    setting = {"n": 10, "epsilon": 1.0, "skew": 1.3, "seed": 0, **more}
    return [{**setting, "iteration": 1000 * place, "distance": each} for place, each in enumerate(distances)]


def test_an_iteration_is_read_off_between_checkpoints() -> None:
    assert reached(Rows(_run([1e-1, 1e-2, 1e-4]))) == pytest.approx(1500)
    assert reached(Rows(_run([1e-1, 1e-2]))) is None
    assert reached(Rows(_run([1e-4, 1e-5]))) == 0
    assert checkpoints(2500) == [0, 10, 100, 300, 1000, 2000, 2500]


def test_numbers_of_iterations_are_judged() -> None:
    rows = Rows(_run([1e-1, 1e-2, 1e-4]))
    assert takes_about(1500, 10, 1.0)(rows).kind == HOLDS
    assert takes_about(1500, 10, 1.0, fitted=True)(rows).kind == UNDECIDED
    assert takes_about(9000, 10, 1.0, fitted=True)(rows).kind == FAILS
    assert takes_about(2500, 10, 1.0)(rows).kind == IN_PART
    assert takes_about(9000, 10, 1.0)(rows).kind == FAILS
    assert takes_about(1500, 10, 1.0)(Rows(_run([1e-1, 1e-2]))).kind == FAILS
    assert takes_about(1500, 11, 1.0)(rows).kind == NOT_RUN
    assert not_reached(10, 1.0)(rows).kind == FAILS
    assert not_reached(10, 1.0)(Rows(_run([1e-1, 1e-2]))).kind == HOLDS
    assert falling(rows).kind == HOLDS
    assert falling(Rows(_run([1e-1, 1e-2, 2e-2]))).kind == FAILS


def test_one_update_is_the_published_one() -> None:
    import deniable as dn

    server = dn.mechanism("grr", k=3, epsilon=1.0)
    operator, channel = server.operator(), server.channel
    assert operator is not None
    assert channel is not None
    phi, theta = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
    matrix = np.full((3, 3), float(channel.q)) + np.eye(3) * float(channel.gain)
    expected = [sum(phi[j] * theta[i] * matrix[i, j] / (theta @ matrix[:, j]) for j in range(3)) for i in range(3)]
    assert updated(theta, phi, operator, 1) == pytest.approx(expected, rel=1e-14)


def test_shares_of_negative_estimates_are_judged() -> None:
    def rows(*shares: float) -> Rows:
        return Rows({"kind": "counted", "expected": 20.0, "share": share} for share in shares)

    assert near_half(rows(0.45, 0.52)).kind == HOLDS
    assert near_half(rows(0.45, 0.9)).kind == IN_PART
    assert near_half(rows(0.1, 0.9)).kind == FAILS


def test_sums_and_ratios_are_judged() -> None:
    assert adds_up(EXACT)(Rows([{"sum": EXACT, "off": 0.0, "k": 5}])).kind == HOLDS
    assert adds_up(EXACT)(Rows([{"sum": EXACT, "off": 1e-8, "k": 5}])).kind == FAILS

    def ratios(value: float) -> Rows:
        cell = {"k": 2, "epsilon": 1.0, "frequency": 0.0, "draws": 1000}
        return Rows({**cell, "formula": PRINTED, "ratio": value, "seed": seed} for seed in range(3))

    assert right_ratio(PRINTED)(ratios(1.02)).kind == HOLDS
    assert right_ratio(PRINTED)(ratios(1.5)).kind == FAILS


def test_rates_are_judged() -> None:
    def rows(rate_n: float, rate_k: float) -> Rows:
        return Rows(
            {"k": k, "epsilon": 1.0, "skew": 1.3, "method": "Inv", "n": n, "seed": 0, "total": k**rate_k * n**rate_n}
            for k in (10, 100)
            for n in (100.0, 1000.0)
        )

    assert falls_like_one_over_n(rows(-1.0, 1.0)).kind == HOLDS
    assert falls_like_one_over_n(rows(-0.5, 1.0)).kind == IN_PART
    assert falls_like_one_over_n(rows(0.1, 1.0)).kind == FAILS
    assert grows_like_k(rows(-1.0, 1.0)).kind == HOLDS
    assert grows_like_k(rows(-1.0, 2.0)).kind == FAILS


def test_lines_that_are_left_are_judged() -> None:
    assert off_the_line(Rows([{"case": SEVERAL, "off": 0.1}])).kind == HOLDS
    assert off_the_line(Rows([{"case": SEVERAL, "off": 1e-12}])).kind == FAILS


def test_times_are_judged() -> None:
    def rows(factor: float, power: float) -> Rows:
        return Rows(
            {"k": k, "method": method, "milliseconds": scale * k**power}
            for k in (100, 1000, 10_000)
            for method, scale in (("MLE*", 1.0), (ITERATED, factor))
        )

    assert far_faster(rows(20.0, 1.0)).kind == HOLDS
    assert far_faster(rows(2.0, 1.0)).kind == FAILS
    assert near_linear("MLE*")(rows(20.0, 1.0)).kind == HOLDS
    assert near_linear("MLE*")(rows(20.0, 2.0)).kind == FAILS


@pytest.mark.parametrize("judge", [near_half, falls_like_one_over_n, grows_like_k, off_the_line, far_faster, falling])
def test_nothing_is_judged_from_nothing(judge: Any) -> None:
    assert judge(Rows([])).kind == NOT_RUN


def test_columns_are_labelled_stand_ins_unless_the_file_is_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Kosarak", "PUMA", "PINCP"):
        found = column(name)
        assert found.label.startswith("stand-in")
        assert found.counts().shape == (found.k,)
    (tmp_path / INCOME_FILE).write_text("value,count\n-5,7\n100,2\n30000,3\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    real = column("PINCP")
    assert "stand-in" not in real.label
    users = real.counts()
    assert users.sum() == 5
    assert users[0] == 2
    assert users[29_900] == 3
