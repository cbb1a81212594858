"""`deniable simulate`: files of simulated reports."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import SpecFile, mechanism_of

_MOST_DIGITS = 30  # after the first: more than any limit has, and few enough to be written out


def whole_number(text: str | int) -> int:
    """Read a whole number, which may be written as 1e9; a default is a number already."""
    try:
        number = Decimal(text)
        if number.adjusted() <= _MOST_DIGITS and number == (found := int(number)):
            return found
    except (InvalidOperation, ValueError, OverflowError):
        pass
    raise typer.BadParameter(f"{text!r} is not a whole number. Write it as 1000000 or as 1e6.")


def simulate(
    spec: SpecFile,
    users: Annotated[
        int, typer.Option(parser=whole_number, metavar="NUMBER", help="How many users report, such as 1e9.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the files go: a new or empty folder.")],
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER", help="Divide users into so many groups, a folder for each, as day=7. Repeatable."
        ),
    ] = None,
    zipf: Annotated[float, typer.Option(help="Shares of values fall as 1/rank to this power; 0 for equal ones.")] = 1.0,
    strings: Annotated[
        int | None, typer.Option(help="In an open domain: how many different strings; 1000 by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same reports.")] = 0,
    compression: Annotated[
        str, typer.Option(metavar="zstd|none", help="Small files, or files that are written faster.")
    ] = "zstd",
    file_rows: Annotated[
        int, typer.Option(parser=whole_number, metavar="NUMBER", help="The most reports in a file.")
    ] = 2**24,
    threads: Annotated[int | None, typer.Option(min=1, help="How many threads; by default one per core.")] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier simulation in the folder.")
    ] = False,
) -> None:
    """Write files of simulated reports, for load tests and demos.

    The files are Parquet, in folders such as day=2026-01-01/country=0 if there are
    groups: a column called day has dates from 2026-01-01 on, any other has numbers
    from 0. Reports are marked as simulated: the coins come from a seed, so they
    protect nobody. The same seed gives the same reports, whatever the threads.
    Memory does not grow with the users.

    truth.csv has the number of users with each value, to compare estimates with;
    simulation.json has the settings.

    \b
    Examples:
      deniable simulate --spec spec.json --users 1e9 --out reports
      deniable simulate --spec spec.json --users 1e7 --by day=7 --by country=5 --out r
    """
    from deniable.cli.streams import echo
    from deniable.cli.terminal import progress, size
    from deniable.engines.simulated import simulate_files

    mechanism, groups = mechanism_of(spec), _groups(by or [])
    with progress() as bar:
        task = bar.add_task("reports", total=users)
        made = simulate_files(
            mechanism,
            out,
            users,
            by=groups,
            zipf=zipf,
            strings=strings,
            seed=seed,
            overwrite=overwrite,
            compression=compression,
            file_rows=file_rows,
            threads=threads,
            progress=lambda rows, _: bar.update(task, completed=rows),
        )
    speed = f"{made.rows_per_second / 1e6:.3g} million reports/s, {size(made.bytes / made.seconds)}/s"
    echo(f"{users:,} simulated reports in {made.files:,} files, {size(made.bytes)}, {made.seconds:.1f} s: {speed}")


def _groups(by: list[str]) -> dict[str, int]:
    """Read `--by name=number` options."""
    from deniable.cli.running import CommandError

    found: dict[str, int] = {}
    for text in by:
        name, _, number = text.partition("=")
        if not (name and number.isascii() and number.isdigit()):
            raise CommandError(f"--by must have the form NAME=NUMBER, such as day=7, got {text!r}")
        if name in found:
            raise CommandError(f"--by {name}: the column is given twice")
        found[name] = int(number)
    return found
