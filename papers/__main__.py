"""`python -m papers`: list published results, measure them, and write the report."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.running import CommandError, new_app, run_program

app = new_app(help="Redraw published figures and tables, with a verdict on each claim.")

_DEFAULT = Path("build/papers")

Names = Annotated[list[str] | None, typer.Argument(help="Papers, or figures as paper/figure; all by default.")]
Full = Annotated[bool, typer.Option("--full", help="Run the full grid, which takes a night, instead of the quick one.")]
Results = Annotated[Path, typer.Option("--results", help="Folder that keeps the results.")]
Data = Annotated[Path | None, typer.Option("--data", help="Folder with real data; without it, stand-ins are used.")]


@app.command("list")
def list_(names: Names = None, full: Full = False, results: Results = _DEFAULT / "results", data: Data = None) -> None:
    """List every figure and table with its claims and verdicts: yours, or those of the last published run.

    \b
    Examples:
      python -m papers list
      python -m papers list kbr
    """
    from deniable.cli.terminal import console, table
    from papers.frame.cache import Cache
    from papers.frame.experiment import NOT_RUN
    from papers.frame.library import experiments
    from papers.frame.record import judged, shipped

    _use(data)
    listed, known = table("", "figure", "claim", "verdict", left=3), {} if full else shipped()
    for experiment in experiments(names or ()):
        for claim, verdict in judged(experiment, Cache(results), full=full).verdicts:
            last = known.get((experiment.id, claim.text))
            kind = f"{last} (shipped)" if verdict.kind == NOT_RUN and last else verdict.kind
            listed.add_row(experiment.id, claim.text, kind)
    console().print(listed)


@app.command()
def run(
    names: Names = None,
    full: Full = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="Number of processes; by default one per core.")] = None,
    results: Results = _DEFAULT / "results",
    data: Data = None,
) -> None:
    """Measure what is missing. If interrupted, run it again to continue.

    \b
    Examples:
      python -m papers run
      python -m papers run kbr/figure-3 --full
    """
    from rich.progress import TimeRemainingColumn

    from deniable.cli.terminal import note, progress
    from papers.frame.cache import Cache
    from papers.frame.experiment import Experiment
    from papers.frame.library import experiments
    from papers.frame.record import judged
    from papers.frame.runner import run as measure

    _use(data)
    chosen, cache = experiments(names or ()), Cache(results)
    seeds = {seed for each in chosen for seed in _seeds(each, full)}
    note(f"{len(chosen)} figures and tables, seeds {min(seeds)} to {max(seeds)}, results in {results}")
    with progress() as bar:
        bar.columns = (*bar.columns[:-1], TimeRemainingColumn())
        task = bar.add_task("", total=sum(len(each.grid(full=full)) for each in chosen))
        before = {each.id: 0 for each in chosen}

        def show_progress(experiment: Experiment, done: int, _total: int) -> None:
            bar.update(task, description=experiment.id, advance=done - before[experiment.id])
            before[experiment.id] = done

        measure(chosen, cache, full=full, jobs=jobs or os.cpu_count() or 1, progress=show_progress)
    for each in chosen:
        for claim, verdict in judged(each, cache, full=full).verdicts:
            typer.echo(f"{each.id}: {claim.text}: {verdict.kind} ({verdict.numbers})")


@app.command()
def report(
    names: Names = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the page, pictures and tables.")] = _DEFAULT
    / "report",
    full: Full = False,
    docs: Annotated[
        bool, typer.Option("--docs", help="Write the report of the documentation, in docs/papers.")
    ] = False,
    results: Results = _DEFAULT / "results",
    data: Data = None,
) -> None:
    """Write a page with every figure, claim and verdict.

    \b
    Examples:
      python -m papers report
      python -m papers report kbr -o kbr
    """
    from deniable.cli.terminal import progress
    from papers.frame.cache import Cache
    from papers.frame.library import experiments
    from papers.frame.record import SHIPPED, judged
    from papers.frame.report import write

    _use(data)
    cache = Cache(results)
    if docs and (names or full):
        raise CommandError("--docs publishes all papers on the quick grid: leave out names and --full")
    with progress() as bar:
        chosen = experiments(names or ())
        task = bar.add_task("drawing", total=len(chosen))
        entries = [judged(each, cache, full=full) for each in chosen]
        page = write(
            entries,
            SHIPPED.parent if docs else output,
            full=full,
            page_name="report.html" if docs else "index.html",
            tables=not docs,
            progress=lambda each: bar.update(task, advance=1, description=each.id),
        )
    typer.echo(page)


def _seeds(experiment: object, full: bool) -> range:
    grid = experiment.grid(full=full)  # type: ignore[attr-defined]
    return range(grid.first_seed, grid.first_seed + grid.repeats)


def _use(data: Path | None) -> None:
    """Tell the experiments where real data are, in this and in other processes."""
    from papers.frame.data import VARIABLE

    if data is not None:
        if not data.is_dir():
            raise CommandError(f"{data}: --data must be a folder")
        os.environ[VARIABLE] = str(data.resolve())


if __name__ == "__main__":
    sys.exit(run_program(app, "python -m papers"))
