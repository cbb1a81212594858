"""`deniable estimate`: frequencies with error bars, from reports, summaries or a running collector."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from deniable.cli.derived import Mean, Quantiles, Sums, derived
from deniable.cli.io.remote import (
    First,
    Insecure,
    KeyFile,
    Last,
    Remote,
    Segments,
    check_local,
    check_remote,
    estimate_at,
    is_address,
)
from deniable.cli.options import (
    AllowRepeats,
    Collected,
    FoundSpec,
    Json,
    Level,
    PictureFile,
    SkipMalformed,
    TableFile,
    Target,
    Threads,
    Together,
    check_inputs,
    check_outputs,
    mechanism_of,
    spec_beside,
)
from deniable.cli.running import CommandError
from deniable.cli.streams import echo, echo_json
from deniable.core.defaults import LEVEL, SHOWN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from deniable.core.estimate import Estimate
    from deniable.core.quantity import Quantity
    from deniable.grouping.table import SummaryTable
    from deniable.mechanisms.base.mechanism import Mechanism


def estimate(
    sources: Collected,
    spec: FoundSpec = None,
    method: Annotated[
        str | None,
        typer.Option(help="mle, unbiased, ... (spec show lists them); by default the best for the mechanism."),
    ] = None,
    target: Target = "users",
    level: Level = LEVEL,
    simultaneous: Together = None,
    top: Annotated[int | None, typer.Option(min=1, help="Print only the most frequent values.")] = None,
    sums: Sums = None,
    mean: Mean = False,
    quantiles: Quantiles = None,
    as_json: Json = False,
    output: TableFile = None,
    plot: PictureFile = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEYS",
            help="Of a table of summaries, only this group, such as 2026-01-31,de; given twice, the difference.",
        ),
    ] = None,
    threads: Threads = None,
    skip_malformed: SkipMalformed = False,
    allow_repeats: AllowRepeats = False,
    key_file: KeyFile = None,
    first: First = None,
    last: Last = None,
    segment: Segments = None,
    insecure: Insecure = False,
) -> None:
    """Estimate frequencies, with standard errors and intervals.

    A table of summaries, which deniable summarize --by makes, gives an estimate for
    each group, and a test whether the groups differ. The address of a collection
    gives an estimate of what a running collector has published.

    \b
    Examples:
      deniable estimate today.summary --spec spec.json
      deniable estimate reports.parquet --spec spec.json --method unbiased --top 5
      deniable estimate *.summary --spec spec.json --json
      deniable estimate today.summary --sum chrome,edge --sum firefox,safari
      deniable estimate today.summary --spec spec.json -o all.csv --plot top.png
      deniable estimate daily.parquet --spec spec.json --group mon,de --group tue,de
      deniable estimate https://reports.example.org/v1/collections/themes \\
        --key-file read.key --from 2026-11-01 --segment country=de --top 10
    """
    check_inputs(sources)
    check_outputs(output, plot)
    remote = Remote(key_file, first, last, segment, insecure)
    shown = Shown(level, simultaneous, top, sums, mean, quantiles, as_json, output, plot)
    if is_address(sources):
        of_files = {"--spec": spec, "--group": group, "--threads": threads}
        check_remote({**of_files, "--skip-malformed": skip_malformed, "--allow-repeats": allow_repeats})
        _show(estimate_at(sources[0], remote, method, target), shown)
        return
    check_local(remote)
    from deniable.cli.io.engine import Counting, table_in
    from deniable.cli.io.reports import summary_of
    from deniable.core.domain.open import Open

    spec = spec_beside(sources) if spec is None else spec
    mechanism = mechanism_of(spec)
    if isinstance(mechanism.domain, Open):
        raise CommandError(f"{spec}: this spec is for open strings. Use deniable decode --candidates FILE.")
    table = table_in(sources[0]) if len(sources) == 1 else None
    if table is None and group:
        raise CommandError("--group is for one table of summaries, which deniable summarize --by makes")
    if table is not None and (not group or len(group) > 1):
        if plot is not None or sums or mean or quantiles:
            raise CommandError("--plot, --sum, --mean and --quantile are about one estimate. Choose one with --group.")
        _estimate_groups(table, mechanism, method, target, level, simultaneous, top, group, as_json, output)
        return
    if table is not None and group:
        from deniable.cli.io.groups import one_group

        summary = one_group(table, group[0])
    else:
        how = Counting(threads, skip_malformed)
        summary = summary_of(sources, mechanism, allow_repeats=allow_repeats, how=how)
    answer = mechanism.estimate(summary, method, target=target)
    _show(answer, shown)


class Shown(NamedTuple):
    """What to show of one estimate, and where."""

    level: float
    simultaneous: bool | None
    top: int | None
    sums: list[str] | None
    mean: bool
    quantiles: list[float] | None
    as_json: bool
    output: Path | None
    plot: Path | None


def _show(answer: Estimate, wanted: Shown) -> None:
    level, simultaneous, top, *_ = wanted
    answer.interval(level)  # refuses a wrong level before anything is written
    asked = derived(answer, level, wanted.sums, wanted.mean, wanted.quantiles)
    if wanted.output is not None or wanted.plot is not None:
        _write(answer, level, simultaneous, top, wanted.output, wanted.plot)
    if wanted.as_json:
        echo_json(_document(answer, level, simultaneous, top, asked))
        return
    _print(answer, level, simultaneous, top)
    for each in asked:
        echo(each)


def _estimate_groups(
    table: SummaryTable,
    mechanism: Mechanism,
    method: str | None,
    target: str,
    level: float,
    simultaneous: bool | None,
    top: int | None,
    group: list[str] | None,
    as_json: bool,
    output: Path | None,
) -> None:
    from deniable.cli.io.groups import show_difference, show_groups

    found = table.estimate(mechanism, method, target=target)
    if not group:
        show_groups(found, level, simultaneous, top, as_json=as_json, output=output)
    elif len(group) > 2 or output is not None:
        raise CommandError("--group is given once, or twice for the difference of two groups, which is printed only")
    else:
        show_difference(found, group, level, as_json=as_json)


def _write(
    answer: Estimate, level: float, simultaneous: bool | None, top: int | None, output: Path | None, plot: Path | None
) -> None:
    """Write the table and draw the picture; both take their names when both are complete."""
    from deniable.cli.io.estimates import draw, write_table

    with ExitStack() as files:
        if output is not None:
            table = answer.to_arrow(level, simultaneous=bool(simultaneous))
            write_table(files, output, table, _document(answer, level, simultaneous, None))
        if plot is not None:
            draw(files, plot, answer, level, top, simultaneous=simultaneous is not False)


def _document(
    answer: Estimate, level: float, simultaneous: bool | None, top: int | None, asked: Sequence[Quantity] = ()
) -> str:
    from deniable.cli.io.estimates import facts, to_json

    together = simultaneous if simultaneous is not None else top is not None
    rows = answer.rows(level, simultaneous=together) if top is None else answer.top(top, level, simultaneous=together)
    seen = {"visible_from": answer.visible(level, simultaneous=together)}
    return to_json(
        {
            **facts(answer, level),
            "simultaneous": together,
            **seen,
            "values": [row._asdict() for row in rows],
            **({"derived": [each.to_dict() for each in asked]} if asked else {}),
        },
    )


def _print(answer: Estimate, level: float, simultaneous: bool | None, top: int | None) -> None:
    from deniable.cli.terminal import console, plain, rows_table

    together = simultaneous is not False
    rows = answer.top(top or SHOWN, level, simultaneous=together)
    out = console()
    out.print(rows_table(answer.title, rows))
    left = len(answer.frequencies) - len(rows)
    if left:
        out.print(f"... and {left:,} more values (--top, --json or -o)")
    for line in answer.remarks(level, simultaneous=together):
        out.print(plain(line), style="dim")
    if answer.simulated:
        out.print("These reports are simulated: they were made with a seed.", style="yellow")
