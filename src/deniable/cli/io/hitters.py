"""Heavy hitters: specs, reports and summaries in files, and the strings found on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deniable.cli.running import CommandError, about
from deniable.core.defaults import SHOWN
from deniable.core.errors import MalformedReport

if TYPE_CHECKING:
    from io import BufferedReader

    from deniable.cli.io.inputs import Other
    from deniable.heavy_hitters.accumulator import HitterAccumulator
    from deniable.heavy_hitters.collected import HitterSummary
    from deniable.heavy_hitters.findings import Findings
    from deniable.heavy_hitters.protocol import HeavyHitters


def protocol_of(path: Path) -> HeavyHitters:
    """Read the protocol that a file describes."""
    from deniable.core.limits import OWN
    from deniable.heavy_hitters.protocol import HeavyHitters

    with about(str(path)):
        return HeavyHitters.from_json(path.read_bytes(), limits=OWN)


def collected(names: list[str], protocol: HeavyHitters, *, allow_repeats: bool = False) -> HitterSummary:
    """Add up files of reports and summaries, and refuse the same reports twice."""
    from deniable.cli.io.engine import Counting
    from deniable.cli.io.inputs import added_up

    how = Counting()
    return added_up(names, protocol, other_input(protocol), how, allow_repeats=allow_repeats)  # type: ignore[return-value]


def other_input(protocol: HeavyHitters) -> Other:
    """Count a summary, or reports that come through a pipe."""
    from deniable.cli.io.files import HITTERS, PARQUET, kind_of, reading
    from deniable.heavy_hitters.collected import HitterSummary

    def count(name: str) -> tuple[HitterSummary, bool]:
        with reading(name) as file, about(name):
            kind, total = kind_of(file), protocol.accumulator()
            if kind == HITTERS:
                total.merge(HitterSummary.from_bytes(file.read()))
            elif kind == PARQUET:
                _count_stream(file, total)
            else:
                raise CommandError(
                    "this file holds neither reports nor a summary of heavy hitters. "
                    "If it holds strings, run deniable heavy-hitters privatize first."
                )
        return total.summary(), kind != HITTERS

    return count


def _count_stream(file: BufferedReader, total: HitterAccumulator) -> None:
    from deniable.cli.io.files import parquet, parquet_batches
    from deniable.core.batches import ROWS, rows_at_once
    from deniable.core.reports import COLUMN
    from deniable.heavy_hitters.collected import LEVEL_COLUMN, HitterReports

    row, size = 1, total.protocol.levels[0].layout.row_bytes
    with parquet(file) as source:
        total.add(HitterReports.from_arrow(source.schema_arrow.empty_table()))
        for batch in parquet_batches(source, rows_at_once(size, ROWS), [LEVEL_COLUMN, COLUMN]):
            try:
                total.add(HitterReports.from_arrow(batch.replace_schema_metadata(source.schema_arrow.metadata)))
            except MalformedReport as error:
                raise CommandError(f"in rows {row} to {row + len(batch) - 1}: {error}") from None
            row += len(batch)


def print_findings(found: Findings, level: float, top: int | None) -> None:
    """Print the strings found, and what is guaranteed about them."""
    from deniable.cli.terminal import console, plain, rows_table
    from deniable.heavy_hitters.findings import NOTE

    rows = [row if row.whole else row._replace(label=f"{row.label}…") for row in found.top(top or SHOWN, level)]
    out = console()
    out.print(plain(str(found).partition("\n")[0]), style="bold")
    if rows:
        out.print(rows_table("", rows))
    if len(found) > len(rows):
        out.print(f"... and {len(found) - len(rows):,} more (--top, --json or -o)")
    out.print(found.promise)
    out.print(plain(found.missed))
    out.print(f"low to high: {100 * level:g}% interval; {NOTE}", style="dim")
    if found.simulated:
        out.print("These reports are simulated: they were made with a seed.", style="yellow")
