"""The commands that answer: estimate frequencies, plan how many users they need, list mechanisms."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.errors import CommandError
from deniable.cli.options import (
    Collected,
    Json,
    Level,
    Simultaneous,
    SpecFile,
    Target,
    check_inputs,
    mechanism_of,
)
from deniable.estimate import LEVEL, SHOWN

if TYPE_CHECKING:
    from deniable.estimate import Estimate

_TABLES = (".csv", ".parquet", ".json")


def estimate(
    sources: Collected,
    spec: SpecFile,
    method: Annotated[
        str | None, typer.Option(help="mle, unbiased, ... (spec show lists them); the mechanism's best by default.")
    ] = None,
    target: Target = "users",
    level: Level = LEVEL,
    simultaneous: Simultaneous = False,
    top: Annotated[int | None, typer.Option(min=1, help="Print only the most frequent values.")] = None,
    as_json: Json = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Also write all values: .csv, .parquet or .json."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw the most frequent values: .png, .svg, .pdf or .html."),
    ] = None,
) -> None:
    """Estimate frequencies, with standard errors and intervals.

    \b
    Examples:
      deniable estimate today.summary --spec spec.json
      deniable estimate reports.parquet --spec spec.json --method unbiased --top 5
      deniable estimate *.summary --spec spec.json --json
      deniable estimate today.summary --spec spec.json -o all.csv --plot top.png
    """
    from deniable.cli.report_files import summary_of
    from deniable.pictures import check_suffix

    check_inputs(sources)
    if plot is not None:
        check_suffix(plot)
    if output is not None and output.suffix.lower() not in _TABLES:
        raise CommandError(f"{output}: an estimate is written to {', '.join(_TABLES)} files")
    mechanism = mechanism_of(spec)
    answer = mechanism.estimate(summary_of(sources, mechanism), method, target=target)
    answer.interval(level)  # refuses a wrong level before anything is written
    with ExitStack() as files:  # each takes its name only after both have been written
        if output is not None:
            _write_table(files, output, answer, level, simultaneous)
        if plot is not None:
            _draw(files, plot, answer, level, simultaneous, top)
    if as_json:
        typer.echo(_document(answer, level, simultaneous, top))
    else:
        _print(answer, level, simultaneous, top)


def users_needed(
    spec: SpecFile,
    margin: Annotated[float | None, typer.Option(help="Half the width the interval may have, such as 0.01.")] = None,
    detect: Annotated[float | None, typer.Option(help="The frequency to be told from zero, such as 0.001.")] = None,
    frequency: Annotated[
        float | None, typer.Option(help="With --margin: the frequency of the value; the worst by default.")
    ] = None,
    level: Level = LEVEL,
    power: Annotated[float, typer.Option(help="With --detect: how often it is to succeed.")] = 0.8,
    target: Target = "users",
    simultaneous: Simultaneous = False,
) -> None:
    """Print how many users a question needs.

    Give the margin of error you can bear, or the rare frequency to detect.

    \b
    Examples:
      deniable users-needed --spec spec.json --margin 0.01
      deniable users-needed --spec spec.json --detect 0.001 --power 0.9
    """
    from deniable.planning.sample_size import users_needed as needed

    number = needed(
        mechanism_of(spec),
        margin=margin,
        detect=detect,
        f=frequency,
        level=level,
        power=power,
        target=target,
        simultaneous=simultaneous,
    )
    typer.echo(number)


def mechanisms() -> None:
    """List the mechanisms a spec can name.

    \b
    Example:
      deniable mechanisms
    """
    import sys

    from deniable.cli.terminal import console, table
    from deniable.mechanisms.registry import registered

    listed = table("", "name", "version", "default method", "what it is", left=4)
    for kind in registered():
        about = (sys.modules[kind.__module__].__doc__ or "").strip().partition("\n")[0]
        listed.add_row(kind.name, str(kind.version), kind.default_method, about)
    console().print(listed)


def _document(answer: Estimate, level: float, simultaneous: bool, top: int | None) -> str:
    rows = (
        answer.rows(level, simultaneous=simultaneous)
        if top is None
        else answer.top(top, level, simultaneous=simultaneous)
    )
    document: dict[str, Any] = {
        "n": answer.n,
        "method": answer.method,
        "target": answer.target,
        "level": level,
        "simultaneous": simultaneous,
        "unbiased": answer.unbiased,
        "interval_note": answer.interval_note,
        "simulated": answer.simulated,
        "details": dict(answer.details),
        "fingerprint": answer.fingerprint,
        "values": [row._asdict() for row in rows],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)


def _write_table(files: ExitStack, path: Path, answer: Estimate, level: float, simultaneous: bool) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    from deniable.cli.files import writing

    file = files.enter_context(writing(path))
    suffix = path.suffix.lower()
    if suffix == ".json":
        file.write(f"{_document(answer, level, simultaneous, None)}\n".encode())
    elif suffix == ".csv":
        pyarrow.csv.write_csv(answer.to_arrow(level, simultaneous=simultaneous), file)
    else:
        pyarrow.parquet.write_table(answer.to_arrow(level, simultaneous=simultaneous), file)


def _draw(files: ExitStack, path: Path, answer: Estimate, level: float, simultaneous: bool, top: int | None) -> None:
    from deniable.cli.files import replacing

    chosen = {} if top is None else {"top": top}
    answer.plot(files.enter_context(replacing(path)), level=level, simultaneous=simultaneous, **chosen)


def _print(answer: Estimate, level: float, simultaneous: bool, top: int | None) -> None:
    from rich.markup import escape

    from deniable.cli.terminal import console, table

    rows = answer.top(top or SHOWN, level, simultaneous=simultaneous)
    title = str(answer).partition("\n")[0]
    listed = table(title, "value", "frequency", "std. error", "low", "high", "users")
    for row in rows:
        numbers = (row.frequency, row.std_error, row.low, row.high)
        listed.add_row(escape(str(row.label)), *(f"{number:.4%}" for number in numbers), f"{row.users:,.0f}")
    out = console()
    out.print(listed)
    left = len(answer.frequencies) - len(rows)
    if left:
        out.print(f"... and {left:,} more values (--top, --json or -o)")
    together = " for all values at once" if simultaneous else ""
    out.print(f"low to high: {100 * level:g}% interval{together}; {answer.interval_note}", style="dim")
    if answer.simulated:
        out.print("These reports are simulated: they were made with a seed.", style="yellow")
