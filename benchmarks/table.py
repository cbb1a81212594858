"""A run as a table, one line per goal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.goals import Verdict, shown
from benchmarks.history import Record
from benchmarks.limits import described
from benchmarks.registry import Outcome

_MARKS = {True: "[green]met[/]", False: "[bold red]NOT MET[/]", None: "[bold yellow]NOT MEASURED[/]"}


def show(record: Record, console: Console) -> None:
    """Print a run."""
    table = Table(title=f"deniable {record.versions['deniable']}, {record.date}", title_justify="left")
    table.add_column("job")
    table.add_column("ours", justify="right")
    table.add_column("best peer or limit")
    table.add_column("times as fast", justify="right")
    table.add_column("goal")
    table.add_column("verdict")
    for outcome in record.outcomes:
        table.add_section()
        for place, verdict in enumerate(outcome.verdicts):
            table.add_row(outcome.job if place == 0 else "", *_cells(verdict))
    console.print(table)
    versions = ", ".join(f"{name} {number}" for name, number in record.versions.items() if name != "deniable")
    console.print(f"{record.cpu}; {versions}", markup=False)
    console.print(f"limits of the machine: {described(dict(record.limits))}", markup=False)
    for line in warnings(record.outcomes):
        console.print(f"[bold red]{escape(line)}[/]")
    console.print(summary(record.outcomes), style="bold")


def summary(outcomes: tuple[Outcome, ...]) -> str:
    """How many goals are met, not met and not measured."""
    marks = [verdict.met for outcome in outcomes for verdict in outcome.verdicts]
    return (
        f"{marks.count(True)} of {len(marks)} goals met, {marks.count(False)} not met, {marks.count(None)} not measured"
    )


def warnings(outcomes: tuple[Outcome, ...]) -> list[str]:
    """What could not be measured, and why."""
    lines = [f"{outcome.job}: {outcome.error}" for outcome in outcomes if outcome.error]
    return lines + [
        f"{outcome.job}: {peer}: {reason}" for outcome in outcomes for peer, reason in outcome.missing.items()
    ]


def _cells(verdict: Verdict) -> tuple[str, ...]:
    ours = "-" if verdict.ours is None else shown(verdict.figure, verdict.ours)
    theirs = "" if verdict.theirs is None else f" {shown(verdict.figure, verdict.theirs)}"
    against = escape(verdict.against + theirs)
    if verdict.note:
        against = f"[bold red]{escape(verdict.note)}[/]"
    ratio = "" if verdict.ratio is None else f"{verdict.ratio:,.{0 if verdict.ratio >= 10 else 2}f} ×"
    return ours, against, ratio, escape(verdict.goal), _MARKS[verdict.met]
