"""The folder of a simulation: empty, or an earlier one's that may be replaced; and the files that tell about it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deniable.core.arrays import Counts
from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.mechanism import Mechanism

RECORD, TRUTH = "simulation.json", "truth.csv"


def prepared(folder: Path, overwrite: bool) -> Path:
    """Make the folder, or empty that of an earlier simulation; files of others are never touched."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        if not (folder / RECORD).is_file():
            raise InvalidArgument("folder", "be empty, or hold an earlier simulation", str(folder), "Name a new one.")
        if not overwrite:
            hint = "It holds an earlier simulation: replace it with overwrite=True (--overwrite), or name another."
            raise InvalidArgument("folder", "be empty", str(folder), hint)
        _remove(folder)
    (folder / RECORD).write_text("{}\n")  # so that a simulation that breaks off can be replaced
    return folder


def _remove(folder: Path) -> None:
    """Remove the files of a simulation, and the folders that are empty without them."""
    for path in [*folder.rglob("part-*.parquet"), *folder.rglob(".part-*.parquet"), folder / TRUTH]:
        path.unlink(missing_ok=True)
    for path in sorted(folder.rglob("*=*"), reverse=True):
        if path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def record(
    folder: Path, mechanism: Mechanism, settings: Mapping[str, Any], labels: Sequence[Any], truth: Counts
) -> None:
    """Write the true counts, and what is needed to simulate the same reports again."""
    with (folder / TRUTH).open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["value", "users"])
        rows.writerows(zip(labels, truth.tolist(), strict=True))
    document = {"simulation": dict(settings), "fingerprint": mechanism.fingerprint}
    (folder / RECORD).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
