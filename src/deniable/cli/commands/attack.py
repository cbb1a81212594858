"""`deniable attack`: what one report gives away, what repeated and false reports do, and whether a batch has liars."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import Json, mechanism_of
from deniable.cli.shares import share
from deniable.cli.streams import echo, echo_json

if TYPE_CHECKING:
    from deniable.core.domain import Domain
    from deniable.mechanisms.base.mechanism import Mechanism


def attack(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec to attack.")],
    prior: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What is believed beforehand: CSV of labels and shares, or JSON."),
    ] = None,
    targets: Annotated[
        str, typer.Option(metavar="A,B|N", help="The values that liars push: labels, or how many.")
    ] = "1",
    liars: Annotated[float, typer.Option(parser=share, metavar="SHARE", help="The share of users who lie.")] = 0.01,
    users: Annotated[int, typer.Option("--users", "-n", help="How many users answer.")] = 10_000,
    repeats: Annotated[int, typer.Option(help="Fresh reports that one person sends about one value.")] = 30,
    reports: Annotated[
        str | None, typer.Option(metavar="INPUT", help="Also look for liars in these reports, Parquet or CSV.")
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            parser=share, metavar="SHARE", help="With --reports: false alarms per test in honest batches; one in 10^6."
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also draw what repeated reports give away: .png, .svg or .pdf.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what one report gives away, and what liars gain.

    Numbers are exact, from the integers that run, but where the answer says so:
    repeated reports are rounded a little where their odds have no common unit,
    as under clh, and bounded where values share buckets of cohorts, as under orr;
    sets of many values are bounded under sketches and mss.
    With --reports, liars are looked for in them, and the exit code is 1 if there
    is an alarm.

    \b
    Examples:
      deniable attack spec.json
      deniable attack spec.json --prior census.csv --repeats 365 --plot repeats.png
      deniable attack spec.json --targets 10 --liars 1% --users 100000
      deniable attack spec.json --reports today.parquet
    """
    from deniable.auditing.attacks.averaging import Averaging, averaging
    from deniable.auditing.attacks.poisoning import poisoning
    from deniable.auditing.attacks.reconstruction import reconstruction
    from deniable.cli.io.files import replacing
    from deniable.cli.io.priors import prior_in
    from deniable.cli.running import CommandError
    from deniable.core.errors import InvalidArgument
    from deniable.plots.estimates import check_suffix

    if level is not None and reports is None:
        raise CommandError("--level can only be used with --reports, in which liars are looked for")
    if plot is not None:
        check_suffix(plot, (".png", ".svg", ".pdf"))
    mechanism = mechanism_of(spec)
    guess = reconstruction(mechanism, None if prior is None else prior_in(prior, mechanism.domain))
    repeated: Averaging | str
    try:
        repeated = averaging(mechanism, repeats)
    except InvalidArgument as error:
        if error.name != "mechanism" or plot is not None:
            raise
        repeated = f"not computed: {error}"
    lies = poisoning(mechanism, _targets(targets, mechanism.domain), liars=liars, n=users)
    found = None if reports is None else _detected(mechanism, reports, level)
    if plot is not None and not isinstance(repeated, str):
        with replacing(plot) as path:
            repeated.plot(path)
    if as_json:
        parts: dict[str, Any] = {"reconstruction": guess, "averaging": repeated, "poisoning": lies}
        document = {name: part if isinstance(part, str) else part.to_dict() for name, part in parts.items()}
        document |= {} if found is None else {"detection": found.to_dict()}
        echo_json(json.dumps(document, ensure_ascii=False, indent=2))
    else:
        echo(f"{mechanism.name}, epsilon {mechanism.guarantee().epsilon:.6g}, {mechanism.k:,} values\n")
        echo(f"One report\n{_indented(guess)}\n\nFresh reports about one value\n{_indented(repeated)}\n")
        echo(f"False reports\n{_indented(lies)}")
        if found is not None:
            echo(f"\nThese reports\n{_indented(found)}")
    if found is not None and found.alarm:
        raise typer.Exit(1)


def _targets(text: str, domain: Domain) -> list[Any] | int:
    from deniable.cli.derived import labelled

    labels = [labelled(domain, name) for name in text.split(",")]
    if text.isdecimal() and "," not in text:
        return int(text)
    return labels


def _detected(mechanism: Mechanism, name: str, level: float | None) -> Any:
    from deniable.auditing.attacks.detectors import LEVEL, detect_poisoning
    from deniable.cli.io.reports import kept_reports

    return detect_poisoning(mechanism, kept_reports(name, mechanism), level=LEVEL if level is None else level)


def _indented(answer: object) -> str:
    return "\n".join(f"  {line}" for line in str(answer).splitlines())
