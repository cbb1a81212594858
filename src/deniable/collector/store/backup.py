"""A copy of a store in a folder, made while it is used."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable.collector.store.folder import DATABASE
from deniable.collector.store.protocol import StorageTrouble
from deniable.core.errors import InvalidArgument


def backup(folder: Path, path: Path) -> None:
    """Write what the store in a folder held at one moment to a new file; its collector may go on taking reports.

    The file is a whole SQLite database: to restore it, put it into an empty folder under the name `deniable.sqlite`.
    """
    source_file = folder / DATABASE
    if not source_file.is_file():
        raise InvalidArgument(
            str(folder), "hold a store", f"no {DATABASE}", "A PostgreSQL server is copied by pg_dump."
        )
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StorageTrouble(f"the copy cannot be written to {path}: {error.strerror}") from error
    try:
        with closing(sqlite3.connect(source_file)) as source, closing(sqlite3.connect(path)) as copy:
            source.backup(copy)
        _to_disk(path)
    except (sqlite3.Error, OSError) as error:
        path.unlink()
        raise StorageTrouble(f"the copy cannot be written to {path}: {error}") from error


def _to_disk(file: Path) -> None:
    for each in (file, file.parent):
        opened = os.open(each, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
