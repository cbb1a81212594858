"""Releases in files: CSV, Parquet or JSON; each file records its noise parameters."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from deniable.cli.io.counts import Published, header_of
from deniable.cli.io.files import writing
from deniable.cli.running import STANDARD, CommandError

_FORMATS = (".csv", ".parquet", ".json")


def check_format(path: Path) -> None:
    """Refuse a file name that does not determine the format of a release."""
    if str(path) != STANDARD and path.suffix.lower() not in _FORMATS:
        raise CommandError(f"{path}: a release is written to {', '.join(_FORMATS)} files, or to - as CSV")


def write_release(path: Path, published: Published) -> None:
    """Write the labels and the noisy counts."""
    kind = path.suffix.lower()
    with writing(path) as file:
        if kind == ".json":
            file.write(f"{_document(published)}\n".encode())
        elif kind == ".parquet":
            metadata = {
                **published.release.to_arrow().schema.metadata,
                b"columns": json.dumps(published.columns).encode(),
            }
            pa.parquet.write_table(_table(published).replace_schema_metadata(metadata), file)
        else:
            names = [header_of(name, published.release) for name in published.columns]
            line = io.StringIO()
            csv.writer(line, lineterminator="\n").writerow([*published.labels.column_names, *names])
            file.write(line.getvalue().encode())
            pa.csv.write_csv(_table(published), file, pa.csv.WriteOptions(include_header=False, quoting_style="needed"))


def _document(published: Published) -> str:
    labels = {name: [_text(cell) for cell in published.labels.column(name)] for name in published.labels.column_names}
    more = {"columns": list(published.columns)} | ({"labels": labels} if labels else {})
    return json.dumps(json.loads(published.release.to_json()) | more, ensure_ascii=False)


def _text(cell: Any) -> str:
    return "" if cell.as_py() is None else str(cell.as_py())


def _table(published: Published) -> Any:
    """A table of labels, then counts: whole numbers, or text if any count exceeds 64 bits."""
    values, labels = published.release.values, published.labels
    columns = [values] if len(published.columns) == 1 else list(np.ascontiguousarray(values.T))
    counts = [pa.array([str(count) for count in column] if values.dtype == object else column) for column in columns]
    return pa.table([*labels.columns, *counts], [*labels.column_names, *published.columns])
