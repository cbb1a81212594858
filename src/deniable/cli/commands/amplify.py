"""`deniable amplify`: the privacy of one person once reports have been shuffled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import Json, mechanism_of
from deniable.cli.running import CommandError
from deniable.cli.shares import share
from deniable.cli.streams import echo, echo_json


def amplify(
    spec: Annotated[
        Path | None, typer.Argument(metavar="SPEC", help="The spec that the reports are made under.")
    ] = None,
    local: Annotated[float | None, typer.Option(help="Instead of a spec: the local epsilon of any mechanism.")] = None,
    users: Annotated[int | None, typer.Option("--users", "-n", help="How many reports are shuffled together.")] = None,
    delta: Annotated[float | None, typer.Option(help="Find the central epsilon for this delta, such as 1e-6.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="Find the delta for this central epsilon.")] = None,
    liars: Annotated[
        float, typer.Option(parser=share, metavar="SHARE", help="The share of reports that may be false.")
    ] = 0.0,
    by_id: Annotated[
        bool, typer.Option("--by-id", help="Reports carry ids; refused where a report means nothing without its id.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say what shuffling the reports adds to privacy.

    Only bounds that are proved are used. The conditions under which the answer
    holds are printed with it.

    \b
    Examples:
      deniable amplify spec.json --users 100000 --delta 1e-6
      deniable amplify spec.json --users 100000 --epsilon 0.1 --liars 5%
      deniable amplify --local 1 --users 100000 --delta 1e-6
    """
    from deniable.auditing.amplification.amplify import amplify as amplified

    if users is None:
        raise CommandError("--users must be given: how many reports are shuffled together")
    if (spec is None) == (local is None):
        raise CommandError("give a spec, or --local for any mechanism")
    if (delta is None) == (epsilon is None):
        raise CommandError("give --delta to find epsilon, or --epsilon to find delta")
    mechanism = local if spec is None else mechanism_of(spec)
    assert mechanism is not None
    found = amplified(mechanism, n=users, delta=delta, epsilon=epsilon, liars=liars, by_id=by_id)
    if as_json:
        echo_json(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        echo(found)
