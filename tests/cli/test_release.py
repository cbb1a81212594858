"""Counts released on the command line, once, into files that record their noise."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import deniable as dn
from tests.cli.command import check_refusal, run, succeed
from tests.cli.noisy import COUNTS, LABELS, asked, expected

TREE = {
    "column": "surgery",
    "threshold": 50,
    "yes": 0.25,
    "no": {"column": "emergency", "threshold": 5, "yes": 1, "no": 2},
}


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
    assert "costs epsilon 1 again, 2 in total" in out
    assert "published unchanged: diagnosis" in out


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
    arguments = ["release", source, "--epsilon", 1, "--seed", 5, "--one-row-per-category", "-o", "-"]
    out = succeed(*arguments, stdin=text.encode())
    assert [int(line.rpartition(",")[2]) for line in out.splitlines()[1:]] == expected().values.tolist()


@pytest.mark.parametrize(
    "values", [pa.array(COUNTS, pa.uint16()), pa.array(COUNTS, pa.float64()), pa.array(COUNTS).cast(pa.string())]
)
def test_parquet_counts_may_be_of_any_type_that_holds_them(values: Any, tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"n": values, "town": LABELS}), tmp_path / "c.parquet")
    succeed("release", tmp_path / "c.parquet", "--epsilon", 1, "--seed", 5, "--column", "n", "-o", tmp_path / "n.json")
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
    assert succeed(*arguments, "--one-row-per-category", "-o", "-").startswith("n@epsilon")
    outcome = run(*arguments, "--label", "town", "-o", "-")
    assert outcome.out.startswith("town,n@epsilon")
    assert "left out: doctor" in outcome.err
    (tmp_path / "c.csv").write_text("secret,n\n3.5,3\n4.5,4\n")
    assert run(*arguments, "-o", "-").err.count("exactly one column must hold numbers") == 1
    chosen = [*arguments, "--column", "n", "-o", "-"]
    assert succeed(*chosen, "--one-row-per-category").startswith("n@epsilon")  # numbers are no labels


MICRODATA = "habit,age,country\ndaily,66,NL\nnever,4,BE\ndaily,73,NL\n"


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        (MICRODATA, [], "'age' would be published as counts, but their rows have no label"),
        (MICRODATA, ["--column", "age"], "rows have no label"),
        (MICRODATA, ["--label", "habit"], "label 'habit' is not unique"),
        (MICRODATA, ["--label", "habit", "--label", "country"], "label 'habit', 'country' is not unique"),
        ("age\n66\n4\n", [], "'age' would be published as counts, but their rows have no label"),
        ("name,age\nJo,66\nAl,4\nJo,66\n", [], "label 'name' is not unique"),
    ],
)
def test_one_row_per_person_is_refused(text: str, options: list[str], reason: str, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text(text)
    arguments = ["release", tmp_path / "v.csv", "--epsilon", 1, *options, "-o", tmp_path / "n.csv"]
    outcome = run(*arguments)
    check_refusal(outcome, reason)
    assert "looks like one row per person" in outcome.err
    assert "Is there one row per category?" in outcome.err
    assert not (tmp_path / "n.csv").exists()
    succeed(*arguments, "--one-row-per-category")


def test_tables_and_mappings_are_not_counts() -> None:
    for counts in (pa.table({"age": [66, 4]}), {"daily": 3}):
        with pytest.raises(dn.InvalidArgument, match=r"one per category.*one row per person"):
            dn.DiscreteLaplace(1.0).release(counts)
