"""A copy of a store in a folder, made while it is used."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from deniable.collector.store.protocol import StorageTrouble
from deniable.collector.store.sql import SqlStore
from deniable.core.errors import InvalidArgument


def backup(store: SqlStore, path: str | Path) -> None:
    """Write what a store held at one moment to a new file; reports may arrive meanwhile.

    The file is a whole SQLite database: to restore it, put it into an empty folder under the name `deniable.sqlite`.
    """
    if store.folder is None:
        raise InvalidArgument("the store", "be a folder", "a PostgreSQL server", "pg_dump makes a copy of a database.")
    target = Path(path)
    try:
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StorageTrouble(f"the copy cannot be written to {target}: {error.strerror}") from error
    try:
        with closing(sqlite3.connect(store.folder.database)) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
        _to_disk(target)
    except (sqlite3.Error, OSError) as error:
        target.unlink()
        raise StorageTrouble(f"the copy cannot be written to {target}: {error}") from error


def _to_disk(file: Path) -> None:
    for path in (file, file.parent):
        opened = os.open(path, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
