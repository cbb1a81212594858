"""The program: all commands together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from deniable._version import __version__
from deniable.cli.commands import heavy_hitters, spec
from deniable.cli.commands.ask import ask
from deniable.cli.commands.compare import compare
from deniable.cli.commands.decode import decode
from deniable.cli.commands.demo import demo
from deniable.cli.commands.estimate import estimate
from deniable.cli.commands.mechanisms import mechanisms
from deniable.cli.commands.privatize import privatize
from deniable.cli.commands.release import release
from deniable.cli.commands.summarize import summarize
from deniable.cli.commands.users_needed import users_needed
from deniable.cli.running import run_program

# plain help: rich's costs 0.1 s; in docstrings, \b keeps the lines of a paragraph apart
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(demo)
app.add_typer(spec.app, name="spec")
app.command()(privatize)
app.command()(summarize)
app.command()(estimate)
app.command()(decode)
app.add_typer(heavy_hitters.app, name="heavy-hitters")
app.command()(release)
app.command()(ask)
app.command("users-needed")(users_needed)
app.command()(compare)
app.command()(mechanisms)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"deniable {__version__}")
        raise typer.Exit


@app.callback()
def deniable(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Private telemetry that answers: each device tells a randomised half-truth, together they give a histogram.

    \b
    A question from beginning to end:
      deniable spec new --labels yes,no --epsilon 1 -o spec.json
      deniable privatize values.csv --spec spec.json -o reports.parquet
      deniable summarize reports.parquet --spec spec.json -o today.summary
      deniable estimate today.summary --spec spec.json

    Or see it work on a million simulated users: deniable demo
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return run_program(app, "deniable", arguments)
