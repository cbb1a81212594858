"""How an estimate leaves the program: one JSON document, a table in a file, a picture, lines on the screen."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.errors import CommandError

if TYPE_CHECKING:
    from rich.table import Table

    from deniable.core.estimate import Estimate

TABLES = (".csv", ".parquet", ".json")


def check_names(output: Path | None, plot: Path | None) -> None:
    """Refuse names that do not say how an answer is to be written or drawn, before any work."""
    from deniable.plots.estimates import check_suffix

    if plot is not None:
        check_suffix(plot)
    if output is not None and output.suffix.lower() not in TABLES:
        raise CommandError(f"{output}: an estimate is written to {', '.join(TABLES)} files")


def to_json(document: dict[str, Any]) -> str:
    """A document as the program prints it."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)


def facts(answer: Estimate, level: float) -> dict[str, Any]:
    """What a document says of an estimate besides its rows."""
    return {
        "n": answer.n,
        "method": answer.method,
        "target": answer.target,
        "level": level,
        "unbiased": answer.unbiased,
        "interval_note": answer.interval_note,
        "simulated": answer.simulated,
        "details": dict(answer.details),
        "fingerprint": answer.fingerprint,
    }


@contextmanager
def together() -> Iterator[ExitStack]:
    """Files that take their names only after all of them have been written."""
    with ExitStack() as files:
        yield files


def write_table(files: ExitStack, path: Path, table: Any, document: str) -> None:
    """An Arrow table as CSV or Parquet, or the document in its place as JSON."""
    import pyarrow.csv
    import pyarrow.parquet

    from deniable.cli.io.files import writing

    file = files.enter_context(writing(path))
    suffix = path.suffix.lower()
    if suffix == ".json":
        file.write(f"{document}\n".encode())
    elif suffix == ".csv":
        pyarrow.csv.write_csv(table, file)
    else:
        pyarrow.parquet.write_table(table, file)


def draw(files: ExitStack, path: Path, answer: Any, level: float, top: int | None, **options: Any) -> None:
    """The most frequent values as a picture."""
    from deniable.cli.io.files import replacing

    chosen = {} if top is None else {"top": top}
    answer.plot(files.enter_context(replacing(path)), level=level, **chosen, **options)


def rows_table(title: str, rows: Iterable[Any]) -> Table:
    """Rows of values with their intervals, for the screen."""
    from rich.markup import escape

    from deniable.cli.terminal import table

    listed = table(title, "value", "frequency", "std. error", "low", "high", "users")
    for row in rows:
        numbers = (row.frequency, row.std_error, row.low, row.high)
        listed.add_row(escape(str(row.label)), *(f"{number:.4%}" for number in numbers), f"{row.users:,.0f}")
    return listed
