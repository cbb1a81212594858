"""Noisy counts on the command line: released once into files that say their noise, and asked as often as you like."""

from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import typer

import deniable as dn
from deniable.cli.program import app
from tests.cli.command import Outcome, run, succeed

COUNTS = [120, 34, 61, 18, 7, 250]
LABELS = ["flu", "cold", "a, b", "schön", 'so "called"', "none"]
TREE = {
    "column": "surgery",
    "threshold": 50,
    "yes": 0.25,
    "no": {"column": "emergency", "threshold": 5, "yes": 1, "no": 2},
}


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    pa.csv.write_csv(pa.table({"diagnosis": LABELS, "patients": COUNTS}), path)
    return path


@pytest.fixture
def noisy(counts: Path) -> Path:
    path = counts.with_name("noisy.csv")
    succeed("release", counts, "--epsilon", 1, "--seed", 5, "-o", path)
    return path


def expected(epsilon: float = 1.0, sensitivity: int = 1, seed: int = 5) -> dn.Release:
    return dn.DiscreteLaplace(epsilon, sensitivity).release(COUNTS, seed=seed)


def asked(*arguments: object, stdin: bytes = b"") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(succeed("ask", *arguments, "--json", stdin=stdin))
    return found


# Releasing -----------------------------------------------------------------------------------------


def test_a_csv_release_keeps_its_labels_and_says_its_noise_in_the_header(noisy: Path) -> None:
    found = pa.csv.read_csv(noisy)
    assert found.column_names == ["diagnosis", "patients@epsilon=1.0 sensitivity=1 simulated"]
    assert found.column(0).to_pylist() == LABELS
    assert found.column(1).to_pylist() == expected().values.tolist()


def test_a_parquet_or_json_release_is_one_that_python_reads(counts: Path) -> None:
    for suffix in ("parquet", "json"):
        path = counts.with_name(f"noisy.{suffix}")
        succeed("release", counts, "--epsilon", 0.5, "--sensitivity", 2, "--seed", 5, "-o", path)
        found = (
            dn.Release.from_json(path.read_text())
            if suffix == "json"
            else dn.Release.from_arrow(pa.parquet.read_table(path))
        )
        assert found == expected(0.5, 2)
    assert json.loads(path.read_text())["labels"] == {"diagnosis": LABELS}


def test_the_guarantee_is_printed_and_that_releases_add_up(counts: Path) -> None:
    out = succeed("release", counts, "--epsilon", 1, "-o", counts.with_name("noisy.csv"))
    assert str(dn.DiscreteLaplace(1.0).guarantee()) in out
    assert "costs epsilon 1 again, 2 together" in out
    assert "published as they are: diagnosis" in out


def test_noise_is_fresh_without_a_seed_and_marked_with_one(counts: Path) -> None:
    first, second = (succeed("release", counts, "--epsilon", 0.01, "-o", "-") for _ in range(2))
    assert first != second
    assert "simulated" not in first
    seeded = run("release", counts, "--epsilon", 1, "--seed", 5, "-o", "-")
    assert "protects nobody" in seeded.err
    assert " simulated\n" in seeded.out
    assert "guarantee" in seeded.err  # apart from the file, which is standard output here


def test_every_release_in_every_format_gives_the_same_answer(counts: Path) -> None:
    found = []
    for suffix in ("csv", "parquet", "json"):
        path = counts.with_name(f"noisy.{suffix}")
        succeed("release", counts, "--epsilon", 1, "--seed", 5, "-o", path)
        found += [asked("gini", path, "--total", 490), asked("gini", "-", "--total", 490, stdin=path.read_bytes())]
    assert all(each == found[0] for each in found)
    assert found[0]["value"] == dn.ask.gini(expected(), 490).value
    assert found[0]["releases"] == [{"epsilon": 1.0, "sensitivity": 1, "counts": 6, "simulated": True}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.csv", "n\n120\n34\n61\n18\n7\n250\n"),
        ("c.csv", "\ufeffn\r\n120\r\n34\r\n61\r\n18\r\n7\r\n250"),
        ("c.csv", "town,n\nA, 120\nB,34.0\nC,61\nD,18\nE,7\nF,250\n"),
        ("c.txt", "120\n34\n61\n18\n7\n250\n"),
        ("-", "120\n34\n61\n18\n7\n250\n"),
        ("-", "town,n\nA,120\nB,34\nC,61\nD,18\nE,7\nF,250\n"),
    ],
)
def test_counts_are_the_same_in_every_form(name: str, text: str, tmp_path: Path) -> None:
    source = name if name == "-" else tmp_path / name
    if name != "-":
        Path(source).write_bytes(text.encode())
    out = succeed("release", source, "--epsilon", 1, "--seed", 5, "-o", "-", stdin=text.encode())
    assert [int(line.rpartition(",")[2]) for line in out.splitlines()[1:]] == expected().values.tolist()


@pytest.mark.parametrize(
    "values", [pa.array(COUNTS, pa.uint16()), pa.array(COUNTS, pa.float64()), pa.array(COUNTS).cast(pa.string())]
)
def test_parquet_counts_may_be_of_any_type_that_holds_them(values: Any, tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"n": values}), tmp_path / "c.parquet")
    succeed("release", tmp_path / "c.parquet", "--epsilon", 1, "--seed", 5, "-o", tmp_path / "n.json")
    assert dn.Release.from_json((tmp_path / "n.json").read_text()) == expected()


def test_integers_of_any_size_survive_every_format(tmp_path: Path) -> None:
    large = [3, 10**30, -(2**70)]
    (tmp_path / "c.txt").write_text("\n".join(map(str, large)))
    release = dn.DiscreteLaplace(1.0).release(large, seed=1)
    for suffix in ("csv", "parquet", "json"):
        path = tmp_path / f"n.{suffix}"
        succeed("release", tmp_path / "c.txt", "--epsilon", 1, "--seed", 1, "-o", path)
        assert asked("total", path)["naive"] == float(release.values.sum())


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json"])
def test_several_columns_are_one_matrix_of_which_columns_can_be_asked(suffix: str, tmp_path: Path) -> None:
    table = pa.table({"ward": ["A", "B", "C"], "emergency": [3, 9, 1], "surgery": [80, 20, 60]})
    pa.csv.write_csv(table, tmp_path / "c.csv")
    columns = ["--column", "emergency", "--column", "surgery"]
    path = tmp_path / f"n.{suffix}"
    succeed("release", tmp_path / "c.csv", *columns, "--epsilon", 1, "--seed", 2, "-o", path)
    release = dn.DiscreteLaplace(1.0).release([[3, 80], [9, 20], [1, 60]], seed=2)
    assert asked("total", path)["value"] == dn.ask.total(release).value
    assert asked("total", path, "--column", "surgery")["value"] == dn.ask.total(release[:, 1]).value
    assert asked("total", path, *columns[2:], *columns[:2])["value"] == dn.ask.total(release).value
    rows = asked("entropy", path, "--total", 90)
    assert rows["value"] == dn.ask.entropy(release, 90).value.tolist()
    assert rows["rows"] == ["A", "B", "C"]
    assert re.search(r"A +.*\n +B", succeed("ask", "entropy", path, "--total", 90))
    (tmp_path / "tree.json").write_text(json.dumps(TREE))
    names = ["emergency", "surgery"]
    assert asked("tree", path, "--tree", tmp_path / "tree.json")["value"] == (
        dn.ask.tree(release, TREE, columns=names).value.tolist()
    )


def test_a_matrix_that_python_published_has_numbered_columns(tmp_path: Path) -> None:
    release = dn.DiscreteLaplace(1.0).release([[3, 80], [9, 20]], seed=1)
    (tmp_path / "n.json").write_text(release.to_json())
    pa.parquet.write_table(release.to_arrow(), tmp_path / "n.parquet")
    for name in ("n.json", "n.parquet"):
        assert asked("total", tmp_path / name, "--column", 1)["value"] == dn.ask.total(release[:, 1]).value
        assert asked("maximum", tmp_path / name)["value"] == dn.ask.maximum(release).value


def test_columns_beside_the_counts_are_left_out_unless_they_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("town,doctor,n\nA,x,3\nB,y,4\n")
    arguments = ["release", tmp_path / "c.csv", "--epsilon", 1]
    assert succeed(*arguments, "-o", "-").startswith("n@epsilon")
    outcome = run(*arguments, "--label", "town", "-o", "-")
    assert outcome.out.startswith("town,n@epsilon")
    assert "left out: doctor" in outcome.err
    (tmp_path / "c.csv").write_text("secret,n\n3.5,3\n4.5,4\n")
    assert run(*arguments, "-o", "-").err.count("--column must say") == 1
    assert succeed(*arguments, "--column", "n", "-o", "-").startswith("n@epsilon")  # numbers are no labels


# Asking --------------------------------------------------------------------------------------------


def options() -> set[str]:
    command = typer.main.get_command(app).commands["ask"]  # type: ignore[attr-defined]
    return {option[2:].replace("-", "_") for each in command.params for option in each.opts if option.startswith("--")}


def test_every_parameter_of_every_question_is_an_option_and_no_other() -> None:
    own = {parameter.name for question in dn.ask.QUESTIONS for parameter in question.parameters}
    rest = {"list", "epsilon", "sensitivity", "column", "best", "combine", "level", "json", "help"}
    assert options() - {"help"} == own | rest - {"help"}


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


# Many parties --------------------------------------------------------------------------------------


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


# Wrong inputs --------------------------------------------------------------------------------------


DAMAGED: dict[str, dict[str, Any]] = {
    "columns": {"columns": 5},
    "few-columns": {"columns": []},
    "labels": {"labels": [1]},
    "long-labels": {"labels": {"town": 3}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("counts")
    (folder / "counts.csv").write_text("town,n\nA,3\nB,4\n")
    (folder / "half.csv").write_text("town,n\nA,3\nB,2.5\n")
    (folder / "words.csv").write_text("n\n3\nmany\n")
    (folder / "gap.csv").write_text("town,n\nA,3\nB,\n")
    (folder / "headless.csv").write_text("3\n4\n")
    (folder / "two.csv").write_text("year,n\n2020,3\n2021,4\n")
    (folder / "ragged.csv").write_text("town,n\nA,3\nB\n")
    (folder / "narrow.csv").write_text("town,n\nA\nB\n")
    (folder / "twice.csv").write_text("n,n\n3,4\n")
    (folder / "no-rows.csv").write_text("town,n\n")
    (folder / "empty.csv").touch()
    (folder / "empty.json").write_text("{}")
    (folder / "latin.csv").write_bytes("n\n3\nschön\n".encode("latin-1"))
    pa.parquet.write_table(pa.table({"n": [1.5, 2.0]}), folder / "half.parquet")
    pa.parquet.write_table(pa.table({"n": [True, False]}), folder / "flags.parquet")
    pa.parquet.write_table(pa.table({"n": pa.array([], pa.int64())}), folder / "no-rows.parquet")
    release = dn.DiscreteLaplace(1.0).release([3, 4], seed=1)
    (folder / "noisy.json").write_text(release.to_json())
    (folder / "damaged.json").write_text(release.to_json().replace('"epsilon": 1.0', '"epsilon": 2.0'))
    (folder / "newer.json").write_text(release.to_json().replace('"deniable.release": 1', '"deniable.release": 2'))
    for name, change in DAMAGED.items():
        (folder / f"{name}.json").write_text(json.dumps(json.loads(release.to_json()) | change))
    table = release.to_arrow()
    metadata = table.schema.metadata | {b"columns": b"["}
    pa.parquet.write_table(table.replace_schema_metadata(metadata), folder / "damaged.parquet")
    metadata = table.schema.metadata | {b"columns": b'["m"]'}
    pa.parquet.write_table(table.replace_schema_metadata(metadata), folder / "lost.parquet")
    (folder / "noisy.csv").write_text("town,n@epsilon=1.0 sensitivity=1\nA,3\nB,4\n")
    (folder / "half-noisy.csv").write_text("town,n@epsilon=1.0 sensitivity=1\nA,3\nB,4.5\n")
    (folder / "hopeless.csv").write_text("n@epsilon=0 sensitivity=1\n3\n")
    (folder / "wordy.csv").write_text("n@epsilon=one sensitivity=1\n3\n")
    (folder / "mixed.csv").write_text("n@epsilon=1.0 sensitivity=1,m@epsilon=2.0 sensitivity=1\n3,4\n")
    (folder / "no-counts.csv").write_text("n@epsilon=1.0 sensitivity=1\n")
    return folder


def check_refusal(outcome: Outcome, reason: str) -> None:
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("deniable: error: ")
    assert outcome.err.count("\n") == 1
    assert "unexpected" not in outcome.err
    assert reason in outcome.err


WRONG = {
    "release half.csv --epsilon 1 -o out.csv": "count in row 2 of column 'n' must be a whole number, got '2.5'",
    "release words.csv --epsilon 1 -o out.csv": "row 2 of column 'n' must be a whole number, got 'many'",
    "release gap.csv --epsilon 1 -o out.csv": "row 2 of column 'n' must be a whole number, got an empty cell",
    "release half.parquet --epsilon 1 -o out.csv": "row 1 of column 'n' must be a whole number, got 1.5",
    "release flags.parquet --epsilon 1 -o out.csv": "must be a whole number, got True",
    "release headless.csv --epsilon 1 -o out.csv": "is a count where a column name should be",
    "release two.csv --epsilon 1 -o out.csv": "--column must say which columns hold the counts: 'year', 'n'",
    "release counts.csv --column m --epsilon 1 -o out.csv": "there is no column 'm' among 'town', 'n'",
    "release counts.csv --column n --column n --epsilon 1 -o out.csv": "more than one column 'n'",
    "release counts.csv --label m --epsilon 1 -o out.csv": "there is no column 'm' beside the counts",
    "release twice.csv --column n --epsilon 1 -o out.csv": "more than one column 'n'",
    "release ragged.csv --epsilon 1 -o out.csv": "ragged.csv: CSV parse error",
    "release narrow.csv --epsilon 1 -o out.csv": "the first row has 1 cells, but there are 2 column names",
    "release latin.csv --epsilon 1 -o out.csv": "latin.csv: ",
    "release no-rows.csv --column n --epsilon 1 -o out.csv": "there are no counts in this file",
    "release no-rows.parquet --epsilon 1 -o out.csv": "there are no counts in this file",
    "release empty.csv --epsilon 1 -o out.csv": "empty.csv: the file is empty",
    "release nothing.csv --epsilon 1 -o out.csv": "nothing.csv: No such file",
    "release noisy.csv --epsilon 1 -o out.csv": "this is a release already",
    "release noisy.json --epsilon 1 -o out.csv": "not from JSON",
    "release counts.csv -o out.csv": "Missing option '--epsilon'",
    "release counts.csv --epsilon 0 -o out.csv": "epsilon must be positive, got 0.0",
    "release counts.csv --epsilon -1 -o out.csv": "epsilon must be positive, got -1.0",
    "release counts.csv --epsilon nan -o out.csv": "epsilon must be a positive number",
    "release counts.csv --epsilon 1 --sensitivity -1 -o out.csv": "sensitivity must be a whole number from 1",
    "release counts.csv --epsilon 1 -o out.xlsx": "out.xlsx: a release is written to .csv, .parquet, .json files",
    "ask medan noisy.csv": "question must be one of total, moment",
    "ask": "Missing argument 'QUESTION'",
    "ask median": "Missing argument 'NOISY",
    "ask median nothing.csv": "nothing.csv: No such file",
    "ask median counts.csv": "counts.csv: the file does not say what noise is in its counts: give --epsilon",
    "ask median counts.csv --epsilon 0": "epsilon must be positive",
    "ask median counts.csv --epsilon 1 --sensitivity -2": "sensitivity must be a whole number",
    "ask median half.csv --epsilon 1": "must be a whole number, got '2.5'",
    "ask median half-noisy.csv": "must be a whole number, got '4.5'",
    "ask median noisy.csv --epsilon 2": "--epsilon is 2, but the file says 1",
    "ask median noisy.csv --sensitivity 2": "--sensitivity is 2, but the file says 1",
    "ask median noisy.csv --column m": "there is no column 'm' among 'n'",
    "ask median noisy.csv --level 1": "level must lie strictly between 0 and 1",
    "ask median noisy.csv --power 2": "--power is no parameter of median, which has none",
    "ask order-statistic noisy.csv": "order-statistic needs --k",
    "ask order-statistic noisy.csv --k 3": "k must be a whole number from 1 to 2",
    "ask median noisy.csv --best worst": "best must be one of",
    "ask order-statistics noisy.csv --best naive": "--best must be unbiased for order-statistics",
    "ask partition noisy.csv --beta 2": "f must grow more slowly than",
    "ask mean noisy.csv --values 1,x": "--values: must be numbers",
    "ask mean noisy.csv --values 1": "values must be 2 numbers",
    "ask tree noisy.csv --tree {": "--tree: is not JSON",
    "ask tree noisy.csv --tree nothing.json": "nothing.json: No such file",
    'ask tree noisy.csv --tree {"column":"C","threshold":1,"yes":0,"no":1}': "got 'C'. The columns are A, B.",
    'ask tree noisy.csv --tree {"column":2,"threshold":1,"yes":0,"no":1}': "got 2. The columns are 0 to 1.",
    "ask total empty.csv": "empty.csv: the file is empty",
    "ask total empty.json": "this text is not a release",
    "ask total no-counts.csv": "there are no counts in this file",
    "ask total damaged.json": "damaged.json: the release is damaged",
    "ask total columns.json": "the release is damaged: it must name its 1 columns, got 5",
    "ask total few-columns.json": "the release is damaged: it must name its 1 columns",
    "ask total labels.json": "the release is damaged: its labels must be lists",
    "ask total long-labels.json": "the release is damaged: its labels must be lists",
    "ask total damaged.parquet": "the release is damaged: its metadata are not JSON",
    "ask total lost.parquet": "the table must have one column each of ['m']",
    f"ask tree noisy.csv --tree {'[' * 9999}": "--tree: is not JSON",
    "ask total newer.json": "newer.json: ",
    "ask total hopeless.csv": "the release is damaged: its noise is epsilon 0",
    "ask total wordy.csv": "the release is damaged: its noise is epsilon one",
    "ask total mixed.csv": "must have one epsilon and sensitivity",
    "ask total noisy.csv noisy.csv": "noisy.csv: is given twice",
    "ask ratio noisy.csv --other ./noisy.csv": "is given twice",
    "ask ratio noisy.csv noisy.json --other counts.csv": "takes one file",
    "ask total - -": "once only",
    "ask median noisy.csv noisy.json": "median does not add up over parties",
    "ask median noisy.csv noisy.json --combine most": "--combine must be one of sum, mean",
    "ask order-statistics noisy.csv noisy.json --combine sum --best naive": "--best must be unbiased for order",
}


@pytest.mark.parametrize("command", WRONG)
def test_a_wrong_command_is_refused_in_one_line(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = {path.name: path.stat().st_size for path in folder.iterdir()}
    check_refusal(run(*command.split()), WRONG[command])
    assert {path.name: path.stat().st_size for path in folder.iterdir()} == before
