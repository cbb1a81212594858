"""Results on disk: one file per experiment, one line per cell with its rows, under a key of code and parameters.

A line is written and flushed as soon as its cell is done. An incomplete line, left by a crash, is skipped when the file
is read, so a killed run loses only the cells it was measuring.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import deniable
from deniable.core.errors import DeniableError
from papers.frame.data import find
from papers.frame.experiment import Experiment
from papers.frame.rows import Row

_NOT_MEASURING = ("cli", "plots")  # printing and drawing do not change measurements


class CacheError(DeniableError):
    """Results could not be written or read; earlier results are untouched."""


@lru_cache(maxsize=1)
def code_digest() -> str:
    """SHA-256 of all library source that results depend on."""
    root = Path(deniable.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        if place.parts[0] not in _NOT_MEASURING:
            digest.update(f"{place.as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def cell_key(experiment: Experiment, cell: Mapping[str, Any]) -> str:
    """The key of a cell's results: its parameters, the file of the measuring function, and all code it depends on.

    Other files of the paper count if the measuring file imports functions or classes from them.
    """
    measure = experiment.measure
    sources = [_file_digest(path) for path in _sources(measure.__module__)]
    found = [find(name) for name in experiment.data]
    data = [None if path is None else _file_digest(str(path)) for path in found]
    parts = [experiment.id, measure.__name__, dict(sorted(cell.items())), sources, code_digest(), data]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:32]


@lru_cache(maxsize=256)
def _sources(module: str) -> tuple[str, ...]:
    """The file of a module and, recursively, the files of the same paper's modules that it imports from."""
    folder, found = module.rpartition(".")[0] + ".", [module]
    for name in found:
        for value in vars(sys.modules[name]).values():
            source = getattr(value, "__module__", None)
            if isinstance(source, str) and source.startswith(folder) and source not in found:
                found.append(source)
    return tuple(str(sys.modules[name].__file__) for name in sorted(found))


@lru_cache(maxsize=256)
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


class Cache:
    """The folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CacheError(f"{folder}: results cannot be kept there: {error.strerror}") from None

    def path(self, experiment: Experiment) -> Path:
        """The file of one experiment."""
        return self.folder / f"{experiment.paper}-{experiment.name}.jsonl"

    def read(self, experiment: Experiment) -> dict[str, list[Row]]:
        """Read the rows of every complete line, by key."""
        path, found = self.path(experiment), {}
        if not path.exists():
            return {}
        try:
            text = path.read_text("utf-8", errors="replace")
        except OSError as error:
            raise CacheError(f"{path}: {error.strerror}") from None
        for line in text.splitlines():
            try:
                entry = json.loads(line)
                found[entry["key"]] = entry["rows"]
            except (ValueError, TypeError, KeyError):
                continue  # left incomplete by a crash
        return found

    def append(self, experiment: Experiment, key: str, rows: Sequence[Row]) -> None:
        """Write one cell's rows to disk at once."""
        path = self.path(experiment)
        line = json.dumps({"key": key, "rows": [dict(row) for row in rows]})
        try:
            with path.open("a+b") as file:
                if file.tell() and not _ends_a_line(path):
                    line = "\n" + line
                file.write(f"{line}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CacheError(f"{path}: {error.strerror}; earlier cells are kept") from None


def _ends_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
