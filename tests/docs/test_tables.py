"""Tables of numbers in the documents are computed."""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.randomness.keystream import Keystream
from tests import ROOT
from tests.docs.pages import DOCS, blocks, load, rows


def test_the_table_of_odds_is_computed() -> None:
    found = {row[0]: row[1:] for row in rows("threat-model.md") if re.fullmatch(r"[\d.]+", row[0])}
    assert set(found) == {"0.5", "1", "2", "4"}
    for epsilon, (factor, *after) in found.items():
        odds = math.exp(float(epsilon))
        assert factor == f"{odds:.3g}"
        for before, share in zip((0.5, 0.1, 0.01), after, strict=True):
            exact = 100 * before * odds / (1 - before + before * odds)
            assert share == (f"{exact:.1f}%" if exact < 10 else f"{exact:.0f}%")


def test_the_numbers_to_choose_by_are_computed() -> None:
    found = {row[0]: row[1:] for row in rows("choosing.md") if re.fullmatch(r"[\d.]+", row[0])}
    assert set(found) == {"0.5", "1", "2"}
    for epsilon, (suspicion, guess, people) in found.items():
        odds = math.exp(float(epsilon))
        assert suspicion == f"{odds / (9 + odds):.0%}"
        assert guess == f"{odds / (1 + odds):.0%}"
        needed = dn.plan(k=100, epsilon=float(epsilon), margin=0.01).users["rare"]
        assert people == f"{float(f'{needed:.2g}'):,.0f}"


def test_the_printed_example_looks_like_what_is_printed() -> None:
    m = dn.mechanism(labels=["walk", "bus", "car", "train"], epsilon=1.0)
    printed = f"{m.estimate(dn.simulate(m, [40_000, 30_000, 20_000, 10_000], seed=1))}\n{m.guarantee()}\n"
    for page in (DOCS / "index.md", ROOT / "README.md"):
        (shown,) = [block.text for block in blocks(page) if block.language == "text"]
        assert shape(shown) == shape(printed.replace(", simulated", ""))


def shape(text: str) -> list[list[str]]:
    """The words of each line, whatever their numbers are."""
    return [re.sub(r"\d[\d.,/]*", "#", line).split() for line in text.splitlines()]


def test_the_worked_example_of_randomness_is_what_happens() -> None:
    keystream = Keystream(bytes(range(32)))
    first, second = (keystream.stream(number).words(8).tolist() for number in (0, 1))
    words = {row[0]: row[1:] for row in rows("randomness.md") if len(row) == 3 and row[0].isdigit()}
    assert {j: row[0].strip("`") for j, row in words.items()} == {str(j): f"{w:016x}" for j, w in enumerate(first)}
    assert [row[1].strip("`") for row in words.values() if row[1]] == [f"{w:016x}" for w in second[:2]]

    m = dn.mechanism("grr", k=10, epsilon=1.0)
    sent = m.payloads(np.array([3, 3, 3, 3]), keystream).tolist()
    example = [row for row in rows("randomness.md") if len(row) == 5 and row[0].isdigit()]
    assert len(example) == 4
    truth = m.thresholds["truth"]
    for i, row in enumerate(example):
        said, drawn = "yes" if first[i] < truth else "no", (first[i] - truth) // ((2**64 - truth) // 10)
        assert row == [str(i), f"`{first[i]:016x}`", said, str(drawn), str(sent[i])]


def test_published_coverage_is_what_the_script_measures() -> None:
    script = load("measure_coverage.py")
    published = script.PAGE.read_text().partition(script.START)[2].partition(script.END)[0]
    titles = re.findall(r"^\*\*(.*?)\*\*", published, re.MULTILINE)
    assert titles == [setting.title for setting in script.SETTINGS]
    runs, setting = 200, script.SETTINGS[0]
    measured = script.measure(setting, runs)
    found = [line.strip("|").split("|") for line in published.partition(f"**{setting.title}**")[2].splitlines()[4:14]]
    assert {(row[0].strip(), row[1].strip()) for row in found} == {(target, method) for target, method, _ in measured}
    for row in found:
        target, method = row[0].strip(), row[1].strip()
        for exact, (mean, at_once) in ((False, (row[3], row[5])), (True, (row[6], row[8]))):
            now_mean, _, now_at_once = measured[target, method, exact].shares()
            # six standard errors of the small run; those of a mean over values are smaller than those of one value
            allowed = 6 * math.sqrt(0.05 * 0.95 / runs)
            assert abs(float(mean) / 100 - now_mean) < allowed / 3
            assert abs(float(at_once) / 100 - now_at_once) < allowed


def test_the_page_on_coverage_shows_the_results_that_are_kept() -> None:
    script = load("measure_promises.py")
    results, page = json.loads(script.RESULTS.read_text()), script.PAGE.read_text()
    for table in script.tables(results).values():
        assert table in page
    # every mechanism was measured in every setting, or refused it; none broke a promise by more than chance allows
    for name, setting, _ in script.jobs():
        record = results[f"{name} {setting.key}"]
        assert record["runs"] >= 25 or "refused" in record
        if record["runs"] and setting in script.PROMISES:
            allowed = 4 * math.sqrt(0.05 * 0.95 / record["runs"])
            assert record["family"] / record["runs"] <= 0.05 + allowed
            assert record["together"] / record["runs"] >= 0.95 - allowed


def test_measured_promises_can_be_measured_again() -> None:
    script = load("measure_promises.py")
    setting = script.Setting(20, 100, 2.0, "half")
    whole = script.measure(dn.mechanism("hr", k=20, epsilon=2.0), setting, 0, 4)
    parts = [script.measure(dn.mechanism("hr", k=20, epsilon=2.0), setting, first, 2) for first in (0, 2)]
    assert whole == {key: pytest.approx(sum(part[key] for part in parts)) for key in whole}
    assert script.Setting(20, 100, 2.0, "half").counts.sum() == 100


def test_the_table_of_growth_is_the_one_that_was_measured_and_has_every_mechanism() -> None:
    script = load("measure_growth.py")
    results = json.loads(script.RESULTS.read_text())
    assert script.table(results) in (DOCS / "large-alphabets.md").read_text()
    assert {key.split()[0] for key in results} == set(script.names())
    for key, found in results.items():
        steps = set(script.STEPS) - {"one_more"}  # which rows of older runs lack
        assert "refused" in found or steps <= found.keys(), key


def test_growth_can_be_measured_again() -> None:
    script = load("measure_growth.py")
    found = script.measured("grr", 1024)
    assert "refused" not in found
    assert set(script.STEPS) <= found.keys()
    assert found["n"] == 100_000


def test_a_run_of_growth_that_was_stopped_goes_on_and_older_rows_are_measured_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = load("measure_growth.py")
    monkeypatch.setattr(script, "RESULTS", tmp_path / "growth.json")
    monkeypatch.setattr(script, "write", lambda results: script.RESULTS.write_text(json.dumps(results)))
    measured: list[str] = []

    def measure(name: str, k: int) -> dict[str, Any]:
        if len(measured) == most:
            raise KeyboardInterrupt
        measured.append(f"{name} {k}")
        return {"peak": 1}

    def run(*options: str) -> list[str]:
        measured.clear()
        monkeypatch.setattr(sys, "argv", ["measure_growth.py", *options])
        with contextlib.suppress(KeyboardInterrupt):
            script.main()
        return list(measured)

    monkeypatch.setattr(script, "in_own_process", measure)
    monkeypatch.setattr(script, "names", lambda: ["a", "b"])
    monkeypatch.setattr(script, "SIZES", (1, 2))
    script.write({"a 1": {"run": "2026-01-01"}, "a 2": {"run": "2025-01-01"}, "b 1": {}})
    most = 2
    assert run() == ["a 2", "b 1"]
    assert run() == ["b 2"]
    assert run() == []
    assert run("--again", "--only", "b") == ["b 1", "b 2"]
    assert run() == []
    assert run("--again") == ["a 1", "a 2"]
    assert run() == ["b 1", "b 2"]
    assert run() == []


@pytest.mark.parametrize("name", ["scale", "memory", "spark"])
def test_figures_of_engines_are_those_of_the_record(name: str) -> None:
    script = load("make_scale_picture.py")
    page, (start, end) = script.BLOCKS[name][0], script.marks(name)
    shown = page.read_text().partition(start)[2].partition(end)[0]
    assert shown.strip() == script.text_of(name)


def test_the_table_of_making_says_what_was_measured_and_a_ratio_whether_it_misses_its_goal() -> None:
    script = load("make_scale_picture.py")
    stamp = {"date": "2026-01-31T12:00:00+00:00", "cpu": "A processor"}
    assert "not measured yet" in script.making({})[0]
    found = {
        "simulate 3000000 2": {"simulate zstd": {"wall": 1.5, "bytes": 4e6}, "writing zstd": {"wall": 0.05}},
        "privatize 1000000 1": {"privatize": {"wall": 0.25}},
    }
    text = "\n".join(script.making({"making": {**stamp, "found": found}}))
    assert "| `simulate --compression zstd` | 2 | 3,000,000 | 1.50 s | 2 | 4 | 0.050 s |" in text
    assert "| `privatize` | 1 | 1,000,000 | 0.25 s | 4 |  |  |" in text
    assert [script.judged(ratio, 1.5) for ratio in (1.5, 1.51)] == ["1.50", "1.51 **(missed)**"]


def test_tables_of_spark_and_memory_say_what_was_measured() -> None:
    script = load("make_scale_picture.py")
    stamp = {"date": "2026-01-31T12:00:00+00:00", "cpu": "A processor", "versions": {"pyspark": "4"}}
    row = {
        "mechanism": "grr",
        "reports": 20_000,
        "groups": 0,
        "ours": 3.0,
        "rival": "count()",
        "theirs": 2.5,
        "goal": 1.2,
    }
    text = script.spark({**stamp, "rows": [row, {**row, "groups": 100}]})
    assert "| `grr` | 20,000 | none | 3.00 s | count() | 2.50 s | 1.20 | at most 1.2 |" in text
    assert "Measured on 2026-01-31, A processor, pyspark 4." in text
    peaks = {"1000000": 75.1, "10000000": 150.2, "100000000": 165.2}
    found = {"summarize": {size: {"MB": peak, "seconds": 1} for size, peak in peaks.items()}}
    found["decode"] = {"1000000": {"MB": 80.0, "seconds": 1}, "10000000": {"MB": 81.0, "seconds": 1}}
    told = script.memory({**stamp, "found": found})
    assert "| command | 1,000,000 users | 10,000,000 users | 100,000,000 users | last to 10,000,000 |" in told
    assert "| `summarize` | 75 MB | 150 MB | 165 MB | 1.10 |" in told
    assert "| `decode` | 80 MB | 81 MB |  | 1.00 |" in told
