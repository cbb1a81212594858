"""`deniable heavy-hitters`: frequent strings without a list of candidates."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from deniable.cli.commands.decode import Rate
from deniable.cli.io.hitters import collected, other_input, print_findings, protocol_of
from deniable.cli.options import (
    AllowRepeats,
    By,
    Collected,
    Json,
    Level,
    Overwrite,
    PictureFile,
    Seed,
    Settings,
    ShowValues,
    SkipMalformed,
    SpecFile,
    TableFile,
    Target,
    Threads,
    check_inputs,
    check_new,
    check_outputs,
    mechanism_names,
    settings,
)
from deniable.cli.running import STANDARD, CommandError, new_app
from deniable.cli.streams import echo_json
from deniable.core.defaults import LEVEL, RATE

app = new_app(help="Find frequent strings without a list of candidates.")


@app.command()
def new(
    epsilon: Annotated[float, typer.Option(help="The privacy parameter, which each user spends on one question.")],
    max_bytes: Annotated[int, typer.Option(help="Longer strings are cut to this length.")] = 12,
    alphabet: Annotated[
        str | None,
        typer.Option(help="The characters to look for, by default all; fewer characters give smaller errors."),
    ] = None,
    lengths: Annotated[
        str | None,
        typer.Option(metavar="A,B,C", help="How many bytes each group reports; by default as few groups as possible."),
    ] = None,
    mechanism: Annotated[
        str, typer.Option("--mechanism", "-m", autocompletion=mechanism_names, help="A mechanism for open strings.")
    ] = "orr",
    key: Annotated[str, typer.Option(help="A word that makes these hashes differ from those of other specs.")] = "",
    parameters: Settings = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the spec goes; - is standard output.")
    ] = Path(STANDARD),
) -> None:
    """Make the spec that clients and server share.

    \b
    Examples:
      deniable heavy-hitters new --epsilon 4 -o hh.json
      deniable heavy-hitters new --epsilon 2 --alphabet abcdefghijklmnopqrstuvwxyz -o hh.json
    """
    from deniable.cli.io.files import writing
    from deniable.cli.terminal import done
    from deniable.heavy_hitters.protocol import HeavyHitters

    try:
        chosen = None if lengths is None else [int(text) for text in lengths.split(",")]
    except ValueError:
        raise CommandError(f"--lengths must be whole numbers separated by commas, got {lengths!r}") from None
    made = HeavyHitters.new(
        epsilon=epsilon,
        max_bytes=max_bytes,
        alphabet=alphabet,
        lengths=chosen,
        mechanism=mechanism,
        key=key,
        **settings(parameters, mechanism),
    )
    with writing(output) as file:
        file.write(f"{made.to_json()}\n".encode())
    done("a heavy-hitter spec", output)


@app.command()
def show(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="The spec file.")],
    as_json: Json = False,
) -> None:
    """Show what a heavy-hitter spec promises.

    \b
    Example:
      deniable heavy-hitters show hh.json
    """
    from deniable.cli.io.estimates import to_json
    from deniable.cli.terminal import console, plain, table

    protocol = protocol_of(spec)
    first = protocol.levels[0]
    facts = {
        "fingerprint": protocol.fingerprint,
        "mechanism": f"{first.name}, {first.cohorts} cohorts of {first.buckets} buckets",
        "groups": f"{len(protocol.levels)}; each user is in one, drawn uniformly, and spends the whole epsilon there",
        "a group reports": f"the first {', '.join(map(str, protocol.lengths))} bytes",
        "alphabet": "all characters" if protocol.alphabet is None else protocol.alphabet,
        "guarantee": str(protocol.guarantee()),
        "a report": f"{first.report_bits} bits, and the number of its group",
    }
    if as_json:
        echo_json(to_json(facts))
        return
    grid = table("", "", "", left=2)
    grid.show_header = False
    for name, text in facts.items():
        grid.add_row(f"[bold]{name}[/]", plain(text))
    console().print(grid)


@app.command()
def privatize(
    source: Annotated[
        str,
        typer.Argument(metavar="INPUT", help="Strings: a CSV or Parquet file, or - for standard input, one per line."),
    ],
    spec: SpecFile,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the reports go: .parquet.")],
    column: Annotated[
        str | None, typer.Option(metavar="NAME", help="The column of strings, if there are several columns.")
    ] = None,
    seed: Seed = None,
    overwrite: Overwrite = False,
    show_values: ShowValues = False,
) -> None:
    """Turn strings into reports, one per person.

    \b
    Example:
      deniable heavy-hitters privatize words.csv --spec hh.json -o reports.parquet
    """
    import pyarrow.parquet

    from deniable.cli.io.files import reading, writing
    from deniable.cli.io.keystreams import keystreams
    from deniable.cli.io.values import converted_batches
    from deniable.cli.terminal import done
    from deniable.core.domain import Domain
    from deniable.core.parquet import how_written

    if str(output) != STANDARD and output.suffix.lower() != ".parquet":
        raise CommandError(f"{output}: reports of heavy hitters are written to .parquet files, or to -")
    protocol = protocol_of(spec)
    check_new(output, protocol.levels[0].epsilon, overwrite or seed is not None)
    following, size = keystreams(seed, protocol.words_for), protocol.levels[0].layout.row_bytes

    def layout(values: Any) -> Any:
        return protocol.reports_of(values, following(len(values))).to_arrow()

    schema, made = layout([]).schema, 0
    written = pyarrow.parquet.ParquetWriter
    with reading(source) as file, writing(output) as target, written(target, schema, **how_written()) as writer:
        for table in converted_batches(file, source, column, Domain.open(), layout, size, show=show_values):
            writer.write_table(table)
            made += len(table)
    done(f"{made:,} reports", output)


@app.command()
def summarize(
    sources: Collected,
    spec: SpecFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the summary goes, or - for standard output.")
    ],
    by: By = None,
    threads: Threads = None,
    skip_malformed: SkipMalformed = False,
    allow_repeats: AllowRepeats = False,
) -> None:
    """Count reports into one summary, or one for each group, and add summaries to it.

    \b
    Examples:
      deniable heavy-hitters summarize mon.parquet tue.summary --spec hh.json -o two.summary
      deniable heavy-hitters summarize reports/ --by day:date --spec hh.json -o daily.parquet
    """
    from deniable.cli.io.engine import Counting
    from deniable.cli.io.inputs import write_sum

    protocol, how = protocol_of(spec), Counting(threads, skip_malformed)
    write_sum(sources, protocol, other_input(protocol), how, output, by, allow_repeats)


@app.command()
def find(
    sources: Collected,
    spec: SpecFile,
    rate: Rate = RATE,
    target: Target = "users",
    level: Level = LEVEL,
    budget: Annotated[
        int | None, typer.Option(help="Candidates per level, which bounds the run time; two million by default.")
    ] = None,
    alphabet: Annotated[
        str | None, typer.Option(help="The characters to look for; by default those of the spec.")
    ] = None,
    top: Annotated[int | None, typer.Option(min=1, help="Print only the most frequent strings.")] = None,
    as_json: Json = False,
    output: TableFile = None,
    plot: PictureFile = None,
    allow_repeats: AllowRepeats = False,
) -> None:
    """Find the frequent strings, with intervals, and what may have been missed.

    \b
    Examples:
      deniable heavy-hitters find reports.parquet --spec hh.json --top 20
      deniable heavy-hitters find *.summary --spec hh.json --json -o found.csv
    """
    from deniable.cli.io.estimates import draw, to_json, write_table
    from deniable.cli.terminal import progress
    from deniable.core.validate import strictly_between

    check_inputs(sources)
    check_outputs(output, plot)
    strictly_between(0, 1, level=level)
    protocol = protocol_of(spec)
    summary = collected(sources, protocol, allow_repeats=allow_repeats)
    sizes = {} if budget is None else {"budget": budget}
    with progress() as bar:
        task = bar.add_task("finding", total=1.0)
        found = protocol.find(
            summary,
            rate=rate,
            target=target,
            alphabet=alphabet,
            progress=lambda doing, share: bar.update(task, description=doing, completed=share),
            **sizes,
        )
    with ExitStack() as files:  # they take their names when all have been written
        if output is not None:
            write_table(files, output, found.to_arrow(level), to_json(found.to_dict(level)))
        if plot is not None:
            draw(files, plot, found, level, top)
    if as_json:
        echo_json(to_json(found.to_dict(level, top)))
    else:
        print_findings(found, level, top)
