"""What somebody believes before a report, in a file: a JSON object or list, or CSV of labels and shares."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.cli.derived import labelled
from deniable.cli.running import CommandError, about
from deniable.cli.shares import share

if TYPE_CHECKING:
    from deniable.core.domain import Domain


def prior_in(path: Path, domain: Domain) -> dict[Any, float] | list[float]:
    """Read a prior; the library checks it."""
    with about(str(path)):
        text = path.read_text(encoding="utf-8-sig")
        if path.suffix.lower() == ".json":
            return _from_json(text, domain)
        found: dict[Any, float] = {}
        for number, row in enumerate(csv.reader(text.splitlines()), start=1):
            if not row or (number == 1 and not _is_share(row[-1])):
                continue  # an empty line, or the names of the columns
            if len(row) != 2 or not _is_share(row[1]):
                raise CommandError(f"line {number} must be a label and a share, separated by a comma")
            label = labelled(domain, row[0])
            if label in found:
                raise CommandError(f"line {number} names a label for the second time")
            found[label] = share(row[1].strip())
        return found


def _from_json(text: str, domain: Domain) -> dict[Any, float] | list[float]:
    try:
        given = json.loads(text)
    except ValueError as error:
        raise CommandError(f"this is not JSON: {error}") from None
    if isinstance(given, dict):
        return {labelled(domain, label): value for label, value in given.items()}
    if not isinstance(given, list):
        raise CommandError("a prior must be an object of labels and shares, or a list of shares")
    return given


def _is_share(text: str) -> bool:
    try:
        float(text.strip().removesuffix("%"))
    except ValueError:
        return False
    return True
