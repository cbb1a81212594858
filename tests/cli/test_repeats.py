"""The same reports are not counted twice unless that is asked for."""

from __future__ import annotations

import os
import shutil
from math import comb
from pathlib import Path

import numpy as np
import pytest

from deniable.cli.io.repeats import check_counts, described
from deniable.cli.running import CommandError
from tests.cli.command import check_refusal, run, succeed

DAYS = ("mon", "tue", "wed")


@pytest.fixture
def week(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reports and summaries of three days, and their total."""
    monkeypatch.chdir(tmp_path)
    succeed("spec", "new", "--k", 8, "-m", "grr", "--epsilon", 1, "-o", "spec.json")
    for seed, day in enumerate(DAYS):
        Path(f"{day}.txt").write_text("".join(f"{user % 5}\n" for user in range(2000 + 10 * seed)))
        values = Path(f"{day}.txt").read_bytes()
        succeed("privatize", "-", "--spec", "spec.json", "--seed", seed, "-o", f"{day}.parquet", stdin=values)
        succeed("summarize", f"{day}.parquet", "--spec", "spec.json", "-o", f"{day}.summary")
    succeed("summarize", *(f"{day}.parquet" for day in DAYS), "--spec", "spec.json", "-o", "all.summary")
    os.link("mon.parquet", "link.parquet")
    os.symlink("mon.parquet", "symbolic.parquet")
    shutil.copy("mon.parquet", "copy.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ("mon.parquet mon.parquet", "mon.parquet: this file is given twice"),
        ("mon.parquet ./mon.parquet", "./mon.parquet: this file is the same file as mon.parquet"),
        ("mon.parquet tue.parquet link.parquet", "link.parquet: this file is the same file as mon.parquet"),
        ("symbolic.parquet mon.parquet", "mon.parquet: this file is the same file as symbolic.parquet"),
        ("mon.parquet copy.parquet", "copy.parquet: these are the same 2,000 reports as in mon.parquet"),
        ("mon.parquet mon.summary", "mon.summary: these are the same 2,000 reports as in mon.parquet"),
        ("mon.summary tue.summary wed.summary all.summary", "all.summary: this is the sum of mon.summary, tue.summary"),
        ("all.summary wed.parquet mon.summary tue.parquet", "all.summary: this is the sum of wed.parquet, mon.summary"),
    ],
)
@pytest.mark.parametrize("command", ["estimate", "summarize"])
def test_the_same_reports_twice_are_refused(week: Path, command: str, inputs: str, reason: str) -> None:
    where = ["-o", "out.summary"] if command == "summarize" else []
    asked = [command, *inputs.split(), "--spec", "spec.json", *where]
    outcome = run(*asked)
    check_refusal(outcome, reason)
    assert "--allow-repeats" in outcome.err
    assert not (week / "out.summary").exists()
    succeed(*asked, "--allow-repeats")


@pytest.mark.usefixtures("week")
def test_different_days_are_added() -> None:
    succeed("estimate", "mon.parquet", "tue.summary", "wed.parquet", "--spec", "spec.json")


def test_repeated_reports_about_strings_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    succeed("spec", "new", "--open", "--epsilon", 2, "-o", "spec.json")
    succeed("privatize", "-", "--spec", "spec.json", "-o", "r.csv", stdin=b"a\nb\n" * 200)
    shutil.copy("r.csv", "copy.csv")
    Path("words.txt").write_text("a\nb\nc\n")
    check_refusal(run("decode", "r.csv", "copy.csv", "--candidates", "words.txt"), "the same 400 reports")
    succeed("heavy-hitters", "new", "--epsilon", 3, "--max-bytes", 2, "-o", "hh.json")
    succeed("heavy-hitters", "privatize", "-", "--spec", "hh.json", "-o", "h.parquet", stdin=b"ab\nba\n" * 300)
    hitters = ("heavy-hitters", "summarize", "--spec", "hh.json", "-o")
    succeed(*hitters, "h.summary", "h.parquet")
    check_refusal(run(*hitters, "two.summary", "h.parquet", "h.parquet"), "is given twice")
    check_refusal(run(*hitters, "two.summary", "h.parquet", "h.summary"), "the same 600 reports")
    check_refusal(run("heavy-hitters", "find", "h.parquet", "h.summary", "--spec", "hh.json"), "the same 600 reports")
    succeed(*hitters, "two.summary", "h.parquet", "h.summary", "--allow-repeats")


def test_small_inputs_may_agree_by_chance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    succeed("spec", "new", "--k", 2, "-m", "grr", "--epsilon", 1, "-o", "spec.json")
    for name in ("one.csv", "two.csv", "three.csv"):
        succeed("privatize", "-", "--spec", "spec.json", "--seed", 1, "-o", name, stdin=b"0\n")
    assert "3 reports" in succeed("estimate", "one.csv", "two.csv", "three.csv", "--spec", "spec.json")
    for name in ("no.csv", "none.csv"):
        succeed("privatize", "-", "--spec", "spec.json", "-o", name, stdin=b"")
    succeed("summarize", "no.csv", "none.csv", "--spec", "spec.json", "-o", "none.summary")


def test_the_chance_of_equal_counts_is_not_understated() -> None:
    # exactly: how often two independent samples of two equally likely values have the same counts
    for n in (10, 100, 1000):
        exact = sum(comb(n, i) ** 2 for i in range(n + 1)) / 4**n
        half = np.array([n // 2, n - n // 2], np.int64)
        assert exact / 2 < described("a", n, [half], reports=False).chance < 2 * exact


def test_a_total_among_many_parts_is_found() -> None:
    generator = np.random.default_rng(0)
    rows = generator.multinomial(1000, [1 / 20] * 20, 60)
    inputs = [described(f"{place}", 1000, [row], reports=False) for place, row in enumerate(rows)]
    check_counts(inputs)
    week = described("week", 7000, [rows[14:21].sum(axis=0)], reports=False)
    with pytest.raises(CommandError, match="week: this is the sum of 14, 15, 16, 17, 18, 19, 20,"):
        check_counts([*inputs, week])
