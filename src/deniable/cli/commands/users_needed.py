"""`deniable users-needed`: how many users a question needs."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.options import Level, Simultaneous, SpecFile, Target, mechanism_of
from deniable.core.defaults import LEVEL


def users_needed(
    spec: SpecFile,
    margin: Annotated[float | None, typer.Option(help="Half the width of the interval, such as 0.01.")] = None,
    detect: Annotated[float | None, typer.Option(help="The frequency to distinguish from zero, such as 0.001.")] = None,
    frequency: Annotated[
        float | None, typer.Option(help="With --margin: the frequency of the value; by default the worst case.")
    ] = None,
    level: Level = LEVEL,
    power: Annotated[float, typer.Option(help="With --detect: the probability of success.")] = 0.8,
    target: Target = "users",
    simultaneous: Simultaneous = False,
) -> None:
    """Print how many users a question needs.

    Give the margin of error that you can accept, or the rare frequency to detect.

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
