"""A store opened by its address, its schema brought up to date."""

from __future__ import annotations

from pathlib import Path

from deniable.collector.store.database import postgresql_database, sqlite_database
from deniable.collector.store.folder import Folder
from deniable.collector.store.migrations import migrate
from deniable.collector.store.sql import SqlStore

_SERVER = ("postgresql://", "postgres://")


def open_store(address: str | Path) -> SqlStore:
    """Open the store in a folder, or on a server by its postgresql:// address; make or migrate it first if need be."""
    if isinstance(address, str) and address.startswith(_SERVER):
        store = SqlStore(postgresql_database(address))
    else:
        folder = Folder(Path(address))
        store = SqlStore(sqlite_database(folder.database), folder)
    try:
        migrate(store.database)
    except BaseException:
        store.close()
        raise
    return store
