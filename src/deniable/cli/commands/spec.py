"""`deniable spec`: make a spec, show what it promises, check it."""

from __future__ import annotations

import csv
import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import Json, Settings, mechanism_names, mechanism_of, settings
from deniable.cli.running import STANDARD, CommandError, about, new_app

if TYPE_CHECKING:
    from deniable.core.domain import Domain

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
            help="See deniable mechanisms; grr by default, orr for open strings.",
        ),
    ] = None,
    labels: Annotated[str | None, typer.Option(metavar="A,B,C", help="The labels, separated by commas.")] = None,
    labels_file: Annotated[Path | None, typer.Option(metavar="FILE", help="A file with one label per line.")] = None,
    k: Annotated[int | None, typer.Option(help="The values are the whole numbers 0 to k-1.")] = None,
    low: Annotated[int | None, typer.Option(help="The values are whole numbers from this one ...")] = None,
    high: Annotated[int | None, typer.Option(help="... to this one, both included.")] = None,
    open_strings: Annotated[
        bool, typer.Option("--open", help="The values are any strings; see deniable decode.")
    ] = False,
    max_bytes: Annotated[
        int | None, typer.Option(help="With --open: the longest string allowed; 256 by default.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="With --open: a word that makes the hashes differ from those of other specs.")
    ] = None,
    candidates_expected: Annotated[
        int | None, typer.Option(help="With --open: how many candidates you will look for; 1024 by default.")
    ] = None,
    parameters: Settings = None,
    other: Annotated[bool, typer.Option("--other", help="Add a category for all values outside the domain.")] = False,
    no_answer: Annotated[bool, typer.Option("--no-answer", help="Add a category for missing values.")] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the spec goes; - is standard output.")
    ] = Path(STANDARD),
) -> None:
    """Make a spec from a domain, a mechanism and an epsilon.

    \b
    Examples:
      deniable spec new --labels yes,no --no-answer --epsilon 1 -o spec.json
      deniable spec new --labels-file towns.txt --other --epsilon 2 -o spec.json
      deniable spec new --low 0 --high 120 --epsilon 4 -o ages.json
      deniable spec new --k 100 --mechanism ss --set w=5 --epsilon 1 -o spec.json
      deniable spec new --open --candidates-expected 5000 --epsilon 2 -o words.json
    """
    from deniable.cli.io.files import writing
    from deniable.core.domain import Domain
    from deniable.mechanisms.registry import mechanism as make

    span = (low, high) if (low, high) != (None, None) else None
    given = {
        "--labels": labels,
        "--labels-file": labels_file,
        "--k": k,
        "--low and --high": span,
        "--open": open_strings or None,
    }
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise CommandError(
            f"the domain must be given once, got {', '.join(chosen) or 'none'}. Use one of {', '.join(given)}."
        )
    for_open = {"--max-bytes": max_bytes, "--key": key, "--candidates-expected": candidates_expected}
    if not open_strings and (stray := [name for name, value in for_open.items() if value is not None]):
        raise CommandError(f"{', '.join(stray)} can only be used with --open")
    extras = {"other": other, "no_answer": no_answer}
    if open_strings:
        domain: Domain = Domain.open(**_given({"max_bytes": max_bytes, "key": key} | extras))
    elif labels is not None or labels_file is not None:
        listed = _split(labels) if labels_file is None else _read_labels(labels_file)
        domain = Domain.categories(listed, **extras)
    elif k is not None:
        domain = Domain.integers(0, Domain.of(k).k - 1, **extras)
    elif low is None or high is None:
        raise CommandError("--low and --high must be given together")
    else:
        domain = Domain.integers(low, high, **extras)
    name = mechanism or ("orr" if open_strings else "grr")
    expected = [] if candidates_expected is None else [f"candidates={candidates_expected}"]
    spec = make(name, domain=domain, epsilon=epsilon, **settings([*(parameters or []), *expected], name)).spec
    with writing(output) as file:
        file.write(f"{spec.to_json()}\n".encode())


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
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        print_facts(facts)


@app.command()
def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="A spec, then more specs, files of reports, and summaries."),
    ],
) -> None:
    """Check a spec, and that files belong to it.

    Derives the thresholds of the spec again, and prints the fingerprint of each
    file. More specs may follow the first; reports and summaries must belong to a
    spec given before them.

    \b
    Examples:
      deniable spec check spec.json
      deniable spec check spec.json reports.parquet monday.summary
    """
    from deniable.cli.io.reports import fingerprint_of

    known = [mechanism_of(Path(files[0])).fingerprint]
    lines = [f"{known[0]}  {files[0]}"]
    for name in files[1:]:
        if _is_spec(name):
            known.append(mechanism_of(Path(name)).fingerprint)
            lines.append(f"{known[-1]}  {name}")
            continue
        found = fingerprint_of(name)
        if found not in known:
            raise CommandError(f"{name}: the file belongs to another spec: fingerprint {found[:12]}...")
        lines.append(f"{found}  {name}")
    typer.echo("\n".join(lines))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Keep the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def _split(labels: str | None) -> list[str]:
    """Read labels as one line of CSV, so that a quoted label may contain a comma."""
    try:
        found = next(csv.reader([labels or ""], skipinitialspace=True, strict=True), [""])
    except csv.Error:
        raise CommandError(
            "--labels has a quotation mark out of place. Put one at each end of a quoted label."
        ) from None
    if "" in found:
        raise CommandError("--labels has an empty label. Remove the extra comma.")
    return found


def _read_labels(path: Path) -> list[str]:
    with about(str(path)):
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        lines = text.removesuffix("\n").split("\n")
        if "" in lines:
            raise CommandError(f"line {lines.index('') + 1} is empty. Give one label per line.")
    return lines


def _is_spec(name: str) -> bool:
    if name == STANDARD:
        return False
    with open(name, "rb") as file:
        return file.read(64).removeprefix(BOM_UTF8).lstrip().startswith(b"{")
