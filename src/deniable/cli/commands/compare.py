"""`deniable compare`: mechanisms side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import Json


def compare(
    k: Annotated[int, typer.Option(help="How many values the question has.")],
    epsilon: Annotated[float, typer.Option(help="The privacy parameter.")],
    n: Annotated[int, typer.Option(help="How many users answer.")] = 10_000,
    only: Annotated[str | None, typer.Option(metavar="a,b,c", help="Only these mechanisms.")] = None,
    repeats: Annotated[int, typer.Option(help="Simulations per mechanism.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of the simulations.")] = 0,
    as_json: Json = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw error against bits: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Compare mechanisms: error, report size, time and attack rate.

    \b
    Examples:
      deniable compare --k 1000 --epsilon 1
      deniable compare --k 22000 --epsilon 2 --n 10000 --plot costs.png
      deniable compare --k 100 --epsilon 4 --only grr,csr,ss --json
    """
    from deniable.cli.io.files import replacing
    from deniable.cli.terminal import console, progress
    from deniable.planning.comparison import compare as compare_all
    from deniable.plots.estimates import check_suffix

    if plot is not None:
        check_suffix(plot, (".png", ".svg", ".pdf"))
    names = None if only is None else [name.strip() for name in only.split(",")]
    with progress() as bar:
        task = bar.add_task("measuring", total=None)
        found = compare_all(
            k,
            epsilon,
            n,
            names=names,
            repeats=repeats,
            seed=seed,
            progress=lambda name: bar.update(task, description=f"measuring {name}"),
        )
    if plot is not None:
        with replacing(plot) as path:
            found.plot(path)
    if as_json:
        typer.echo(found.to_json())
        return
    console().print(found)
    typer.echo(
        "loss: mean squared error of the unbiased estimate over 4e/(n(e-1)^2)\n"
        "attack: how often the best guess of a value from one report is right"
    )
