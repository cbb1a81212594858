"""`python -m benchmarks`: measure, show the table, store the record."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from benchmarks import clock, history, limits, table
from benchmarks.data import DATA_VARIABLE
from benchmarks.peer_process import Peers
from benchmarks.registry import Bench, Outcome, all_rows, outcomes

_WIDTH = 140  # of a table written to a file
_HERE = Path(__file__).resolve().parent
_HISTORY = _HERE / "history.jsonl"
_DATA = _HERE.parent.parent / "shared" / "data"


def main(
    peers: Annotated[Path | None, typer.Option(help="The Python interpreter of the peers' environment.")] = None,
    data: Annotated[Path, typer.Option(envvar=DATA_VARIABLE, help="The folder of real histograms.")] = _DATA,
    only: Annotated[str, typer.Option(help="Run only jobs whose name contains this text; store no record.")] = "",
    last: Annotated[bool, typer.Option("--last", help="Show the last record without measuring.")] = False,
) -> None:
    """Measure deniable and its peers on the same data and core, in one run."""
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    if last:
        record = history.last(_HISTORY)
        if record is None:
            raise typer.BadParameter("there is no record yet: run `make bench`")
        table.show(record, console)
        return
    rows = [row for row in all_rows() if only.lower() in row.job.lower()]
    if not rows:
        raise typer.BadParameter(f"no job's name contains {only!r}")
    clock.pin()
    found: list[Outcome] = []
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("limits of the machine", total=len(rows))
        measured_limits = limits.measure()
        running = outcomes(rows, Bench(Peers(peers), data, measured_limits))
        for row in rows:
            progress.update(task, description=row.job)
            found.append(next(running))
            progress.advance(task)
    record = history.Record.now(measured_limits, tuple(found))
    table.show(record, console)
    if not only:
        history.append(_HISTORY, record)


typer.run(main)
