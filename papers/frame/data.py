"""Real data for the papers' experiments: never shipped, and replaced by labelled stand-ins if not found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.arrays import Counts
from deniable.core.errors import DeniableError

VARIABLE = "DENIABLE_DATA"  # the folder with data files


class MissingData(DeniableError):
    """A required data file was not found."""


def find(name: str) -> Path | None:
    """Find a file in the folder that the environment variable names; None if it is not there."""
    folder = os.environ.get(VARIABLE)
    path = Path(folder) / name if folder else None
    return path if path is not None and path.is_file() else None


def required(name: str) -> Path:
    """Find a file, or raise MissingData."""
    path = find(name)
    if path is None:
        folder = os.environ.get(VARIABLE)
        where = f"{folder} has no such file" if folder else f"set {VARIABLE} to the folder that has it, or give --data"
        raise MissingData(f"data file {name} was not found: {where}")
    return path


def numbers(name: str) -> Counts:
    """Read the integers of a text file."""
    return np.array(required(name).read_text(encoding="utf-8").split(), np.int64)


def matrix(name: str) -> Any:
    """Read a sparse matrix in scipy's compressed row format."""
    from scipy.sparse import load_npz

    return load_npz(required(name)).tocsr()


def histogram(name: str) -> tuple[list[str], Counts]:
    """Read the values and counts of a histogram from a CSV file with the columns value and count, in file order."""
    import csv

    with required(name).open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    body = lines[1:] if lines and not lines[0][-1].strip().isdigit() else lines
    return [line[0] for line in body], np.array([int(line[-1]) for line in body], np.int64)
