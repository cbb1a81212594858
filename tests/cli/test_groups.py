"""Summaries and estimates by group on the command line: the same tables as in Python, and one line for an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import deniable as dn
from deniable.cli.io.engine import table_in
from deniable.cli.running import CommandError
from tests.cli.command import check_refusal, run, succeed

N = 3000


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, dn.SummaryTable]:
    """A spec, and reports of two days and two countries in folders."""
    monkeypatch.chdir(tmp_path)
    m = dn.mechanism("grr", labels=["yes", "no", "maybe"], epsilon=2.0)
    Path("spec.json").write_text(m.spec.to_json())
    random = np.random.default_rng(1)
    shares = {"mon": [0.7, 0.2, 0.1], "tue": [0.2, 0.7, 0.1]}
    for day, share in shares.items():
        made = m.privatize(np.array(["yes", "no", "maybe"])[random.choice(3, N, p=share)], seed=len(day) + ord(day[0]))
        lands = pa.array(np.array(["de", "fr"])[random.integers(0, 2, N)])
        Path("reports", f"day={day}").mkdir(parents=True)
        pq.write_table(made.to_arrow().append_column("land", lands), f"reports/day={day}/r.parquet", row_group_size=900)
    return m, dn.summarize_by(m, "reports", ["day", "land"])


def test_a_table_of_summaries_is_that_of_the_library(reports: tuple[Any, dn.SummaryTable]) -> None:
    m, table = reports
    succeed("summarize", "reports", "--by", "day,land", "--threads", 2, "--spec", "spec.json", "-o", "daily.parquet")
    assert dn.SummaryTable.from_arrow(pq.read_table("daily.parquet")) == table
    succeed("summarize", "reports/**/*.parquet", "--by", "day", "--spec", "spec.json", "-o", "days.parquet")
    assert dn.SummaryTable.from_arrow(pq.read_table("days.parquet")) == table.over("day")
    for source in ("reports", "daily.parquet", "reports/*/*.parquet"):
        succeed("summarize", source, "--spec", "spec.json", "-o", "all.summary")
        assert dn.Summary.from_bytes(Path("all.summary").read_bytes()) == table.total()
        assert table.total().fingerprint == m.fingerprint


def test_a_bit_that_turned_over_in_a_table_changes_no_answer(reports: tuple[Any, dn.SummaryTable]) -> None:
    _, table = reports
    succeed("summarize", "reports", "--by", "day,land", "--spec", "spec.json", "-o", "daily.parquet")
    data, refused = Path("daily.parquet").read_bytes(), 0
    end = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for place in [*range(4, end, 5), *range(end, min(end + 600, len(data)))]:
        spoilt = bytearray(data)
        spoilt[place] ^= 1 << place % 8
        Path("spoilt.parquet").write_bytes(spoilt)
        try:
            assert table_in("spoilt.parquet") in (table, None)  # which has lost what says that it is one
        except CommandError:
            refused += 1
    assert refused > 250
    asked = ("summarize", "short.parquet", "--spec", "spec.json", "-o", "all.summary")
    pq.write_table(pq.read_table("daily.parquet").slice(1), "short.parquet")
    check_refusal(run(*asked), "short.parquet: the file is damaged: its groups differ from their checksum")
    pq.write_table(table.to_arrow().slice(1), "short.parquet")  # as others write it
    succeed(*asked)


def test_tables_are_added_and_rolled_up(reports: tuple[Any, dn.SummaryTable]) -> None:
    _, table = reports
    for day in ("mon", "tue"):
        succeed("summarize", f"reports/day={day}", "--by", "day,land", "--spec", "spec.json", "-o", f"{day}.parquet")
    succeed("summarize", "mon.parquet", "tue.parquet", "--by", "land", "--spec", "spec.json", "-o", "both.parquet")
    assert dn.SummaryTable.from_arrow(pq.read_table("both.parquet")) == table.over("land")
    columns = ("--by", "day:text,land:text", "--spec", "spec.json", "-o", "typed.parquet")
    succeed("summarize", "mon.parquet", "reports/day=tue", *columns)
    assert dn.SummaryTable.from_arrow(pq.read_table("typed.parquet")) == table
    asked = ("summarize", "reports", "--by", "day:date", "--spec", "spec.json", "-o", "wrong.parquet")
    check_refusal(run(*asked), "the key of its folder must be a date such as 2026-01-31, got 'mon'")
    mixed = ("mon.parquet", "reports/day=tue", "--by", "day", "--spec", "spec.json", "-o", "mixed.parquet")
    succeed("summarize", *mixed)
    assert dn.SummaryTable.from_arrow(pq.read_table("mixed.parquet")) == table.over("day")


def test_an_estimate_of_groups_is_printed_written_and_compared(reports: tuple[Any, dn.SummaryTable]) -> None:
    m, table = reports
    pq.write_table(table.to_arrow(), "daily.parquet")
    printed = succeed("estimate", "daily.parquet", "--spec", "spec.json", "--top", 2, "-o", "tidy.csv")
    assert "4 groups by day, land" in printed
    assert "4 groups differ" in printed
    assert "about the population, exact" in printed
    tidy = pa.csv.read_csv("tidy.csv")
    assert tidy.column_names[:4] == ["day", "land", "n", "label"]
    assert len(tidy) == 4 * 3
    found = json.loads(succeed("estimate", "daily.parquet", "--spec", "spec.json", "--json"))
    assert found["groups"][0]["group"] == {"day": "mon", "land": "de"}
    assert found["alike"]["differ"]
    wanted = m.estimate(table[("mon", "de")])
    assert found["groups"][0]["values"][0]["frequency"] == pytest.approx(wanted.frequencies[0])
    alone = succeed("estimate", "daily.parquet", "--spec", "spec.json", "--group", "mon,de", "--json")
    assert json.loads(alone)["n"] == table[("mon", "de")].n
    both = ("--group", "mon,de", "--group", "tue,de")
    assert "mon,de minus tue,de" in succeed("estimate", "daily.parquet", "--spec", "spec.json", *both)
    document = json.loads(succeed("estimate", "daily.parquet", "--spec", "spec.json", *both, "--json"))
    assert document["groups"] == ["mon,de", "tue,de"]


def test_the_spec_beside_a_table_is_found(reports: tuple[Any, dn.SummaryTable]) -> None:
    pq.write_table(reports[1].to_arrow(), "daily.parquet")
    assert "4 groups" in succeed("estimate", "daily.parquet")


def test_malformed_rows_stop_the_command_or_are_left_out(reports: tuple[Any, dn.SummaryTable]) -> None:
    _, table = reports
    path = "reports/day=mon/r.parquet"
    good = pq.read_table(path, partitioning=None)
    data = good["report"].to_numpy().copy()
    data[1000] = 7
    wrong = good.set_column(0, good.schema.field("report"), pa.array(data)).replace_schema_metadata(
        good.schema.metadata
    )
    pq.write_table(wrong, path, row_group_size=900)
    given = ("summarize", "reports", "--spec", "spec.json", "-o", "all.summary")
    check_refusal(run(*given), f"{path}: row group 1, row 101: report must lie from 0 to 2")
    assert not Path("all.summary").exists()
    assert "1 rows were left out: report must lie from 0 to 2" in run(*given, "--skip-malformed").err
    assert dn.Summary.from_bytes(Path("all.summary").read_bytes()).n == table.n - 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("summarize reports --by day --spec spec.json -o x.summary", "written to .parquet files"),
        ("summarize reports --by day --spec spec.json -o -", "written to .parquet files"),
        ("summarize - --by day --spec spec.json -o x.parquet", "not standard input"),
        ("summarize reports --by colour --spec spec.json -o x.parquet", "by must name columns that occur once"),
        ("summarize daily.parquet --by colour --spec spec.json -o x.parquet", "by must name columns among day, land"),
        ("summarize reports reports --by day --spec spec.json -o x.parquet", "given twice"),
        ("summarize empty --by day --spec spec.json -o x.parquet", "hold files whose names end in .parquet"),
        ("summarize reports --by day --spec spec.json --threads 0 -o x.parquet", "--threads"),
        ("summarize daily.parquet --by day --spec other.json -o x.parquet", "belongs to another spec"),
        ("estimate daily.parquet --spec spec.json --group wed,de", "there is no such group by day, land"),
        ("estimate daily.parquet --spec spec.json --plot x.png", "Choose one with --group"),
        ("estimate reports --spec spec.json --group mon,de", "--group is for one table of summaries"),
    ],
)
def test_wrong_groups_are_refused_in_one_line(words: str, message: str, reports: tuple[Any, dn.SummaryTable]) -> None:
    pq.write_table(reports[1].to_arrow(), "daily.parquet")
    Path("other.json").write_text(dn.mechanism("grr", k=3, epsilon=1.0).spec.to_json())
    Path("empty").mkdir()
    check_refusal(run(*words.split()), message)
    assert not Path("x.parquet").exists()


@pytest.mark.usefixtures("reports")
def test_an_empty_list_of_columns_is_refused() -> None:
    for by in ("", " "):
        asked = ("summarize", "reports", "--by", by, "--spec", "spec.json", "-o", "daily.parquet")
        check_refusal(run(*asked), "--by must name columns")
