"""Draw docs/assets/scale.png from benchmarks/engines.json, and write the table of docs/scale.md between its marks.

Run from the project's root after `python -m benchmarks.engines`: `python docs/make_scale_picture.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

HERE = Path(__file__).parent
RECORD, PAGE, PICTURE = HERE.parent / "benchmarks" / "engines.json", HERE / "scale.md", HERE / "assets" / "scale.png"
START, END = "<!-- measured scale: written by docs/make_scale_picture.py -->", "<!-- end of measured scale -->"
JOBS = {
    "reading": ("pyarrow, reading alone", "#9fb8cf"),
    "ours": ("deniable", "#1f4e79"),
    "ours by group": ("deniable, by 1,000 groups", "#3a9d8f"),
    "DuckDB": ("DuckDB, GROUP BY report", "#c0392b"),
}

HEADS = (
    *("reports", "threads", "reading alone", "`summarize`", "ratio", "million/s", "DuckDB"),
    *("reading both columns", "by 1,000 groups", "ratio", "memory"),
)


def table(record: dict[str, Any]) -> str:
    """A row per size and number of threads: seconds, and million reports per second."""
    lines = [
        f"| {' | '.join(HEADS)} |",
        f"|{'--:|' * len(HEADS)}",
    ]
    for key, found in record["grr"].items():
        users, threads = map(int, key.split())
        wall = {job: numbers["wall"] for job, numbers in found.items()}
        most = max(found[job]["MB"] for job in ("ours", "ours by group"))
        lines.append(
            f"| {users:,} | {threads} | {wall['reading']:.2f} s | {wall['ours']:.2f} s | "
            f"{wall['ours'] / wall['reading']:.2f} | {users / wall['ours'] / 1e6:,.0f} | "
            f"{wall['DuckDB']:.2f} s | {wall['reading with groups']:.2f} s | {wall['ours by group']:.2f} s | "
            f"{wall['ours by group'] / wall['reading with groups']:.2f} | {most:,.0f} MB |"
        )
    lines += ["", "| mechanism | reports | reading alone | `summarize` | ratio |", "|---|--:|--:|--:|--:|"]
    for key, found in record["others"].items():
        name, users = key.split()
        own, alone = found["ours"]["wall"], found["reading"]["wall"]
        lines.append(f"| `{name}` | {int(users):,} | {alone:.2f} s | {own:.2f} s | {own / alone:.2f} |")
    return "\n".join(lines)


def draw(record: dict[str, Any]) -> None:
    """Throughput against users on two threads, and against threads at the largest size."""
    sizes = sorted({int(key.split()[0]) for key in record["grr"]})
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    users, cores = figure.subplots(1, 2)
    for job, (label, colour) in JOBS.items():
        speeds = [size / record["grr"][f"{size} 2"][job]["wall"] / 1e6 for size in sizes]
        users.plot(sizes, speeds, "o-", color=colour, label=label)
        both = [sizes[-1] / record["grr"][f"{sizes[-1]} {threads}"][job]["wall"] / 1e6 for threads in (1, 2)]
        cores.plot((1, 2), both, "o-", color=colour)
    users.set(xscale="log", xlabel="reports", ylabel="million reports per second", title="two threads")
    cores.set(xlabel="threads", title=f"{sizes[-1]:,} reports", xticks=(1, 2))
    for axes in (users, cores):
        axes.set_ylim(0)
        axes.spines[["top", "right"]].set_visible(False)
    users.legend(frameon=False, fontsize=8)
    figure.savefig(PICTURE, dpi=130, metadata={"Software": None})


def main() -> None:
    """Write both from the record."""
    record = json.loads(RECORD.read_text())
    before, _, rest = PAGE.read_text().partition(START)
    PAGE.write_text(f"{before}{START}\n{table(record)}\n{END}{rest.partition(END)[2]}")
    draw(record)


if __name__ == "__main__":
    main()
