"""The script behind the measured tables of docs/audit.md: what it measures, on small numbers, and that it goes on."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import deniable as dn
from benchmarks import audits, audits_page
from tests import ROOT


def test_every_mechanism_is_measured_or_refuses() -> None:
    assert {*audits.names(), "matrix"} == set(dn.list_mechanisms())
    assert audits.mechanism("design", 2.0).guarantee().epsilon <= 2.0
    found = audits.certified("grr", 1.0, trials=5000)
    assert 0 < found["shares"][0] < 1
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
    monkeypatch.setattr(audits, "OVER_RUNS", 50)
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


def test_runs_of_one_setting_are_kept_together(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = iter([0.99, 0.98, 1.01])

    def certified(_: str, epsilon: float) -> dict[str, Any]:
        if epsilon > 1:
            return {"refused": "too much"}
        share = next(shares)
        return {"shares": [share], "expected": 0.985, "seconds": 100 * share, "wrong": ["it"] if share > 1 else []}

    monkeypatch.setattr(audits, "certified", certified)
    monkeypatch.setattr(audits, "names", lambda: ["grr"])
    monkeypatch.setattr(audits, "EPSILONS", (1.0, 2.0))
    monkeypatch.setattr(audits, "RUNS", 3)
    results: dict[str, Any] = {}
    assert len(list(audits.steps(results, "shares", 0))) == 4
    found = results["shares"]["grr 1"]
    assert (found["shares"], found["wrong"], found["seconds"]) == ([0.99, 0.98, 1.01], ["it"], 101.0)
    assert results["shares"]["grr 2"].keys() == {"refused", "date", "machine"}
    assert list(audits.steps(results, "shares", 0)) == []
    assert "| `grr` | not yet | .993 (101) FAULT | refused |" in audits_page.shares(results)


def test_the_page_shows_the_record() -> None:
    results, page = audits_page.read(), (ROOT / "docs" / "audit.md").read_text()
    for content in audits_page.parts(results).values():
        assert content in page
    for key, found in results["shares"].items():
        assert "refused" in found or (fmean(found["shares"]) < 1 and not found["wrong"]), key


LEAST = {"grr 0.5": 0.96, "blh 8": 0.975, "hcms 8": 0.975}  # where a report tells of few values; else .985


def test_the_record_is_whole_and_keeps_what_was_aimed_at() -> None:
    results, page = audits_page.read(), (ROOT / "docs" / "attacks.md").read_text()
    settings = {f"{name} {epsilon:g}" for name in audits.names() for epsilon in audits.EPSILONS}
    assert results["shares"].keys() == settings
    refused = {key for key, found in results["shares"].items() if "refused" in found}
    assert refused == {"hpgr 0.5"}
    for key in settings - refused:
        found = results["shares"][key]
        assert len(found["shares"]) >= audits.RUNS, key
        assert found["trials"] == audits.TRIALS, key
        assert fmean(found["shares"]) >= LEAST.get(key, 0.985), key
        assert found["seconds"] < 60, key
    assert results["faulty"]["oue"]["bound"] >= 1.53
    assert results["over"].keys() == set(audits.OVER)
    for name, found in results["over"].items():
        assert found["runs"] == audits.OVER_RUNS
        # 5% at most, and four standard errors of so many runs
        assert found["over"] <= 0.05 * found["runs"] + 4 * (0.05 * 0.95 * found["runs"]) ** 0.5, name
    for name in audits.DETECTORS:  # liars are seen as often as the page of attacks says
        lying, honest = (results["detector"][f"{name} {kind}"] for kind in ("lying", "honest"))
        assert lying["runs"] == audits.LYING
        assert f"in {lying['alarms']} of {lying['runs']}{' batches' if name == 'oue' else ''} under `{name}`" in page
        assert honest["runs"] >= audits.HONEST
        assert honest["alarms"] == 0
        assert honest["above"] <= 0.013 * honest["runs"]
