"""Heavy hitters: specs, reports and summaries in files, and the strings found on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from deniable.cli.running import CommandError, about
from deniable.core.defaults import SHOWN

if TYPE_CHECKING:
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
    from deniable.cli.io.repeats import check_counts, check_paths, described

    if not allow_repeats:
        check_paths(names)
    compared = len(names) > 1 and not allow_repeats
    total, inputs = protocol.accumulator(), []
    for name in names:
        own = protocol.accumulator() if compared else total
        listed = _count(name, own)
        if compared:
            part = own.summary()
            total.merge(part)
            counts = [level.counts for level in part.levels]
            inputs.append(described(name, part.n, counts, reports=listed))
    check_counts(inputs)
    return total.summary()


def _count(name: str, total: HitterAccumulator) -> bool:
    """Add the reports of an input, or a summary; return whether it lists reports."""
    from deniable.cli.io.engine import Counting, counted_in, is_dataset, is_on_disk
    from deniable.cli.io.files import HITTERS, PARQUET, kind_of, parquet, reading
    from deniable.heavy_hitters.collected import HitterReports, HitterSummary

    if not is_dataset(name):
        with reading(name) as file, about(name):
            kind = kind_of(file)
            if kind == HITTERS:
                total.merge(HitterSummary.from_bytes(file.read()))
                return False
            if kind != PARQUET:
                raise CommandError(
                    "this file holds neither reports nor a summary of heavy hitters. "
                    "If it holds strings, run deniable heavy-hitters privatize first."
                )
            if not is_on_disk(name):
                with parquet(file) as source:
                    total.add(HitterReports.from_arrow(source.read()))
                return True
    total.merge(counted_in(total.protocol, name, Counting()))  # type: ignore[arg-type]
    return True


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
