"""Estimates as one JSON document, a table in a file, or a picture."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deniable.core.estimate import Estimate


def to_json(document: dict[str, Any]) -> str:
    """Format a document as the program prints it."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)


def facts(answer: Estimate, level: float) -> dict[str, Any]:
    """What a document contains about an estimate besides its rows."""
    return answer.facts(level)


def write_table(files: ExitStack, path: Path, table: Any, document: str) -> None:
    """Write an Arrow table as CSV or Parquet, or the document instead as JSON."""
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
    """Draw the most frequent values."""
    from deniable.cli.io.files import replacing

    chosen = {} if top is None else {"top": top}
    answer.plot(files.enter_context(replacing(path)), level=level, **chosen, **options)
