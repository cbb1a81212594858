"""`deniable spec`: make a spec, show what it promises, check it."""

from __future__ import annotations

import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.domains import (
    High,
    Key,
    Labels,
    LabelsFile,
    Low,
    MaxBytes,
    NoAnswer,
    OpenStrings,
    Other,
    Size,
    domain_of,
)
from deniable.cli.options import Json, Settings, mechanism_names, mechanism_of, settings
from deniable.cli.running import STANDARD, CommandError, new_app
from deniable.cli.streams import echo, echo_json

app = new_app(help="Make, show and check specs, which client and server share.")


@app.command()
def new(
    epsilon: Annotated[float, typer.Option(help="The privacy parameter: a bound on what a report reveals.")],
    mechanism: Annotated[
        str | None,
        typer.Option(
            "--mechanism",
            "-m",
            autocompletion=mechanism_names,
            help="See deniable mechanisms; auto, the default, takes the least error, then the fewest bits.",
        ),
    ] = None,
    labels: Labels = None,
    labels_file: LabelsFile = None,
    k: Size = None,
    low: Low = None,
    high: High = None,
    open_strings: OpenStrings = False,
    max_bytes: MaxBytes = None,
    key: Key = None,
    candidates_expected: Annotated[
        int | None, typer.Option(help="With --open: how many candidates you will look for; 1024 by default.")
    ] = None,
    ids: Annotated[
        bool, typer.Option("--ids", help="With auto: the server knows the id of each report, which some need.")
    ] = False,
    parameters: Settings = None,
    other: Other = False,
    no_answer: NoAnswer = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the spec goes; - is standard output.")
    ] = Path(STANDARD),
) -> None:
    """Make a spec from a domain, a mechanism and an epsilon.

    Without --mechanism the one with the least error for these values is taken;
    deniable plan compares it with others.

    \b
    Examples:
      deniable spec new --labels yes,no --no-answer --epsilon 1 -o spec.json
      deniable spec new --labels-file towns.txt --other --epsilon 2 -o spec.json
      deniable spec new --low 0 --high 120 --epsilon 4 -o ages.json
      deniable spec new --k 100 --mechanism ss --set w=5 --epsilon 1 -o spec.json
      deniable spec new --open --candidates-expected 5000 --epsilon 2 -o words.json
    """
    from deniable.cli.io.files import writing
    from deniable.cli.terminal import done, note
    from deniable.mechanisms.registry import AUTO
    from deniable.mechanisms.registry import mechanism as make

    domain = domain_of(
        labels,
        labels_file,
        k,
        low,
        high,
        open_strings=open_strings,
        max_bytes=max_bytes,
        key=key,
        other=other,
        no_answer=no_answer,
        only_open={"--candidates-expected": candidates_expected},
    )
    # parameters of its own need a mechanism: for open strings the one that has the least error nearly always
    name = mechanism or ("orr" if open_strings and parameters else AUTO)
    expected = [] if candidates_expected is None else [f"candidates={candidates_expected}"]
    given = [*(parameters or []), *expected, *(["ids=true"] if ids else [])]
    made = make(name, domain=domain, epsilon=epsilon, **settings(given, name))
    with writing(output) as file:
        file.write(f"{made.spec.to_json()}\n".encode())
    done("a spec", output)
    if name.strip().lower() == AUTO:
        bits = f"{made.report_bits:,} bit{'s' * (made.report_bits > 1)} per report"
        note(
            f"chose {made.name}: the least error for these values at epsilon {epsilon:g}, in {bits}; see deniable plan"
        )


@app.command()
def show(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file.")],
    as_json: Json = False,
) -> None:
    """Show what a spec promises and what it costs.

    Everything is computed from the integers that the mechanism runs with.

    \b
    Examples:
      deniable spec show spec.json
      deniable spec show spec.json --json
    """
    from deniable.cli.io.specs import print_facts, spec_facts

    facts = spec_facts(mechanism_of(spec))
    if as_json:
        echo_json(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        print_facts(facts)


@app.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="A spec, then more specs, files of reports, and summaries."),
    ],
    as_json: Json = False,
) -> None:
    """Check a spec, and that files belong to it.

    Derives the thresholds of the spec again, and prints the fingerprint of each
    file. More specs may follow the first; reports and summaries must belong to a
    spec given before them.

    \b
    Examples:
      deniable spec check spec.json
      deniable spec check spec.json reports.parquet monday.summary --json
    """
    from deniable.cli.io.reports import fingerprint_of

    known = [mechanism_of(Path(files[0])).fingerprint]
    checked = [{"file": files[0], "kind": "spec", "fingerprint": known[0]}]
    for name in files[1:]:
        if _is_spec(name):
            known.append(mechanism_of(Path(name)).fingerprint)
            checked.append({"file": name, "kind": "spec", "fingerprint": known[-1]})
            continue
        found = fingerprint_of(name)
        if found not in known:
            raise CommandError(f"{name}: the file belongs to another spec: fingerprint {found[:12]}...")
        checked.append({"file": name, "kind": "data", "fingerprint": found})
    if as_json:
        echo_json(json.dumps(checked, ensure_ascii=False, indent=2))
    else:
        echo("\n".join(f"{each['fingerprint']}  {each['file']}" for each in checked))


def _is_spec(name: str) -> bool:
    if name == STANDARD:
        return False
    with open(name, "rb") as file:
        return file.read(64).removeprefix(BOM_UTF8).lstrip().startswith(b"{")
