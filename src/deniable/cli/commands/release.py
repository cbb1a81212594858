"""`deniable release`: counts with exact noise, in a file that records its noise parameters."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import Columns, ShowValues
from deniable.cli.running import STANDARD, CommandError

if TYPE_CHECKING:
    from deniable.cli.io.counts import Counts, Published


def release(
    source: Annotated[
        str,
        typer.Argument(
            metavar="COUNTS", help="True counts: a CSV or Parquet table, or one number per line; - is standard input."
        ),
    ],
    epsilon: Annotated[
        float, typer.Option(help="The privacy parameter: the cost of the release, whatever is asked later.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where the noisy counts go: .csv, .parquet, .json, or - for CSV."
        ),
    ],
    sensitivity: Annotated[
        int,
        typer.Option(
            help="How much one person can change the counts: 1 by joining or leaving one, 2 by moving between two."
        ),
    ] = 1,
    column: Columns = None,
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A column to publish unchanged; by default the only one beside the counts."),
    ] = None,
    one_row_per_category: Annotated[
        bool,
        typer.Option("--one-row-per-category", help="Release rows that have no unique label: they are not people."),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Make noise that can be repeated. For simulation only: a seed protects nobody."),
    ] = None,
    show_values: ShowValues = False,
) -> None:
    """Publish counts once, with exact discrete Laplace noise.

    The file records its epsilon and sensitivity, so that deniable ask needs nothing
    else. The table must have one row per category, not one row per person. List all
    possible rows, including those with a count of 0: the set of rows is published
    unchanged.

    \b
    Examples:
      deniable release counts.csv --epsilon 1 -o noisy.csv
      deniable release visits.parquet --column surgery --column emergency --epsilon 0.5 -o noisy.parquet
      printf '12\\n0\\n3\\n' | deniable release - --epsilon 1 -o noisy.json
    """
    from deniable.cli.io.counts import Published, read_counts
    from deniable.cli.io.releases import check_format, write_release
    from deniable.cli.terminal import note
    from deniable.counts.noise import DiscreteLaplace

    check_format(output)
    noise = DiscreteLaplace(epsilon, sensitivity)
    counts = read_counts(source, column or [], show=show_values)
    labels = _labels(counts, label, source)
    if not one_row_per_category:
        _check_rows(counts, labels, source)
    if seed is not None:
        note("warning: a seed makes this a simulation: anyone can repeat it, so this release protects nobody")
    published = Published(noise.release(counts.values, seed=seed), counts.columns, counts.others.select(labels))
    write_release(output, published)
    _report(published, [name for name in counts.others.column_names if name not in labels], output)


def _labels(counts: Counts, wanted: list[str] | None, source: str) -> list[str]:
    """The columns to publish unchanged: those asked for, or the only other one if it holds no numbers."""
    from deniable.cli.io.counts import is_numeric

    names = counts.others.column_names
    if wanted is None:
        return [name for name in names if len(names) == 1 and not is_numeric(counts.others.column(name))]
    for name in wanted:
        if names.count(name) != 1:
            raise CommandError(f"{source}: there is no column {name!r} beside the counts to use as a label")
    return list(dict.fromkeys(wanted))


def _check_rows(counts: Counts, labels: list[str], source: str) -> None:
    """Refuse a table that looks like one row per person; bare numbers are counts by their position."""
    from deniable.cli.io.counts import is_bare

    if is_bare(counts) or _are_unique(counts, labels):
        return
    picked = ", ".join(map(repr, counts.columns))
    beside = f"label {', '.join(map(repr, labels))} is not unique" if labels else "rows have no label"
    raise CommandError(
        f"{source}: this looks like one row per person: {picked} would be published as counts, but their {beside}. "
        "Is there one row per category? Then name its column with --label, or give --one-row-per-category; "
        "if not, count the people of each category first."
    )


def _are_unique(counts: Counts, labels: list[str]) -> bool:
    rows = list(zip(*(counts.others.column(name).to_pylist() for name in labels), strict=True))
    return bool(labels) and len(set(rows)) == len(rows)


def _report(published: Published, left_out: list[str], output: Path) -> None:
    """Print what was published and what it costs, on standard error if the file is standard output."""
    from deniable.cli.streams import echo

    release, aside = published.release, str(output) == STANDARD
    lines = [str(release), f"guarantee: {release.guarantee()}"]
    if published.labels.num_columns:
        lines.append(f"published unchanged: {', '.join(published.labels.column_names)}")
    if left_out:
        lines.append(f"left out: {', '.join(left_out)} (--label publishes a column unchanged)")
    lines.append(
        f"Another release of these counts costs epsilon {release.epsilon:g} again, {2 * release.epsilon:g} in total: "
        "release once, and ask as often as you like."
    )
    for line in lines:
        echo(line, err=aside)
