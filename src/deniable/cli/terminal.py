"""The screen: tables on standard output, notes and progress on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.running import STANDARD
from deniable.cli.streams import echo, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

_PIPED_WIDTH = 120  # a file or a pipe has no width; tables should not be squeezed into 80 columns


def console() -> Console:
    """Standard output, for tables and styled text."""
    from rich.console import Console

    made = Console(highlight=False)
    return made if made.is_terminal else Console(highlight=False, width=_PIPED_WIDTH)


def table(title: str, *headings: str, left: int = 1) -> Table:
    """An empty table whose first `left` columns hold text and the others numbers."""
    from rich import box
    from rich.table import Table

    made = Table(title=title or None, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        made.add_column(heading, justify="left" if place < left else "right", no_wrap=place >= left)
    return made


def plain(text: object) -> str:
    """Text for a cell as it stands: neither rich nor the terminal finds a command in it."""
    from rich.markup import escape

    return escape(printable(text))


def rows_table(title: str, rows: Iterable[Any]) -> Table:
    """A table of values with their intervals."""
    from deniable.core.display import cells

    listed = table(title, "value", "frequency", "std. error", "low", "high", "users")
    rows = list(rows)
    for row, shown in zip(rows, cells(rows), strict=True):
        listed.add_row(plain(row.label), *shown, f"{row.users:,.0f}")
    return listed


def note(text: str) -> None:
    """Print one line for the person at the terminal, apart from the output."""
    echo(f"deniable: {text}", err=True)


def done(what: str, path: Path) -> None:
    """Say what was written, in one line for a person at a terminal; pipes and scripts see nothing."""
    if str(path) != STANDARD and sys.stderr.isatty():
        echo(f"{what} -> {path}, {size(path.stat().st_size)}", err=True)


def size(number: float) -> str:
    """A number of bytes, such as 1.7 MB."""
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "bytes" else f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:,.3g} GB"


@contextmanager
def progress() -> Iterator[Progress]:
    """Show a progress bar on standard error while the work lasts, if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    # not Console.is_terminal, which an environment variable can set
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        yield bar
