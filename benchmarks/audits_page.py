"""The figures of `python -m benchmarks.audits` as the tables of docs/audit.md."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "docs" / "measured" / "audits.json", ROOT / "docs" / "audit.md"
PARTS = ("shares", "faulty", "over", "detector")
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)

Results = dict[str, Any]


def read(path: Path = RESULTS) -> Results:
    """The record; empty where nothing was measured."""
    return dict(json.loads(path.read_text())) if path.exists() else {}


def shares(results: Results) -> str:
    """The share of epsilon that ten million reports certify, the mean of some runs, with the seconds of the longest."""
    record = results.get("shares", {})
    lines = [
        "| share of epsilon (seconds) | " + " | ".join(f"{epsilon:g}" for epsilon in EPSILONS) + " |",
        "|---|" + "--:|" * len(EPSILONS),
    ]
    for name in sorted({key.split()[0] for key in record}):
        cells = [_share(record.get(f"{name} {epsilon:g}")) for epsilon in EPSILONS]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join([*lines, "", _when(record)])


def _share(found: dict[str, Any] | None) -> str:
    if found is None:
        return "not yet"
    if "refused" in found:
        return "refused"
    mean = fmean(found["shares"])
    return f"{mean:.3f} ({math.ceil(found['seconds'])})".removeprefix("0") + (" FAULT" if found["wrong"] else "")


def rates(results: Results) -> str:
    """How often bounds and detectors err, and what they see."""
    lines = ["| figure | measured |", "|---|---|"]
    if found := results.get("faulty", {}).get("oue"):
        told = f"epsilon at least {found['bound']:.3f} in {found['seconds']:.0f} s; the truth is {found['truth']:.3f}"
        lines.append(f"| the faulty OUE client below, 25 values, 4 million reports | {told} |")
    if record := results.get("over", {}):
        runs, over = (sum(found[key] for found in record.values()) for key in ("runs", "over"))
        lines.append(
            f"| runs of 100,000 reports whose bound at alpha .05 is above the truth | {over:,} of {runs:,} "
            f"({over / runs:.1%} ± {math.sqrt(0.05 * 0.95 / runs):.1%}) |"
        )
    for key, found in sorted(results.get("detector", {}).items()):
        name, kind = key.split()
        runs = found["runs"]
        if kind == "lying":
            said = f"{found['alarms']:,} of {runs:,} seen; all ten targets named in {found['named']:,}"
            lines.append(f"| liars under `{name}`: 0.3% of 100,000, ten targets, 128 values | {said} |")
        else:
            # no alarm in n runs: with 95% the rate is at most 3/n
            said = f"{found['alarms']:,} of {runs:,} alarms, {found['above']:,} at the level of 1%"
            said += f"; the rate is below {3 / runs:.1g} with 95%" if not found["alarms"] else ""
            lines.append(f"| honest batches under `{name}` | {said} |")
    found = {key: each for part in PARTS[1:] for key, each in results.get(part, {}).items()}
    return "\n".join([*lines, "", _when(found)])


def _when(record: Results) -> str:
    dates = sorted({found["date"] for found in record.values() if "date" in found})
    machines = sorted({found["machine"] for found in record.values() if "machine" in found})
    span = dates[0] if dates[:1] == dates[-1:] else f"{dates[0]} to {dates[-1]}"
    return f"Measured by `python -m benchmarks.audits`, {span}, on {' and '.join(machines)}, one core." if dates else ""


def parts(results: Results) -> dict[str, str]:
    """The blocks of the page, by name."""
    return {"shares": f"\n{shares(results)}\n\n", "rates": f"\n{rates(results)}\n\n"}


def write(results: Results, page: Path = PAGE) -> None:
    """Put the blocks into their places on the page."""
    from tools.derived import replaced

    text = page.read_text()
    for name, content in parts(results).items():
        text = replaced(text, name, content)
    page.write_text(text)
