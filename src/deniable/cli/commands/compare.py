"""`deniable compare`: mechanisms side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.domains import High, Labels, LabelsFile, Low, NoAnswer, Other, Size, domain_of
from deniable.cli.options import Json


def compare(
    epsilon: Annotated[float, typer.Option(help="The privacy parameter.")],
    labels: Labels = None,
    labels_file: LabelsFile = None,
    k: Size = None,
    low: Low = None,
    high: High = None,
    other: Other = False,
    no_answer: NoAnswer = False,
    n: Annotated[int, typer.Option("--users", "-n", "--n", help="How many users answer.")] = 10_000,
    only: Annotated[str | None, typer.Option(metavar="a,b,c", help="Only these mechanisms.")] = None,
    simulate: Annotated[bool, typer.Option("--simulate", help="Also measure the errors in simulations.")] = False,
    time: Annotated[bool, typer.Option("--time", help="Also measure the times of client and server.")] = False,
    repeats: Annotated[int, typer.Option(help="With --simulate: simulations per mechanism.")] = 3,
    seed: Annotated[int, typer.Option(help="With --simulate: seed of the simulations.")] = 0,
    as_json: Json = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw error against bits: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Compare mechanisms: error, report size, time and attack rate.

    Errors follow from formulas, at once. Simulations and times take seconds.

    \b
    Examples:
      deniable compare --k 1000 --epsilon 1
      deniable compare --labels yes,no,maybe --epsilon 1 --users 5000
      deniable compare --k 22000 --epsilon 2 --plot costs.png
      deniable compare --k 100 --epsilon 4 --only grr,csr,ss --simulate --time --json
    """
    from deniable.cli.io.files import replacing
    from deniable.cli.running import CommandError
    from deniable.cli.streams import echo_json
    from deniable.cli.terminal import console, progress
    from deniable.planning.comparison import compare as compare_all
    from deniable.plots.estimates import check_suffix

    if plot is not None:
        check_suffix(plot, (".png", ".svg", ".pdf"))
    names = None if only is None else [name.strip() for name in only.split(",")]
    with progress() as bar:
        task = bar.add_task("comparing", total=None)
        found = compare_all(
            domain=domain_of(labels, labels_file, k, low, high, other=other, no_answer=no_answer),
            epsilon=epsilon,
            n=n,
            names=names,
            simulated=simulate,
            timed=time,
            repeats=repeats,
            seed=seed,
            progress=lambda name: bar.update(task, description=f"comparing {name}"),
        )
    if as_json:
        echo_json(found.to_json())
    elif not found.rows:
        raise CommandError("; ".join(f"{name}: {reason}" for name, reason in found.left_out.items()))
    if plot is not None:
        with replacing(plot) as path:
            found.plot(path)
    if as_json:
        return
    console().print(found)
    typer.echo(
        "loss: mean squared error of the unbiased estimate over 4e/(n(e-1)^2), at the epsilon that is spent\n"
        "attack: how often the best guess of a value from one report is right, at most"
    )
