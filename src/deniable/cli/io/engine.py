"""Parquet files, folders and patterns, counted on all cores, with a bar that shows how fast."""

from __future__ import annotations

import glob
import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

from deniable.cli.io.files import PARQUET, kind_of, parquet, reading
from deniable.cli.running import STANDARD, about
from deniable.cli.terminal import note, plain, progress

if TYPE_CHECKING:
    from deniable.engines.jobs import Progress
    from deniable.grouping.table import SummaryTable


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
    from deniable.grouping.parquet import read_parquet
    from deniable.grouping.table import SummaryTable, is_summary_table

    if not is_on_disk(name):
        return None
    with reading(name) as file, about(name):
        if kind_of(file) != PARQUET:
            return None
        with parquet(file) as source:
            if not is_summary_table(source.schema_arrow.metadata):
                return None
        file.seek(0)
        return SummaryTable.from_arrow(read_parquet(file.read()))


@contextmanager
def counting_bar(names: Sequence[str]) -> Iterator[Progress]:
    """A bar of rows, with reports per second beside it."""
    started, what = monotonic(), plain(names[0] if len(names) == 1 else f"{len(names)} inputs")
    with progress() as bar:
        task = bar.add_task(what, total=None)

        def show(rows: int, of: int | None) -> None:
            speed = rows / max(monotonic() - started, 1e-9) / 1e6
            digits = 1 if speed < 10 else 0
            bar.update(task, completed=rows, total=of, description=f"{what}  {speed:,.{digits}f} million reports/s")

        yield show
