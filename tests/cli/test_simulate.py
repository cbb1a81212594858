"""`deniable simulate`: files that the other commands read."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.cli.commands.simulate import whole_number
from deniable.engines import arrow
from deniable.engines.simulated import FILE_ROWS, simulate_files
from tests.cli.command import check_refusal, run, succeed


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.json"
    path.write_text(dn.mechanism("grr", labels=["light", "dark", "system"], epsilon=2.0).spec.to_json())
    return path


def test_the_command_writes_what_the_function_writes_and_says_how_fast(spec: Path, tmp_path: Path) -> None:
    out = tmp_path / "r"
    options = ["--users", "1e4", "--by", "day=2", "--by", "country=2", "--seed", 3, "--threads", 1]
    said = succeed("simulate", "--spec", spec, "--out", out, *options)
    assert re.fullmatch(r"10,000 simulated reports in 4 files, .* kB, .* s: .* million reports/s, .*/s\n", said)
    m = dn.from_spec(spec.read_text())
    simulate_files(m, tmp_path / "same", 10_000, by={"day": 2, "country": 2}, seed=3)
    assert arrow.summarize(m, out) == arrow.summarize(m, tmp_path / "same")
    assert (out / "truth.csv").read_bytes() == (tmp_path / "same" / "truth.csv").read_bytes()


def test_other_commands_read_the_files(spec: Path, tmp_path: Path) -> None:
    succeed("simulate", "--spec", spec, "--users", 5000, "--out", tmp_path / "r", "--file-rows", 2e3, "--zipf", 0)
    files = sorted((tmp_path / "r").glob("*.parquet"))
    assert [pq.ParquetFile(file).metadata.num_rows for file in files] == [2000, 2000, 1000]
    succeed("summarize", *files, "--spec", spec, "-o", tmp_path / "s")
    summary = dn.Summary.from_bytes((tmp_path / "s").read_bytes())
    assert summary.n == 5000
    assert summary.simulated


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--users", "1.5"], "'1.5' is not a whole number"),
        (["--users", "many"], "'many' is not a whole number"),
        (["--users", "inf"], "'inf' is not a whole number"),
        (["--users", "1e1000000000"], "'1e1000000000' is not a whole number"),
        (["--users", "0"], "users must be a whole number from 1"),
        (["--users", "10", "--by", "day"], "--by must have the form NAME=NUMBER"),
        (["--users", "10", "--by", "day=x"], "--by must have the form NAME=NUMBER"),
        (["--users", "10", "--by", "a=2", "--by", "a=3"], "--by a: the column is given twice"),
        (["--users", "10", "--compression", "zip"], "compression must be one of zstd, none"),
        (["--users", "10", "--strings", "3"], "This domain lists its values"),
    ],
)
def test_a_wrong_option_is_refused(spec: Path, tmp_path: Path, options: list[str], reason: str) -> None:
    check_refusal(run("simulate", "--spec", spec, "--out", tmp_path / "r", *options), reason)
    assert not (tmp_path / "r").exists()


def test_a_folder_with_files_is_refused(spec: Path, tmp_path: Path) -> None:
    options = ("simulate", "--spec", spec, "--users", 100)
    check_refusal(run(*options, "--out", tmp_path), "be empty, or hold an earlier simulation")
    succeed(*options, "--out", tmp_path / "r")
    check_refusal(run(*options, "--out", tmp_path / "r"), "replace it with overwrite")
    succeed(*options, "--out", tmp_path / "r", "--overwrite")
    check_refusal(run(*options, "--out", spec), "spec.json")


def test_numbers_may_be_written_with_an_exponent() -> None:
    assert [whole_number(text) for text in ("1e9", "25", "2.5e1", FILE_ROWS)] == [10**9, 25, 25, 2**24]
