"""Noisy counts asked on the command line, as often as you like, from one release or from many parties."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

import deniable as dn
from deniable.cli.program import app
from tests.cli.command import run, succeed
from tests.cli.noisy import COUNTS, asked, expected


def options(question: str) -> set[str]:
    command = typer.main.get_command(app).commands["ask"].commands[question]  # type: ignore[attr-defined]
    return {option[2:].replace("-", "_") for each in command.params for option in each.opts if option.startswith("--")}


def test_every_question_is_a_command_with_its_parameters_and_no_others() -> None:
    shared = {"epsilon", "sensitivity", "column", "best", "combine", "level", "json"}
    for question in dn.ask.QUESTIONS:
        assert options(question.name) == shared | {parameter.name for parameter in question.parameters}


def test_all_questions_are_listed_with_one_line_each() -> None:
    listed = succeed("ask", "--list")
    assert [q.name for q in dn.ask.QUESTIONS if not re.search(rf"^ {q.name} ", listed, re.MULTILINE)] == []


PARAMETERS: dict[str, list[Any]] = {
    "moment": ["--power", 3],
    "threshold": ["--at", 20],
    "profile": ["--most", 40, "--fraction"],
    "quantile": ["--share", 0.3],
    "order-statistic": ["--k", 2],
    "entropy": ["--total", 490, "--base", 2],
    "divergence": ["--other", "other.csv", "--total", 490, "--other-total", 480],
    "simpson": ["--no-replacement"],
    "gini": ["--total", 490],
    "mean": ["--values", "1,2,3,4,5,6.5"],
    "ratio": ["--other", "other.csv"],
    "partition": ["--beta", 0.001],
    "stars": ["--k", 3],
    "triangles": ["--edges", 245],
    "degree-polynomial": ["--coefficients", "coefficients.txt"],
    "tree": ["--tree", '{"column": "cold", "threshold": 3, "yes": 0, "no": 7}'],
}
PYTHON: dict[str, dict[str, Any]] = {
    "moment": {"power": 3},
    "threshold": {"at": 20},
    "profile": {"most": 40, "fraction": True},
    "quantile": {"share": 0.3},
    "order-statistic": {"k": 2},
    "entropy": {"total": 490, "base": 2},
    "divergence": {"other": dn.DiscreteLaplace(1.0).release(COUNTS[::-1], seed=6), "total": 490, "other_total": 480},
    "simpson": {"replacement": False},
    "gini": {"total": 490},
    "mean": {"values": [1, 2, 3, 4, 5, 6.5]},
    "ratio": {"other": dn.DiscreteLaplace(1.0).release(COUNTS[::-1], seed=6)},
    "partition": {"beta": 0.001},
    "stars": {"k": 3},
    "triangles": {"edges": 245},
    "degree-polynomial": {"coefficients": [1, 0, 0.5]},
    "tree": {"tree": {"column": 1, "threshold": 3, "yes": 0, "no": 7}},
}


@pytest.mark.parametrize("name", [question.name for question in dn.ask.QUESTIONS])
def test_every_question_has_the_answer_that_python_gives(
    name: str, noisy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(noisy.parent)
    Path("other-counts.txt").write_text("\n".join(map(str, COUNTS[::-1])))
    succeed("release", "other-counts.txt", "--epsilon", 1, "--seed", 6, "-o", "other.csv")
    Path("coefficients.txt").write_text("1\n0\n0.5\n")
    question = dn.ask.question(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = question.function(expected(), **PYTHON.get(name, {}))
    found = asked(name, noisy, *PARAMETERS.get(name, []), "--level", 0.9)
    for member, value in answer.to_dict(0.9).items():
        assert found[member] == value, member
    printed = succeed("ask", name, noisy, *PARAMETERS.get(name, []))
    assert answer.question in printed
    assert "simulated" in printed
    first = float(np.ravel(answer.value)[0])
    assert f"{first:,.6g}" in printed


def test_noisy_counts_from_elsewhere_need_their_epsilon(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("3\n-1\n8\n")
    found = asked("total", tmp_path / "n.txt", "--epsilon", 2, "--sensitivity", 2)
    assert found["std_error"] == dn.ask.total([3, -1, 8], epsilon=2.0, sensitivity=2).std_error
    assert asked("total", tmp_path / "n.txt", "--epsilon", 2)["releases"][0]["sensitivity"] == 1


def test_the_recommendation_compares_the_methods_and_best_follows_it(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("\n".join(["12"] * 101))
    succeed("release", tmp_path / "c.txt", "--epsilon", 1, "--seed", 3, "-o", tmp_path / "n.csv")
    outcome = run("ask", "median", tmp_path / "n.csv")
    assert outcome.code == 0
    assert "it says nothing about the counts" in outcome.err
    assert outcome.err.count("\n") == 1
    plain = asked("median", tmp_path / "n.csv")
    assert plain["useless"] is True
    assert plain["std_error"] > 1e12
    assert plain["recommendation"].startswith("naive")
    assert len(plain["warnings"]) == 1
    chosen = asked("median", tmp_path / "n.csv", "--best", "auto")
    assert chosen["method"] == "naive"
    assert chosen["unbiased"] is False
    assert chosen["value"] == plain["naive"]
    assert "biased" in succeed("ask", "median", tmp_path / "n.csv", "--best", "auto")


def test_an_infinite_error_is_said(noisy: Path) -> None:
    found = asked("partition", noisy, "--beta", 0.7)
    assert found["std_error"] is None
    assert "infinite" in succeed("ask", "partition", noisy, "--beta", 0.7)


@pytest.fixture
def parties(tmp_path: Path) -> list[Path]:
    paths = []
    for party in range(4):
        rows = np.random.default_rng(party).poisson(5, 10 + party)
        (tmp_path / f"{party}.txt").write_text("\n".join(map(str, rows)))
        paths.append(tmp_path / f"{party}.{('csv', 'json', 'parquet')[party % 3]}")
        succeed("release", tmp_path / f"{party}.txt", "--epsilon", 1 + party, "--seed", party, "-o", paths[-1])
    return paths


def releases(parties: list[Path]) -> list[dn.Release]:
    counts = [np.random.default_rng(party).poisson(5, 10 + party) for party in range(len(parties))]
    return [dn.DiscreteLaplace(1.0 + party).release(rows, seed=party) for party, rows in enumerate(counts)]


def test_sums_over_parties_add_up_with_the_right_error(parties: list[Path]) -> None:
    each = releases(parties)
    for name, options in (("total", {}), ("stars", {"k": 2}), ("threshold", {"at": 4}), ("profile", {"most": 9})):
        arguments = [part for option, value in options.items() for part in (f"--{option}", value)]
        found = asked(name, *parties, *arguments)
        together = dn.combine([dn.ask.question(name).function(release, **options) for release in each])
        assert found["value"] == together.to_dict()["value"]
        assert found["std_error"] == together.to_dict()["std_error"]
        assert found["unbiased"] is True
        assert len(found["releases"]) == 4
    assert "4 parties" in succeed("ask", "total", *parties)


def test_a_mean_over_all_counts_weighs_parties_by_their_counts(parties: list[Path]) -> None:
    each = releases(parties)
    n = sum(release.size for release in each)
    squares = [dn.ask.moment(release, 2, reduce="sum") for release in each]
    found = asked("moment", *parties)
    assert found["value"] == pytest.approx(sum(answer.value for answer in squares) / n)
    assert found["std_error"] == pytest.approx(math.sqrt(sum(answer.variance for answer in squares)) / n)
    shares = asked("profile", *parties, "--fraction")
    numbers = asked("profile", *parties)
    assert shares["value"] == pytest.approx(np.array(numbers["value"]) / n)


def test_other_questions_are_combined_only_on_request(parties: list[Path]) -> None:
    assert "--combine mean" in run("ask", "maximum", *parties).err
    found = asked("maximum", *parties, "--combine", "mean")
    assert found["value"] == pytest.approx(np.mean([dn.ask.maximum(release).value for release in releases(parties)]))
    assert found["question"] == "mean over 4 parties: largest count"


def test_the_best_method_is_chosen_for_the_parties_together(parties: list[Path]) -> None:
    together = dn.combine([dn.ask.moment(r, 2, reduce="sum") for r in releases(parties)], best="auto")
    n = sum(release.size for release in releases(parties))
    found = asked("moment", *parties, "--best", "auto")
    assert found["method"] == together.method
    assert found["value"] == pytest.approx(together.value / n)
