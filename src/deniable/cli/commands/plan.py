"""`deniable plan`: the mechanism for a question, the missing number, and what to expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.domains import High, Labels, LabelsFile, Low, NoAnswer, OpenStrings, Other, Size, domain_of
from deniable.cli.options import Json, Level
from deniable.cli.shares import share
from deniable.cli.streams import echo, echo_json
from deniable.core.defaults import LEVEL


def plan(
    labels: Labels = None,
    labels_file: LabelsFile = None,
    k: Size = None,
    low: Low = None,
    high: High = None,
    open_strings: OpenStrings = False,
    candidates: Annotated[int | None, typer.Option(help="With --open: how many strings you will look for.")] = None,
    other: Other = False,
    no_answer: NoAnswer = False,
    users: Annotated[int | None, typer.Option("--users", "-n", help="How many users answer.")] = None,
    epsilon: Annotated[float | None, typer.Option(help="The privacy parameter.")] = None,
    margin: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="Half the width of a rare value's interval.")
    ] = None,
    detect: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="The smallest share to be told from 0.")
    ] = None,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="The margin, or the detection, for all values at once.")
    ] = False,
    top: Annotated[int | None, typer.Option(help="How many of the most frequent values you want to find.")] = None,
    zipf: Annotated[float, typer.Option(help="With --top: shares fall as 1/rank to this power.")] = 1.3,
    suspicion: Annotated[
        float | None,
        typer.Option(parser=share, metavar="SHARE", help="What somebody believes of a person before the report ..."),
    ] = None,
    at_most: Annotated[
        float | None, typer.Option(parser=share, metavar="SHARE", help="... and the most it may become after it.")
    ] = None,
    ids: Annotated[
        bool, typer.Option("--ids", help="The server knows the id of each report, as the shortest reports need.")
    ] = False,
    max_bits: Annotated[int | None, typer.Option(help="Bits per report, at most.")] = None,
    max_client_us: Annotated[
        float | None, typer.Option(help="Microseconds to make a report, at most; measured, which takes seconds.")
    ] = None,
    max_server_ms: Annotated[
        float | None, typer.Option(help="Milliseconds to estimate, at most; measured, which takes seconds.")
    ] = None,
    liars: Annotated[
        float | None,
        typer.Option(parser=share, metavar="SHARE", help="Say what this share of users gains by lying ..."),
    ] = None,
    targets: Annotated[int, typer.Option(help="... together, for this many values.")] = 1,
    shuffled: Annotated[
        bool, typer.Option("--shuffled", help="Nobody knows who sent which report; say what that hides.")
    ] = False,
    central_epsilon: Annotated[
        float | None, typer.Option(help="With --shuffled: find the local epsilon that gives this one.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(help="With --shuffled: the probability with which it may fail, such as 1e-6.")
    ] = None,
    level: Level = LEVEL,
    power: Annotated[
        float, typer.Option(parser=share, metavar="SHARE", help="The probability with which a share is detected.")
    ] = 0.8,
    verify: Annotated[bool, typer.Option("--verify", help="Also simulate the mechanism that is chosen.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the spec to this file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose a mechanism, and find the users, epsilon or margin.

    Give the values, and two of: the users, epsilon, and a goal (--margin or
    --detect). The third is found by formula. Shares may be written as 1%.

    \b
    Examples:
      deniable plan --k 22000 --epsilon 2 --users 10000 -o spec.json
      deniable plan --k 100 --epsilon 1 --margin 1%
      deniable plan --k 100 --users 50000 --margin 1%
      deniable plan --k 22000 --epsilon 2 --detect 0.1%
      deniable plan --k 1000 --epsilon 2 --users 100000 --top 10 --zipf 1.3
      deniable plan --k 22000 --suspicion 1% --at-most 10%
      deniable plan --k 100 --epsilon 1 --users 10000 --liars 1% --targets 10
      deniable plan --k 100 --users 100000 --shuffled --central-epsilon 0.1 --delta 1e-6
      deniable plan --open --candidates 5000 --epsilon 2 --users 1000000 --max-bits 20
    """
    from deniable.cli.io.files import writing
    from deniable.cli.running import CommandError
    from deniable.planning.plan import plan as planned

    domain = domain_of(labels, labels_file, k, low, high, open_strings=open_strings, other=other, no_answer=no_answer)
    if candidates is not None and not open_strings:
        raise CommandError("--candidates can only be used with --open")
    found = planned(
        domain=domain,
        candidates=candidates,
        n=users,
        epsilon=epsilon,
        margin=margin,
        detect=detect,
        simultaneous=simultaneous,
        top=top,
        zipf=zipf,
        suspicion=suspicion,
        at_most=at_most,
        ids=ids,
        max_bits=max_bits,
        max_client_us=max_client_us,
        max_server_ms=max_server_ms,
        liars=liars,
        targets=targets,
        shuffled=shuffled,
        central_epsilon=central_epsilon,
        delta=delta,
        level=level,
        power=power,
    )
    checked = found.verify() if verify else None
    if output is not None:
        with writing(output) as file:
            file.write(f"{found.spec.to_json()}\n".encode())
    if as_json:
        document = found.to_dict() | ({} if checked is None else {"verification": dict(checked.__dict__)})
        echo_json(json.dumps(document, ensure_ascii=False, indent=2))
        return
    echo(found)
    if checked is not None:
        echo(f"\n{checked}")
    if output is not None:
        from deniable.cli.terminal import note

        note(f"wrote the spec to {output}")
