"""Frequent strings on the command line, from a spec to what was found."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import deniable as dn
from tests.cli.command import run, succeed

COUNTS = {"london": 9000, "paris": 6000, "rome": 4000, "amsterdam": 3000, "a": 2000}
NEW = ("--epsilon", 4, "--alphabet", "adeilmnoprst", "--max-bytes", 6, "--lengths", "3,5,7", "--set", "cohorts=64")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hitters")
    succeed("heavy-hitters", "new", *NEW, "-o", folder / "hh.json")
    succeed("heavy-hitters", "new", *NEW, "--key", "other", "-o", folder / "other.json")
    succeed("spec", "new", "--open", "--epsilon", 1, "-o", folder / "spec.json")
    values = [word for word, count in COUNTS.items() for _ in range(count)]
    pa.parquet.write_table(pa.table({"town": values, "user": range(len(values))}), folder / "towns.parquet")
    (folder / "gap.csv").write_text("town,user\nrome,1\n,2\n")
    options = ("--column", "town", "--spec", folder / "hh.json", "--seed", 1)
    succeed("heavy-hitters", "privatize", folder / "towns.parquet", *options, "-o", folder / "r.parquet")
    succeed(
        "heavy-hitters", "summarize", folder / "r.parquet", "--spec", folder / "hh.json", "-o", folder / "s.summary"
    )
    summary = (folder / "s.summary").read_bytes()
    (folder / "cut.summary").write_bytes(summary[:-1])
    (folder / "none.summary").write_bytes(protocol(folder).empty_summary().to_bytes())
    return folder


def protocol(folder: Path) -> dn.HeavyHitters:
    return dn.HeavyHitters.from_json((folder / "hh.json").read_bytes())


def test_a_spec_is_the_one_python_makes_and_can_be_shown(folder: Path) -> None:
    made = dn.HeavyHitters.new(epsilon=4.0, alphabet="adeilmnoprst", max_bytes=6, lengths=(3, 5, 7), cohorts=64)
    assert protocol(folder) == made
    text = succeed("heavy-hitters", "show", folder / "hh.json")
    assert made.fingerprint in text
    assert "first 3, 5, 7 bytes" in text
    assert json.loads(succeed("heavy-hitters", "show", folder / "hh.json", "--json"))["fingerprint"] == made.fingerprint


def test_what_is_found_is_what_python_finds(folder: Path) -> None:
    hh = protocol(folder)
    reports = dn.HitterReports.from_arrow(pa.parquet.read_table(folder / "r.parquet"))
    assert hh.summarize(reports).to_bytes() == (folder / "s.summary").read_bytes()
    expected = hh.find(reports, rate=0.1, target="population")
    for source in ("r.parquet", "s.summary"):
        options = ("--rate", 0.1, "--target", "population", "--level", 0.9, "--json")
        found = json.loads(succeed("heavy-hitters", "find", folder / source, "--spec", folder / "hh.json", *options))
        assert found["strings"] == [row._asdict() for row in expected.rows(0.9)]
        assert (found["missed"], found["promise"]) == (expected.missed, expected.promise)
    assert [row.label for row in expected.top(5)] == ["london", "paris", "rome", "amster", "a"]


def test_what_is_found_is_printed_written_and_drawn(folder: Path, tmp_path: Path) -> None:
    table, picture = tmp_path / "found.csv", tmp_path / "found.png"
    files = (folder / "s.summary", "--spec", folder / "hh.json")
    text = " ".join(succeed("heavy-hitters", "find", *files, "--top", 4, "-o", table, "--plot", picture).split())
    for expected in ("london", "amster…", "at most 5% are absent", "not listed", "chance of 90%", "simulated"):
        assert expected in text
    assert pa.csv.read_csv(table)["label"].to_pylist()[:3] == ["london", "paris", "rome"]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_reports_and_summaries_in_any_mix_are_added(folder: Path) -> None:
    both = (folder / "r.parquet", folder / "s.summary", "--allow-repeats")
    found = json.loads(succeed("heavy-hitters", "find", *both, "--spec", folder / "hh.json", "--json", "--top", 1))
    assert found["n"] == 2 * sum(COUNTS.values())
    assert len(found["strings"]) == 1


def test_one_string_a_line_comes_from_standard_input(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.parquet"
    succeed("heavy-hitters", "privatize", "-", "--spec", folder / "hh.json", "-o", out, stdin=b"rome\nparis\n" * 40)
    reports = dn.HitterReports.from_arrow(pa.parquet.read_table(out))
    assert (len(reports), reports.reports.simulated) == (80, False)


WRONG = {
    "new --epsilon 0 -o out.json": "epsilon must be positive",
    "new --epsilon 1 --lengths a,b -o out.json": "--lengths must be whole numbers",
    "new --epsilon 1 --lengths 3,2 -o out.json": "lengths must increase and end with 13",
    "new --epsilon 1 -m grr -o out.json": "mechanism must be one of cms, hcms, orappor, orr",
    "show spec.json": "spec.json: this is the spec of one question, for estimate or decode",
    "show nothing.json": "nothing.json: No such file",
    "privatize towns.parquet --spec hh.json -o out.parquet": "Choose one with --column: 'town', 'user'",
    "privatize towns.parquet --column user --spec hh.json -o out.parquet --show-values": "row 1 must be text, got 0",
    "privatize gap.csv --column town --spec hh.json -o out.parquet": "gap.csv: value in row 2 must be text, got an",
    "privatize towns.parquet --column town --spec hh.json -o out.csv": "are written to .parquet files",
    "summarize towns.parquet --spec hh.json -o out.summary": "table is not in the layout of reports",
    "summarize gap.csv --spec hh.json -o out.summary": "gap.csv: this file holds neither reports nor a summary",
    "summarize r.parquet --spec other.json -o out.summary": "r.parquet: a batch of reports belongs to another spec",
    "find s.summary --spec other.json": "s.summary: a summary belongs to another spec",
    "find cut.summary --spec hh.json": "cut.summary: summary is truncated or damaged",
    "find none.summary --spec hh.json": "level 0 has no reports",
    "find s.summary --spec hh.json --rate 0": "rate must lie strictly between 0 and 1",
    "find s.summary --spec hh.json --level 95": "level must lie strictly between 0 and 1",
    "find s.summary --spec hh.json -o out.xlsx": "is written to .csv, .parquet, .json",
    "find - - --spec hh.json": "only once",
}  # fmt: skip


@pytest.mark.parametrize("arguments", WRONG)
def test_a_wrong_input_is_refused_in_one_line(arguments: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    outcome = run("heavy-hitters", *arguments.split())
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("deniable: error: ")
    assert outcome.err.count("\n") == 1
    assert "unexpected" not in outcome.err
    assert WRONG[arguments] in outcome.err
    assert sorted(folder.iterdir()) == before
