"""The program `deniable`: its commands in sections, each loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from deniable._version import __version__
from deniable.cli.commands import SECTIONS
from deniable.cli.running import new_app, run_program


class _Commands(Mapping[str, Any]):
    """All commands by name; looking one up imports its module."""

    def __getitem__(self, name: str) -> Any:
        if name not in list(self):
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return (name for section in SECTIONS.values() for name in section)

    def __len__(self) -> int:
        return sum(map(len, SECTIONS.values()))


class _Program(TyperGroup):
    """A group that lists its commands in sections, from their summaries and without loading them."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands()  # type: ignore[assignment]  # typer only reads it

    def format_commands(self, _context: Any, formatter: Any) -> None:
        width = max(map(len, self.commands))  # of the first column, the same in all sections
        for heading, summaries in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in summaries.items()])


@cache
def _load(name: str) -> Any:
    """Import a command: the group of commands that its module calls `app`, else the function of its own name."""
    attribute = name.replace("-", "_")
    module = import_module(f"deniable.cli.commands.{attribute}")
    app = getattr(module, "app", None)
    if app is None:
        app = new_app()
        app.command(name)(getattr(module, attribute))
    command = typer.main.get_command(app)
    command.name = name
    return command


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"deniable {__version__}")
        raise typer.Exit


app = new_app(cls=_Program, add_completion=True)


@app.callback()
def deniable(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Private telemetry you can still learn from: devices send randomised half-truths that add up to a histogram.

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
