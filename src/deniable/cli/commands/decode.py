"""`deniable decode`: reports about open strings into the candidates that are present, and their frequencies."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import (
    AllowRepeats,
    Collected,
    FoundSpec,
    Json,
    Level,
    PictureFile,
    TableFile,
    Target,
    check_inputs,
    check_outputs,
    mechanism_of,
    spec_beside,
)
from deniable.cli.running import STANDARD, CommandError
from deniable.cli.shares import share
from deniable.cli.streams import echo_json
from deniable.core.defaults import LEVEL, RATE, SHOWN

if TYPE_CHECKING:
    from deniable.core.estimate import Estimate, Row

Rate = Annotated[
    float,
    typer.Option(
        parser=share, metavar="SHARE", help="The largest share of absent strings among those found, on average."
    ),
]


def decode(
    sources: Collected,
    candidates: Annotated[
        str,
        typer.Option(metavar="FILE", help="Strings to look for: one per line, or a column of a .csv or .parquet file."),
    ],
    spec: FoundSpec = None,
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of candidates, if there are several columns.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="projected, selected, ... (spec show lists them); the default depends on the number of candidates."
        ),
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Assume that every string is a candidate: sharper.")
    ] = False,
    rate: Rate = RATE,
    target: Target = "users",
    level: Level = LEVEL,
    top: Annotated[int | None, typer.Option(min=1, help="Print only the most frequent strings.")] = None,
    as_json: Json = False,
    output: TableFile = None,
    plot: PictureFile = None,
    allow_repeats: AllowRepeats = False,
) -> None:
    """Find which candidate strings are present, and how frequent.

    For specs made with --open. Also shows how many users have strings that are
    not among the candidates.

    \b
    Examples:
      deniable decode --candidates words.txt reports.parquet
      deniable decode *.summary --spec spec.json --candidates words.csv --column word
      deniable decode all.summary --spec spec.json --candidates words.txt -o all.csv
    """
    from deniable.cli.io.estimates import draw, write_table
    from deniable.cli.io.reports import summary_of
    from deniable.cli.io.values import read_candidates
    from deniable.cli.terminal import progress
    from deniable.core.domain.open import Open
    from deniable.mechanisms.cohorts.base import CohortMechanism

    check_inputs([*sources, candidates])
    check_outputs(output, plot)
    spec = spec_beside(sources) if spec is None else spec
    mechanism = mechanism_of(spec)
    if not isinstance(mechanism, CohortMechanism) or not isinstance(mechanism.domain, Open):
        raise CommandError(f"{spec}: this spec lists its values. Use deniable estimate.")
    if candidates != STANDARD and candidates in sources:
        raise CommandError(f"{candidates}: the file is given both as candidates and as reports")
    sought = read_candidates(candidates, column)
    summary = summary_of(sources, mechanism, allow_repeats=allow_repeats)
    with progress() as bar:
        task = bar.add_task("decoding", total=None)
        answer = mechanism.estimate(
            summary,
            method,
            target=target,
            candidates=sought,
            complete=complete,
            progress=lambda doing: bar.update(task, description=doing),
        )
    found = _Found(answer, rate, level, complete)
    with ExitStack() as files:  # they take their names when all have been written
        if output is not None:
            write_table(files, output, found.table(), found.document(None))
        if plot is not None:
            draw(files, plot, answer, level, top)
    if as_json:
        echo_json(found.document(top))
    else:
        found.show(top)


class _Found:
    """The strings found, for the screen and for files."""

    def __init__(self, answer: Estimate, rate: float, level: float, complete: bool) -> None:
        self.answer, self.rate, self.level = answer, rate, level
        last = len(answer.frequencies) - 1
        rows = answer.present(rate, level)
        unlisted = None if complete else answer.rows(level, places=[last])[0]
        self.unlisted: Row | None = unlisted
        self.present = [row for row in rows if unlisted is None or row.label != unlisted.label]
        self.candidates = last + complete

    @property
    def promise(self) -> str:
        return (
            f"Present: tested against frequency 0. On average, at most {100 * self.rate:g}% of the strings called "
            "present are absent (Benjamini and Hochberg)."
        )

    def document(self, top: int | None) -> str:
        from deniable.cli.io.estimates import facts, to_json

        made: dict[str, Any] = {
            **facts(self.answer, self.level),
            "rate": self.rate,
            "promise": self.promise,
            "candidates": self.candidates,
            "found": len(self.present),
            "present": [row._asdict() for row in self.present[:top]],
            "unlisted": self.unlisted._asdict() if self.unlisted else None,
        }
        return to_json(made)

    def table(self) -> Any:
        """All candidates and whether each is present; the last row is all other strings together."""
        import pyarrow as pa

        whole = self.answer.to_arrow(self.level)
        there = {row.label for row in self.present}
        return whole.append_column("present", pa.array([label in there for label in whole["label"].to_pylist()]))

    def show(self, top: int | None) -> None:
        from deniable.cli.terminal import console, plain, rows_table
        from deniable.core.display import cells

        out = console()
        shown = self.present[: top or SHOWN]
        out.print(f"{len(self.present):,} of {self.candidates:,} candidates are present", style="bold")
        out.print(self.answer.title)
        if shown:
            out.print(rows_table("", shown))
        left = len(self.present) - len(shown)
        if left:
            out.print(f"... and {left:,} more that are present (--top, --json or -o)")
        if self.unlisted is not None:
            row = self.unlisted
            frequency, _, low, high = cells([row])[0]
            out.print(f"strings that are not candidates: {frequency} of users ({low} to {high})")
        out.print(self.promise, style="dim")
        for line in self.answer.remarks(self.level):
            out.print(plain(line), style="dim")
        if self.answer.simulated:
            out.print("These reports are simulated: they were made with a seed.", style="yellow")
