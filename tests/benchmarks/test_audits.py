"""The script behind the measured tables of docs/audit.md: what it measures, on small numbers, and that it goes on."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from benchmarks import audits, audits_page
from tests import ROOT


def test_every_mechanism_is_measured_or_refuses() -> None:
    assert {*audits.names(), "matrix"} == set(dn.list_mechanisms())
    assert audits.mechanism("design", 2.0).guarantee().epsilon <= 2.0
    found = audits.certified("grr", 1.0, trials=5000)
    assert 0 < found["share"] < 1
    assert found["wrong"] == []
    assert "hpgr" in audits.certified("hpgr", 0.5)["refused"]


def test_small_runs_of_every_part_have_its_figures() -> None:
    assert 0.5 < audits.faulty(values=4, trials=20_000, seed=1)["bound"] < 1.5514
    assert audits.over("grr", 0, 2) in (0, 1, 2)
    lying = audits.detected("oue", "lying", 3, 1)
    assert lying == {"alarms": 1, "above": 1, "named": 1}


def test_a_run_that_is_stopped_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    def counted(name: str, first: int, runs: int) -> int:
        asked.append((name, first))
        return runs // 25

    monkeypatch.setattr(audits, "over", counted)
    monkeypatch.setattr(audits, "OVER_RUNS", 200)
    results: dict[str, Any] = {}
    assert len(list(islice(audits.steps(results, "over", 10), 3))) == 3
    audits.save(results, tmp_path / "audits.json")
    results = audits_page.read(tmp_path / "audits.json")
    list(audits.steps(results, "over", 10))
    assert asked == [(name, first) for name in audits.OVER for first in (0, 25)]
    assert {key: (found["runs"], found["over"]) for key, found in results["over"].items()} == dict.fromkeys(
        audits.OVER, (50, 2)
    )
    assert "8 of 200 (4.0% ± 1.5%)" in audits_page.rates(results)


def test_the_page_shows_the_record() -> None:
    results, page = audits_page.read(), (ROOT / "docs" / "audit.md").read_text()
    for content in audits_page.parts(results).values():
        assert content in page
    for key, found in results["shares"].items():
        assert "refused" in found or (found["share"] < 1 and not found["wrong"]), key
