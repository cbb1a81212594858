"""The values of a question as options of a command: labels, a range, or open strings."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.running import CommandError, about

if TYPE_CHECKING:
    from deniable.core.domain import Domain

Labels = Annotated[str | None, typer.Option("--labels", metavar="A,B,C", help="The labels, separated by commas.")]
LabelsFile = Annotated[
    Path | None, typer.Option("--labels-file", metavar="FILE", help="A file with one label per line.")
]
Size = Annotated[int | None, typer.Option("--k", help="The values are the whole numbers 0 to k-1.")]
Low = Annotated[int | None, typer.Option("--low", help="The values are whole numbers from this one ...")]
High = Annotated[int | None, typer.Option("--high", help="... to this one, both included.")]
OpenStrings = Annotated[bool, typer.Option("--open", help="The values are any strings; see deniable decode.")]
MaxBytes = Annotated[
    int | None, typer.Option("--max-bytes", help="With --open: the longest string allowed; 256 by default.")
]
Key = Annotated[
    str | None,
    typer.Option("--key", help="With --open: a word that makes the hashes differ from those of other specs."),
]
Other = Annotated[bool, typer.Option("--other", help="Add a category for all values outside the domain.")]
NoAnswer = Annotated[bool, typer.Option("--no-answer", help="Add a category for missing values.")]


def domain_of(
    labels: str | None = None,
    labels_file: Path | None = None,
    k: int | None = None,
    low: int | None = None,
    high: int | None = None,
    *,
    open_strings: bool = False,
    max_bytes: int | None = None,
    key: str | None = None,
    other: bool = False,
    no_answer: bool = False,
    only_open: dict[str, Any] | None = None,
) -> Domain:
    """Make the domain that the options describe; `only_open` are further options that need --open."""
    from deniable.core.domain import Domain

    given = {
        "--labels": labels,
        "--labels-file": labels_file,
        "--k": k,
        "--low and --high": (low, high) if (low, high) != (None, None) else None,
        "--open": open_strings or None,
    }
    chosen = [name for name, value in given.items() if value is not None]
    if len(chosen) != 1:
        raise CommandError(
            f"the domain must be given once, got {', '.join(chosen) or 'none'}. Use one of {', '.join(given)}."
        )
    for_open = {"--max-bytes": max_bytes, "--key": key, **(only_open or {})}
    if not open_strings and (stray := [name for name, value in for_open.items() if value is not None]):
        raise CommandError(f"{', '.join(stray)} can only be used with --open")
    extras: dict[str, Any] = {"other": other, "no_answer": no_answer}
    if open_strings:
        limits: dict[str, Any] = {
            name: value for name, value in (("max_bytes", max_bytes), ("key", key)) if value is not None
        }
        return Domain.open(**limits, **extras)
    if labels is not None or labels_file is not None:
        return Domain.categories(_split(labels) if labels_file is None else _read_labels(labels_file), **extras)
    if k is not None:
        return Domain.integers(0, Domain.of(k).k - 1, **extras)
    if low is None or high is None:
        raise CommandError("--low and --high must be given together")
    return Domain.integers(low, high, **extras)


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
