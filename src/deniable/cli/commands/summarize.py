"""`deniable summarize`: reports and summaries into one summary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import AllowRepeats, Collected, SpecFile, check_inputs, mechanism_of


def summarize(
    sources: Collected,
    spec: SpecFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the summary goes, or - for standard output.")
    ],
    allow_repeats: AllowRepeats = False,
) -> None:
    """Count reports into one summary, and add summaries to it.

    A summary is all that a server has to keep. Parts may be summarised separately,
    on any machine and in any order: their sum is the same, byte for byte.

    \b
    Examples:
      deniable summarize reports.parquet --spec spec.json -o monday.summary
      deniable summarize monday.summary tuesday.csv --spec spec.json -o two.summary
    """
    from deniable.cli.io.files import writing
    from deniable.cli.io.reports import summary_of
    from deniable.cli.terminal import done

    check_inputs(sources)
    summary = summary_of(sources, mechanism_of(spec), allow_repeats=allow_repeats)
    with writing(output) as file:
        file.write(summary.to_bytes())
    done(f"a summary of {summary.n:,} reports", output)
