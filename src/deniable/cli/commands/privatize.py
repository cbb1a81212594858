"""`deniable privatize`: values into reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import Overwrite, Seed, ShowValues, SpecFile, check_new, mechanism_of


def privatize(
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="Values: a CSV or Parquet file, or - for standard input, one per line."),
    ],
    spec: SpecFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the reports go: .parquet, .csv, or - for CSV.")
    ],
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of values, if there are several columns.")
    ] = None,
    seed: Seed = None,
    overwrite: Overwrite = False,
    show_values: ShowValues = False,
) -> None:
    """Turn values into reports, one per person.

    Memory use grows neither with the file nor with the length of a report. Empty
    cells and empty lines are missing values. Error messages count rows from 1,
    without the header. A CSV of reports has one column, whose name carries the
    fingerprint of the spec. A file of reports is not replaced without --overwrite:
    reports made twice cost epsilon twice.

    \b
    Examples:
      deniable privatize values.csv --spec spec.json -o reports.parquet
      deniable privatize users.parquet --column lang --spec spec.json -o r.csv
      echo yes | deniable privatize - --spec spec.json -o -
    """
    from deniable.cli.io.files import reading
    from deniable.cli.io.keystreams import keystreams
    from deniable.cli.io.reports import check_format, writing_reports
    from deniable.cli.io.values import index_batches
    from deniable.cli.terminal import done
    from deniable.core.reports import Reports

    check_format(output)
    mechanism = mechanism_of(spec)
    check_new(output, mechanism.epsilon, overwrite or seed is not None)
    next_keystream = keystreams(seed, lambda reports: reports * mechanism.stride)
    example = Reports(mechanism.layout.empty(0), mechanism.fingerprint, seed is not None)
    made = 0
    with reading(source) as file, writing_reports(output, example) as write:
        size = mechanism.layout.row_bytes
        for indices in index_batches(file, source, column, mechanism.domain, size, show=show_values):
            payloads = mechanism.payloads(indices, next_keystream(len(indices)))
            write(Reports(payloads, mechanism.fingerprint, seed is not None))
            made += len(indices)
    done(f"{made:,} reports", output)
