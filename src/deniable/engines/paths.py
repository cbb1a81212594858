"""The Parquet files that paths, folders and patterns name."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deniable.core.errors import InvalidArgument


@dataclass(frozen=True)
class Found:
    """A file, and the place of the input that named it."""

    path: str
    source: int


def paths_of(source: Any, repeats: bool) -> list[Found] | None:
    """The files of paths, patterns and folders, in order; None if the source is none of these.

    A file that is named twice is refused, unless `repeats` says that it counts as often.
    """
    several = source if isinstance(source, (list, tuple)) else [source]
    if not several or not all(isinstance(each, (str, os.PathLike)) for each in several):
        return None
    for each in several:
        if "\0" in os.fsdecode(each):
            raise InvalidArgument("source", "be a path, which holds no null character", os.fsdecode(each))
    found = [Found(path, place) for place, each in enumerate(several) for path in _expanded(os.fspath(each))]
    seen: dict[str, str] = {}
    for each in found if not repeats else ():
        real = os.path.realpath(each.path)
        if real in seen:
            hint = f"It is the same file as {seen[real]}. It counts twice with repeats=True (--allow-repeats)."
            raise InvalidArgument("source", "name every file once", each.path, hint)
        seen[real] = each.path
    return found


def _expanded(path: str) -> Sequence[str]:
    if os.path.isdir(path):
        named = (each for each in Path(path).rglob("*.parquet") if each.is_file() or not each.exists())  # a lost link
        found = sorted(str(each) for each in named if _is_data(str(each), path))
        if not found:
            raise InvalidArgument("source", "hold files whose names end in .parquet", path)
        return found
    if glob.has_magic(path) and not os.path.exists(path):
        fixed = _fixed_part(path)
        found = sorted(
            each for each in glob.glob(path, recursive=True) if os.path.isfile(each) and _is_data(each, fixed)
        )
        if not found:
            raise InvalidArgument("source", "match a file", path)
        return found
    return [path]


def _fixed_part(pattern: str) -> str:
    """The folder in front of the first part of a pattern that is not to be taken literally."""
    parts = Path(pattern).parts
    first = next(place for place, part in enumerate(parts) if glob.has_magic(part))
    return os.path.join(*parts[:first]) if first else ""


def _is_data(path: str, home: str) -> bool:
    """Whether a file below a folder is one of the data: marks and drafts, as of Spark, begin with _ or a dot."""
    return not any(part.startswith((".", "_")) for part in Path(os.path.relpath(path, home or ".")).parts)
