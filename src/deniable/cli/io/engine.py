"""Parquet files, folders and patterns, counted on all cores, with a bar that shows how fast."""

from __future__ import annotations

import glob
import os
import stat
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deniable.cli.io.files import PARQUET, kind_of, parquet, reading
from deniable.cli.running import STANDARD, CommandError, about
from deniable.cli.terminal import note, progress

if TYPE_CHECKING:
    from deniable.engines.arrow import Progress
    from deniable.grouping.counting import Counted
    from deniable.grouping.table import AnySummary, SummaryTable


@dataclass(frozen=True)
class Counting:
    """How files are counted: by how many threads, and whether malformed rows are left out."""

    threads: int | None = None
    skip: bool = False
    skipped: Counter[str] = field(default_factory=Counter)

    def options(self, bar: Progress) -> dict[str, Any]:
        """The options of the engine."""
        return {"threads": self.threads, "skipped": self.skipped if self.skip else None, "progress": bar}

    def say_what_was_skipped(self) -> None:
        """Warn of rows that were left out, by reason."""
        for reason, count in self.skipped.most_common():
            note(f"warning: {count:,} rows were left out: {reason}")


def is_dataset(name: str) -> bool:
    """Whether an input is a folder, or a pattern that the shell has left alone."""
    return os.path.isdir(name) or (glob.has_magic(name) and not os.path.exists(name))


def is_on_disk(name: str) -> bool:
    """Whether an input is an ordinary file, which can be read from several places at once."""
    try:
        return name != STANDARD and stat.S_ISREG(os.stat(name).st_mode)
    except OSError:
        return False


def table_in(name: str) -> SummaryTable | None:
    """Read a table of summaries; None if the file is something else."""
    from deniable.grouping.table import SummaryTable, is_summary_table

    if not is_on_disk(name):
        return None
    with reading(name) as file, about(name):
        if kind_of(file) != PARQUET:
            return None
        with parquet(file) as source:
            return SummaryTable.from_arrow(source.read()) if is_summary_table(source.schema_arrow.metadata) else None


def counted_in(counted: Counted, name: str, how: Counting) -> AnySummary:
    """Count the reports of a Parquet file, a folder or a pattern; of a table of summaries, take the total."""
    from deniable.engines import arrow
    from deniable.grouping.counting import same_spec

    table = table_in(name)
    if table is not None:
        same_spec(counted, table.fingerprint, f"{name}: a table of summaries")
        return table.total() if len(table) else counted.empty_summary()
    with _bar(name) as bar:
        return arrow.summarize(counted, name, **how.options(bar))


def table_of(counted: Counted, names: list[str], by: str, how: Counting) -> SummaryTable:
    """Count reports by group, and add tables of summaries to them."""
    from deniable.engines import arrow
    from deniable.engines.partitions import typed_columns
    from deniable.grouping.counting import same_spec

    columns = [name.strip() for name in by.split(",")]
    names_of_columns, _ = typed_columns(columns)
    tables, reports = [], []
    for name in names:
        if name == STANDARD:
            raise CommandError("--by takes Parquet files and folders, not standard input. Write it to a file first.")
        table = table_in(name)
        if table is None:
            reports.append(name)
        else:
            same_spec(counted, table.fingerprint, f"{name}: a table of summaries")
            with about(name):
                tables.append(table.over(names_of_columns))
    if reports:
        with _bar(reports[0] if len(reports) == 1 else f"{len(reports)} inputs") as bar:
            tables.append(arrow.summarize_by(counted, reports, columns, **how.options(bar)))
    return sum(tables[1:], start=tables[0])


@contextmanager
def _bar(name: str) -> Iterator[Progress]:
    """A bar of rows, with reports per second beside it."""
    started = time.monotonic()
    with progress() as bar:
        task = bar.add_task(os.path.basename(name) or name, total=None)

        def show(rows: int, of: int | None) -> None:
            speed = rows / max(time.monotonic() - started, 1e-9) / 1e6
            bar.update(task, completed=rows, total=of, description=f"{name}  {speed:,.0f} million reports/s")

        yield show
