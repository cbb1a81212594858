"""Figures with goals: printed as they are measured, kept in a file, and shown in a page of the documentation."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.history import Record

DOCS = Path(__file__).resolve().parents[1] / "docs"


@dataclass(frozen=True)
class Figure:
    """What was measured where, and its goal, if it has one: at most so much, or at least."""

    what: str
    where: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the goal is reached; a figure without one cannot miss it."""
        if self.goal is None:
            return True
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    @property
    def shown(self) -> str:
        """The value, briefly."""
        return f"{rounded(self.value)} {self.unit}".strip()

    @property
    def wanted(self) -> str:
        """The goal in words, or nothing."""
        return "" if self.goal is None else f"{'≥' if self.at_least else '≤'} {rounded(self.goal)} {self.unit}".strip()


def rounded(value: float) -> str:
    """Three digits that count, written out."""
    return f"{float(f'{value:.3g}'):,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def say(figures: Iterable[Figure]) -> list[Figure]:
    """Print each figure as soon as it is there; return all."""
    found = []
    for each in figures:
        verdict = "" if each.goal is None else f"  goal {each.wanted}: {'met' if each.met else 'NOT MET'}"
        sys.stdout.write(f"{each.what:<52} {each.where:<11} {each.shown:>16}{verdict}\n")
        sys.stdout.flush()
        found.append(each)
    return found


def keep(path: Path, figures: list[Figure], note: str, versions: Mapping[str, str]) -> dict[str, Any]:
    """Write a record of this moment and this machine, without its name; return it."""
    now = Record.now({}, ())
    record = {
        "date": now.date,
        "machine": now.cpu,
        "versions": {**now.versions, **versions},
        "note": note,
        "figures": [{**asdict(each), "met": each.met} for each in figures],
    }
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return record


def figures_of(record: Mapping[str, Any]) -> list[Figure]:
    """The figures of a record."""
    return [Figure(**{name: value for name, value in each.items() if name != "met"}) for each in record["figures"]]


def table(record: Mapping[str, Any]) -> str:
    """A row for each thing that was measured, a column for each place; below it what it was measured with."""
    figures = figures_of(record)
    places = list(dict.fromkeys(each.where for each in figures))
    lines = [f"| | {' | '.join(places)} | goal |", f"|---|{'--:|' * len(places)}---|"]
    for what in dict.fromkeys(each.what for each in figures):
        own = {each.where: each for each in figures if each.what == what}
        cells = [_cell(own.get(place)) for place in places]
        lines.append(f"| {what} | {' | '.join(cells)} | {next(iter(own.values())).wanted} |")
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    note = f" {record['note'][0].upper()}{record['note'][1:]}." if record["note"] else ""
    return "\n".join([*lines, "", f"Measured on {record['date'][:10]}: {record['machine']}; {versions}.{note}"])


def _cell(figure: Figure | None) -> str:
    return "" if figure is None else figure.shown + ("" if figure.met else " **(missed)**")


def put(page: Path, marks: tuple[str, str], text: str) -> None:
    """Replace what stands between two marks of a page."""
    before, start, rest = page.read_text(encoding="utf-8").partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not start or not end:
        raise ValueError(f"{page.name} must have the marks {marks[0]} and {marks[1]}")
    page.write_text(f"{before}{start}\n{text}\n{end}{after}", encoding="utf-8")
