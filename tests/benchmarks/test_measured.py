"""Measured tables in the documents are those of the records, and a missed goal is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import collector, pages
from benchmarks.measured import Figure, figures_of, keep, put, rounded, table

SOME = [
    Figure("batches", "SQLite", 2_345_678.0, "reports/s", 2e6, at_least=True),
    Figure("batches", "PostgreSQL", 1_345_678.0, "reports/s", 2e6, at_least=True),
    Figure("a look", "SQLite", 12.345, "ms", 100.0),
    Figure("for comparison", "SQLite", 0.5, "µs"),
]


def test_goals_are_upper_or_lower_bounds() -> None:
    assert [each.met for each in SOME] == [True, False, True, True]
    assert [each.wanted for each in SOME] == ["≥ 2,000,000 reports/s", "≥ 2,000,000 reports/s", "≤ 100 ms", ""]


@pytest.mark.parametrize(
    ("value", "text"), [(2_345_678, "2,350,000"), (100, "100"), (12.345, "12.3"), (1.987, "1.99"), (0, "0.00")]
)
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert rounded(value) == text


def test_a_record_becomes_a_table_that_says_what_was_missed(tmp_path: Path) -> None:
    record = keep(tmp_path / "some.json", SOME, "the machine was busy", {"SQLite": "3.1"})
    assert json.loads((tmp_path / "some.json").read_text()) == record
    assert figures_of(record) == SOME
    lines = table(record).splitlines()
    assert lines[0] == "| | SQLite | PostgreSQL | goal |"
    assert lines[2] == "| batches | 2,350,000 reports/s | 1,350,000 reports/s **(missed)** | ≥ 2,000,000 reports/s |"
    assert lines[4] == "| for comparison | 0.50 µs |  |  |"
    assert lines[-1].endswith("SQLite 3.1. The machine was busy.")


def test_a_table_goes_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- a -->\nold\n<!-- b -->\nafter\n")
    put(page, ("<!-- a -->", "<!-- b -->"), "new")
    assert page.read_text() == "before\n<!-- a -->\nnew\n<!-- b -->\nafter\n"
    with pytest.raises(ValueError, match=r"page\.md must have the marks"):
        put(page, ("<!-- c -->", "<!-- b -->"), "new")


@pytest.mark.parametrize("script", [collector, pages])
def test_the_table_of_a_page_is_that_of_the_record(script: Any) -> None:
    record = json.loads(script.RECORD.read_text())
    start, end = script.MARKS
    assert script.PAGE.read_text().partition(start)[2].partition(end)[0].strip() == table(record)
    assert [each["met"] for each in record["figures"]] == [each.met for each in figures_of(record)]


def test_the_record_of_the_collector_has_every_goal_on_both_stores() -> None:
    found = figures_of(json.loads(collector.RECORD.read_text()))
    goals = {
        store: {each.what: each.goal for each in found if each.where == store} for store in ("SQLite", "PostgreSQL")
    }
    assert goals["SQLite"].pop("`make demo` after set-up") == collector.DEMO
    assert goals["SQLite"] == goals["PostgreSQL"]
    assert collector.SINGLE in goals["SQLite"].values()
    assert sum("batches of" in what for what in goals["SQLite"]) == len(collector.BATCHES)
    assert sum("estimate after" in what for what in goals["SQLite"]) == len(collector.TRANSFORMS) * len(collector.LOOKS)
