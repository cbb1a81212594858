"""The program: all commands together, and what becomes of their errors."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, TextIO

import typer

from deniable._version import __version__
from deniable.cli import (
    answers,
    asking,
    collection,
    comparisons,
    decoding,
    demo,
    heavy_hitters,
    papers,
    releases,
    specs,
)
from deniable.cli.errors import one_line

BROKEN_PIPE, WRONG, INTERRUPTED = 1, 2, 130

# plain help: rich's costs 0.1 s; in docstrings, \b keeps the lines of a paragraph apart
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command()(demo.demo)
app.add_typer(specs.app, name="spec")
app.command()(collection.privatize)
app.command()(collection.summarize)
app.command()(answers.estimate)
app.command()(decoding.decode)
app.add_typer(heavy_hitters.app, name="heavy-hitters")
app.command()(releases.release)
app.command()(asking.ask)
app.command("users-needed")(answers.users_needed)
app.command()(comparisons.compare)
app.command()(answers.mechanisms)
app.add_typer(papers.app, name="papers")


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
    """Run one command and return its exit code: 0, 2 for any error, 130 when interrupted.

    An error is one line on stderr. A reader that went away (`| head`) is no error, but ends the command.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(given or ["--help"])
        if sys.stdout is not None:
            sys.stdout.flush()  # a full disk shows here, not after the last line of main
        return code
    except BrokenPipeError:
        _abandon(sys.stdout)
        return BROKEN_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", INTERRUPTED)
    except Exception as error:
        if os.environ.get("DENIABLE_TRACEBACK"):
            raise
        if isinstance(error, OSError):
            _abandon(sys.stdout)
        return _complain(one_line(error), WRONG)


def _run(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            # not command(): it would end the process and word the errors itself
            with command.make_context("deniable", arguments) as context:
                command.invoke(context)
        except typer.Exit as finished:
            return finished.exit_code
    return 0


def _complain(message: str, code: int) -> int:
    typer.echo(f"deniable: error: {message}", err=True)
    return code


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    typer.echo(f"deniable: warning: {message}", err=True)


def _abandon(stream: TextIO | None) -> None:
    """Keep the interpreter from writing the rest, and complaining again, when it ends."""
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())  # type: ignore[union-attr]
