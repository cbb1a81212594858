"""`deniable users-needed`: how many users a question needs."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.options import Json, Level, Simultaneous, SpecFile, Target, mechanism_of
from deniable.cli.running import CommandError
from deniable.cli.shares import share
from deniable.core.defaults import LEVEL


def users_needed(
    spec: SpecFile,
    margin: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="Half the width of the interval, such as 1%.")
    ] = None,
    detect: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="The share to tell from 0, such as 0.1%.")
    ] = None,
    frequency: Annotated[
        float | None,
        typer.Option(
            parser=share, metavar="SHARE", help="With --margin: the value's share; by default the worst case."
        ),
    ] = None,
    level: Level = LEVEL,
    power: Annotated[
        float, typer.Option(parser=share, metavar="SHARE", help="With --detect: the probability of success.")
    ] = 0.8,
    target: Target = "users",
    simultaneous: Simultaneous = False,
    as_json: Json = False,
) -> None:
    """Print how many users a question needs.

    Give the margin of error that you can accept, or the rare share to detect.
    Without a spec, deniable plan answers the same for all mechanisms.

    \b
    Examples:
      deniable users-needed --spec spec.json --margin 1%
      deniable users-needed --spec spec.json --detect 0.1% --power 0.9
    """
    import json

    from deniable.planning.sample_size import users_needed as needed

    if (margin is None) == (detect is None):
        raise CommandError("give --margin or --detect, and only one of them")
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
    typer.echo(json.dumps({"users": number}) if as_json else number)
