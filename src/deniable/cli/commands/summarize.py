"""`deniable summarize`: reports and summaries into one summary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import (
    AllowRepeats,
    By,
    Collected,
    SkipMalformed,
    SpecFile,
    Threads,
    mechanism_of,
)


def summarize(
    sources: Collected,
    spec: SpecFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the summary goes, or - for standard output.",
        ),
    ],
    by: By = None,
    threads: Threads = None,
    skip_malformed: SkipMalformed = False,
    allow_repeats: AllowRepeats = False,
) -> None:
    """Count reports into one summary, or one for each group.

    A summary is all that a server has to keep. Parts may be summarised separately,
    on any machine and in any order: their sum is the same, byte for byte. With --by
    the output is a table of summaries; such tables can be inputs, too. Folders are
    read with the keys in their names (day=2026-01-31/part.parquet).

    \b
    Examples:
      deniable summarize reports.parquet --spec spec.json -o monday.summary
      deniable summarize monday.summary tuesday.csv --spec spec.json -o two.summary
      deniable summarize reports/ --by day:date,country --spec spec.json -o daily.parquet
    """
    from deniable.cli.io.engine import Counting
    from deniable.cli.io.inputs import write_sum
    from deniable.cli.io.reports import other_input

    mechanism, how = mechanism_of(spec), Counting(threads, skip_malformed)
    write_sum(sources, mechanism, other_input(mechanism), how, output, by, allow_repeats)
