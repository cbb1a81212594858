"""Files and folders that are on the disk, with all that leads to them, when a call returns."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO


def make_folder(folder: Path) -> None:
    """Make a folder and those above it; also where it is there already, since who made it may have died too early."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    to_disk({folder.parent, *(each.parent for each in missing)})


def to_disk(folders: Iterable[Path]) -> None:
    """Write the names in these folders through to the disk."""
    for folder in sorted(folders, reverse=True):  # the innermost first
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file that has its name once it is whole; what comes before goes, if anything fails."""
    partial = _partial(path, write)
    try:
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)


def write_once(path: Path, text: str) -> bool:
    """Write a small document unless there is one of this name; return whether it is ours."""
    partial = _partial(path, lambda file: file.write(text.encode()))
    try:
        os.link(partial, path)
    except FileExistsError:
        return False
    except OSError:  # storage without links, where the last of several would win
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    to_disk([path.parent])
    return True


def _partial(path: Path, write: Callable[[IO[bytes]], object]) -> Path:
    """A file under a name that nobody else uses, on the disk."""
    partial = path.with_suffix(f".{secrets.token_hex(8)}.partial")
    try:
        with partial.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    return partial
