"""`deniable summarize`: reports and summaries into one summary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import (
    AllowRepeats,
    Collected,
    SkipMalformed,
    SpecFile,
    Threads,
    check_inputs,
    mechanism_of,
)
from deniable.cli.running import STANDARD, CommandError


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
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS", help="Make one summary for each group: columns of the files or folders, with commas."
        ),
    ] = None,
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
      deniable summarize reports/ --by day,country --spec spec.json -o daily.parquet
    """
    from deniable.cli.io.engine import Counting, table_of
    from deniable.cli.io.files import writing
    from deniable.cli.io.reports import summary_of
    from deniable.cli.terminal import done

    check_inputs(sources)
    how = Counting(threads, skip_malformed)
    if by is None:
        summary = summary_of(sources, mechanism_of(spec), allow_repeats=allow_repeats, how=how)
        with writing(output) as file:
            file.write(summary.to_bytes())
        done(f"a summary of {summary.n:,} reports", output)
        return
    if str(output) == STANDARD or output.suffix.lower() != ".parquet":
        raise CommandError(f"{output}: a table of summaries is written to .parquet files")
    import pyarrow.parquet

    from deniable.cli.io.repeats import check_paths

    if not allow_repeats:
        check_paths(sources)
    table = table_of(mechanism_of(spec), sources, by, how)
    how.say_what_was_skipped()
    with writing(output) as file:
        pyarrow.parquet.write_table(table.to_arrow(), file, compression="zstd")
    done(f"{len(table):,} summaries of {table.n:,} reports", output)
