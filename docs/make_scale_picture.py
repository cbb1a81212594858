"""Draw docs/assets/scale.png, and write the tables of docs/scale.md and docs/spark.md, from the records in benchmarks/.

Run from the project's root after `python -m benchmarks.engines`, `benchmarks.memory` or `benchmarks.spark`:
`python docs/make_scale_picture.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

HERE = Path(__file__).parent
RECORDS, PICTURE = HERE.parent / "benchmarks", HERE / "assets" / "scale.png"
JOBS = {
    "reading": ("pyarrow, reading alone", "#9fb8cf"),
    "ours": ("deniable", "#1f4e79"),
    "ours by group": ("deniable, by 1,000 groups", "#3a9d8f"),
    "DuckDB": ("DuckDB, GROUP BY report", "#c0392b"),
}

HEADS = (
    *("reports", "threads", "reading alone", "`summarize`", "ratio", "million/s", "DuckDB", "reading both columns"),
    *("by 1,000 groups", "to reading both", "to reading reports", "memory"),
)


def scale(record: dict[str, Any]) -> str:
    """A row per size and number of threads: seconds, and million reports per second; then what else was measured."""
    return "\n".join([*counting(record), "", *others(record), "", *making(record)])


def counting(record: dict[str, Any]) -> list[str]:
    """Counting reports of grr, and the goals."""
    lines, faster, goals = _table(HEADS, 0), list[str](), record["goals"]
    for key, found in record["grr"]["found"].items():
        users, threads = map(int, key.split())
        wall = {job: numbers["wall"] for job, numbers in found.items()}
        most = max(found[job]["MB"] for job in ("ours", "ours by group"))
        cells = (
            *(f"{users:,}", threads, seconds(wall["reading"]), seconds(wall["ours"])),
            *(judged(wall["ours"] / wall["reading"], goals["ours / reading"]), f"{users / wall['ours'] / 1e6:,.0f}"),
            *(seconds(wall[job]) for job in ("DuckDB", "reading with groups", "ours by group")),
            judged(wall["ours by group"] / wall["reading with groups"], goals["ours by group / reading"]),
            *(f"{wall['ours by group'] / wall['reading']:.2f}", f"{most:,.0f} MB"),
        )
        lines.append(_row(cells))
        if wall["DuckDB"] < wall["ours"]:
            faster.append(f"{users:,} reports on {threads} thread{'s' * (threads > 1)}")
    told = f"DuckDB is faster than `summarize` at {'; '.join(faster)}." if faster else "DuckDB is slower in all rows."
    first, grouped = goals["ours / reading"], goals["ours by group / reading"]
    wanted = f"The goals are a ratio of at most {first:g} to reading alone and, by groups, {grouped:g} to reading both"
    return [*lines, "", f"{wanted}. {told}", "", f"Measured {when(record['grr'])}."]


def judged(ratio: float, goal: float) -> str:
    """A ratio, and whether it misses its goal."""
    return f"{ratio:.2f}" if ratio <= goal else f"{ratio:.2f} **(missed)**"


def others(record: dict[str, Any]) -> list[str]:
    """Counting reports of other mechanisms."""
    lines = ["Other mechanisms, on two threads:", ""]
    lines += _table(("mechanism", "reports", "reading alone", "`summarize`", "ratio"), 1)
    for key, found in record["others"]["found"].items():
        name, users = key.split()
        own, alone = found["ours"]["wall"], found["reading"]["wall"]
        ratio = judged(own / alone, record["goals"]["ours / reading"])
        lines.append(_row((f"`{name}`", f"{int(users):,}", seconds(alone), seconds(own), ratio)))
    return [*lines, "", f"Measured {when(record['others'])}."]


def making(record: dict[str, Any]) -> list[str]:
    """Making reports of grr: simulated files beside the bare writing of their bytes, and reports in memory."""
    if "making" not in record:
        return ["Making reports is not measured yet: `python -m benchmarks.engines --only simulate,privatize`."]
    lines = ["Making reports of `grr`:", ""]
    lines += _table(("job", "threads", "reports", "seconds", "million/s", "MB", "writing as many bytes"), 1)
    for key, found in record["making"]["found"].items():
        name, users, threads = key.split()
        for job, numbers in found.items():
            how = job.partition(" ")[2]
            if job.startswith("writing"):
                continue
            told = f"`{name}`" if not how else f"`{name} --compression {how}`"
            bare = (f"{numbers['bytes'] / 1e6:,.0f}", seconds(found[f"writing {how}"]["wall"])) if how else ("", "")
            speed = f"{int(users) / numbers['wall'] / 1e6:,.0f}"
            lines.append(_row((told, threads, f"{int(users):,}", seconds(numbers["wall"]), speed, *bare)))
    return [*lines, "", f"Measured {when(record['making'])}."]


def spark(record: dict[str, Any]) -> str:
    """A row per mechanism and kind of count: ours and Spark's own."""
    lines = _table(("mechanism", "reports", "groups", "ours", "Spark's own", "seconds of it", "ratio", "goal"), 1)
    for row in record["rows"]:
        first = (f"`{row['mechanism']}`", f"{row['reports']:,}", row["groups"] or "none", seconds(row["ours"]))
        ratio = f"{row['ours'] / row['theirs']:.2f}"
        lines.append(_row((*first, row["rival"], seconds(row["theirs"]), ratio, f"at most {row['goal']}")))
    return "\n".join([*lines, "", f"Measured {when(record)}."])


def memory(record: dict[str, Any]) -> str:
    """A row per command: peak memory at every number of users, and the ratio of the last to the second."""
    sizes = list(max(record["found"].values(), key=len))
    ratio = f"last to {int(sizes[1]):,}"
    lines = _table(("command", *(f"{int(size):,} users" for size in sizes), ratio), 1)
    for name, found in record["found"].items():
        cells = [f"{found[size]['MB']:,.0f} MB" if size in found else "" for size in sizes]
        last = found[max(found, key=int)]["MB"]
        lines.append(_row((f"`{name}`", *cells, f"{last / found[sizes[1]]['MB']:.2f}")))
    return "\n".join([*lines, "", f"Measured {when(record)}."])


def seconds(wall: float) -> str:
    """Seconds, with as many digits as mean something."""
    return f"{wall:.3f} s" if wall < 0.1 else f"{wall:.2f} s"


def when(record: dict[str, Any]) -> str:
    """When, on which processor, and with which versions a record was measured."""
    versions = ", ".join(f"{name} {number}" for name, number in record.get("versions", {}).items())
    return ", ".join(filter(None, (f"on {record['date'][:10]}", record.get("cpu", ""), versions)))


def _table(heads: tuple[str, ...], texts: int) -> list[str]:
    return [_row(heads), f"|{'---|' * texts}{'--:|' * (len(heads) - texts)}"]


def _row(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def draw(record: dict[str, Any], path: Path) -> None:
    """Throughput against users on two threads, and against threads at the largest size."""
    found = record["grr"]["found"]
    sizes = sorted({int(key.split()[0]) for key in found})
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    users, cores = figure.subplots(1, 2)
    for job, (label, colour) in JOBS.items():
        speeds = [size / found[f"{size} 2"][job]["wall"] / 1e6 for size in sizes]
        users.plot(sizes, speeds, "o-", color=colour, label=label)
        both = [sizes[-1] / found[f"{sizes[-1]} {threads}"][job]["wall"] / 1e6 for threads in (1, 2)]
        cores.plot((1, 2), both, "o-", color=colour)
    users.set(xscale="log", xlabel="reports", ylabel="million reports per second", title="two threads")
    cores.set(xlabel="threads", title=f"{sizes[-1]:,} reports", xticks=(1, 2))
    for axes in (users, cores):
        axes.set_ylim(0)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=len(JOBS), frameon=False, fontsize=8)
    figure.savefig(path, dpi=130, metadata={"Software": None})


BLOCKS = {
    "scale": (HERE / "scale.md", "engines.json", scale),
    "memory": (HERE / "scale.md", "memory.json", memory),
    "spark": (HERE / "spark.md", "spark.json", spark),
}


def text_of(name: str) -> str:
    """What the page has to say between the marks of a block."""
    _, record, table = BLOCKS[name]
    path = RECORDS / record
    if not path.is_file():
        return f"Not measured yet: `python -m benchmarks.{path.stem}` writes the record."
    return table(json.loads(path.read_text()))


def marks(name: str) -> tuple[str, str]:
    """The lines around a block."""
    return f"<!-- measured {name}: written by docs/make_scale_picture.py -->", f"<!-- end of measured {name} -->"


def main() -> None:
    """Write the blocks and draw the picture from the records."""
    for name, (page, _, _) in BLOCKS.items():
        start, end = marks(name)
        before, _, rest = page.read_text().partition(start)
        page.write_text(f"{before}{start}\n{text_of(name)}\n{end}{rest.partition(end)[2]}")
    draw(json.loads((RECORDS / "engines.json").read_text()), PICTURE)


if __name__ == "__main__":
    main()
