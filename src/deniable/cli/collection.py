"""The commands that make reports of values and summaries of reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import Collected, SpecFile, check_inputs, mechanism_of


def privatize(
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="Values: a CSV or Parquet file, or - for standard input, one a line."),
    ],
    spec: SpecFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the reports go: .parquet, .csv, or - for CSV.")
    ],
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column with the values; not needed if there is only one.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Repeat the same reports. For simulation only: a seed protects nobody."),
    ] = None,
) -> None:
    """Turn values into reports, one per person.

    Memory does not grow with the file. Empty cells and empty lines are missing values. Rows in error messages are
    counted from 1, without the header. A CSV of reports has one column, whose
    name carries the spec's fingerprint.

    \b
    Examples:
      deniable privatize values.csv --spec spec.json -o reports.parquet
      deniable privatize users.parquet --column lang --spec spec.json -o r.csv
      echo yes | deniable privatize - --spec spec.json -o -
    """
    from deniable.cli.files import reading
    from deniable.cli.keystreams import keystreams
    from deniable.cli.report_files import check_format, writing_reports
    from deniable.cli.terminal import note
    from deniable.cli.values import index_batches
    from deniable.reports import Reports

    check_format(output)
    mechanism = mechanism_of(spec)
    next_keystream = keystreams(seed)
    if seed is not None:
        note("warning: a seed makes this a simulation: anyone can repeat it, so these reports protect nobody")
    example = Reports(mechanism.empty_payloads(0), mechanism.fingerprint, seed is not None)
    with reading(source) as file, writing_reports(output, example) as write:
        for indices in index_batches(file, source, column, mechanism.domain):
            payloads = mechanism.payloads(indices, next_keystream(len(indices)))
            write(Reports(payloads, mechanism.fingerprint, seed is not None))


def summarize(
    sources: Collected,
    spec: SpecFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the summary goes, or - for standard output.")
    ],
) -> None:
    """Count reports into one summary, and add summaries to it.

    A summary is all a server has to keep. Parts may be summarised apart, on any
    machine and in any order: added together they give the same bytes.

    \b
    Examples:
      deniable summarize reports.parquet --spec spec.json -o monday.summary
      deniable summarize monday.summary tuesday.csv --spec spec.json -o two.summary
    """
    from deniable.cli.files import writing
    from deniable.cli.report_files import summary_of

    check_inputs(sources)
    summary = summary_of(sources, mechanism_of(spec))
    with writing(output) as file:
        file.write(summary.to_bytes())
