"""Measure what the intervals and tests of every mechanism keep of their promises, and write docs/coverage.md's tables.

Run from the project's root: `python docs/measure_promises.py --seconds 600`. Results are kept in
docs/measured/promises.json after every batch of runs, so that the script may be stopped, and goes on where it was.
Seeds are fixed: run number i of a mechanism and a setting is always the same.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import deniable as dn
from deniable.mechanisms.forecasts.built import NO_FORMULA

HERE = Path(__file__).parent
PAGE, RESULTS = HERE / "coverage.md", HERE / "measured" / "promises.json"
LEVEL, RATE = 0.95, 0.05
BATCH = 25  # runs between two savings
RUNS, MORE_RUNS = 2_000, 10_000
MORE = ("hr", "rhr", "hpgr", "mss", "orr", "cms")  # without binomial tails
NAMES = tuple(name for name in dn.list_mechanisms() if name not in NO_FORMULA)


@dataclass(frozen=True)
class Setting:
    """A collection to simulate repeatedly."""

    k: int
    n: int
    epsilon: float
    shape: str  # of the true frequencies

    @property
    def counts(self) -> np.ndarray:
        ranks = np.arange(1, self.k + 1, dtype=float)
        weights = np.ones(self.k) if self.shape == "flat" else ranks**-1.2
        if self.shape == "half":
            weights[self.k // 2 :] = 0  # half of the values do not occur
        counts = np.floor(self.n * weights / weights.sum()).astype(np.int64)
        counts[0] += self.n - counts.sum()
        return counts

    @property
    def key(self) -> str:
        return f"k={self.k} n={self.n} epsilon={self.epsilon:g} {self.shape}"


PROMISES = tuple(Setting(1000, n, epsilon, "half") for n, epsilon in ((50, 6.0), (5000, 6.0), (2000, 4.0)))
TOPS = tuple(Setting(100, n, 1.0, shape) for shape in ("flat", "zipf") for n in (1_000, 10_000, 100_000))
TOP_NAMES = ("csr", "grr", "oue")


def jobs() -> list[tuple[str, Setting, int]]:
    """All mechanisms and settings to measure, with the number of runs wanted."""
    promised = [(name, setting, MORE_RUNS if name in MORE else RUNS) for setting in PROMISES for name in NAMES]
    return promised + [(name, setting, RUNS) for setting in TOPS for name in TOP_NAMES]


def measure(mechanism: Any, setting: Setting, first: int, runs: int) -> dict[str, float]:
    """Sums over these runs: see `shares`."""
    counts = setting.counts
    truth, absent = counts / setting.n, counts == 0
    sums = dict.fromkeys(("family", "false", "together", "first", "first_alone", "present", "absent"), 0.0)
    for seed in range(first, first + runs):
        estimate = mechanism.estimate(dn.simulate(mechanism, counts, seed=seed), "unbiased")
        rule = estimate.interval_rule
        sums["family"] += bool(absent[rule.present(RATE, "family")].any())
        found = rule.present(RATE, "discoveries")
        sums["false"] += float(absent[found].sum() / max(1, found.sum()))
        top = int(np.argmax(estimate.frequencies))
        held = [
            (low <= truth) & (truth <= high)
            for low, high in (estimate.interval(LEVEL, simultaneous=at_once) for at_once in (True, False))
        ]
        sums["together"] += bool(held[0].all())
        sums["first"] += bool(held[0][top])
        sums["first_alone"] += bool(held[1][top])
        sums["present"] += float(held[1][~absent].mean())
        sums["absent"] += float(held[1][absent].mean()) if absent.any() else 0.0
    return sums


def advance(results: dict[str, Any], seconds: float) -> None:
    """Run the jobs with the fewest runs first, batch by batch, until time is up or all are done."""
    made: dict[tuple[str, str], Any] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        open_jobs = [
            (results.get(f"{name} {setting.key}", {"runs": 0}), name, setting, wanted)
            for name, setting, wanted in jobs()
        ]
        open_jobs = [job for job in open_jobs if job[0]["runs"] < job[3] and "refused" not in job[0]]
        if not open_jobs:
            return
        record, name, setting, wanted = min(open_jobs, key=lambda job: job[0].get("cost", 0.0))
        began = time.monotonic()
        try:
            mechanism = made.setdefault((name, setting.key), None) or dn.mechanism(
                name, k=setting.k, epsilon=setting.epsilon
            )
        except dn.InvalidArgument as error:
            results[f"{name} {setting.key}"] = {"runs": 0, "refused": str(error)}
            continue
        made[name, setting.key] = mechanism
        runs = min(BATCH, wanted - record["runs"])
        sums = measure(mechanism, setting, record["runs"], runs)
        added = {key: record.get(key, 0.0) + value for key, value in sums.items()}
        cost = record.get("cost", 0.0) + time.monotonic() - began
        results[f"{name} {setting.key}"] = {"runs": record["runs"] + runs, "cost": round(cost, 2), **added}
        save(results)


def save(results: dict[str, Any]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    partial = RESULTS.with_suffix(".part")
    partial.write_text(json.dumps(results, indent=0, sort_keys=True) + "\n")
    partial.replace(RESULTS)


def shares(record: dict[str, Any], *keys: str) -> list[str]:
    """Percentages of the runs."""
    return [f"{100 * record[key] / record['runs']:.1f}" for key in keys]


def tables(results: dict[str, Any]) -> dict[str, str]:
    """The tables of the page, by the names of their places."""
    promised = []
    for setting in PROMISES:
        lines = [
            f"**k = {setting.k:,}, n = {setting.n:,}, epsilon = {setting.epsilon:g}**",
            "",
            "| mechanism | runs | family-wise error | false share | all at once | present values | absent values |",
            "|---|--:|--:|--:|--:|--:|--:|",
        ]
        refused = []
        for name in NAMES:
            record = results.get(f"{name} {setting.key}", {"runs": 0})
            if record["runs"]:
                numbers = shares(record, "family", "false", "together", "present", "absent")
                lines.append(f"| `{name}` | {record['runs']:,} | {' | '.join(numbers)} |")
            elif "refused" in record:
                refused.append(f"`{name}`")
        note = f"\n\nThese refuse the setting: {', '.join(refused)}." if refused else ""
        promised.append("\n".join(lines) + note)
    lines = [
        "| data | n | mechanism | runs | first row, as printed | first row, per value |",
        "|---|--:|---|--:|--:|--:|",
    ]
    for setting in TOPS:
        for name in TOP_NAMES:
            record = results.get(f"{name} {setting.key}", {"runs": 0})
            if record["runs"]:
                numbers = shares(record, "first", "first_alone")
                lines.append(
                    f"| {setting.shape} | {setting.n:,} | `{name}` | {record['runs']:,} | {' | '.join(numbers)} |"
                )
    return {"promises": "\n\n".join(promised), "first rows": "\n".join(lines)}


def write(results: dict[str, Any], page: Path = PAGE) -> None:
    """Put the tables into their places on the page."""
    text = page.read_text()
    for name, table in tables(results).items():
        start, end = f"<!-- measured {name}: by docs/measure_promises.py -->", f"<!-- end of measured {name} -->"
        before, rest = text.split(start)
        text = f"{before}{start}\n\n{table}\n\n{end}{rest.split(end)[1]}"
    page.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after this time; 0 only writes the tables")
    warnings.simplefilter("ignore", dn.DesignWarning)
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    advance(results, parser.parse_args().seconds)
    write(results)


if __name__ == "__main__":
    main()
