"""The file in which a device keeps what it has spent and what it must still send: SQLite, one file, always whole.

Every transaction is on disk before it returns. There is no write-ahead log, so that a copy of the one file is complete;
a connection lives for one transaction, so that threads, processes and forks need no care.

Evolution: `VERSION` grows with the tables. A file of a newer release is refused, never rewritten.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from deniable.client.errors import StoreFailed
from deniable.core.errors import InvalidArgument, UnsupportedVersion

VERSION = 1
_APPLICATION = int.from_bytes(b"DNBL", "big")
_BUSY = 30.0  # seconds to wait for another process
_DURABLE: tuple[str, ...] = (
    "PRAGMA synchronous = EXTRA",  # also the folder's entry of the journal: a commit survives a loss of power
    "PRAGMA fullfsync = 1",  # macOS: past the disk's own cache
)
_SETTINGS = (
    "PRAGMA secure_delete = ON",  # what is forgotten is overwritten
    "PRAGMA foreign_keys = ON",
)

_SCHEMA = """
CREATE TABLE consents (
    person TEXT NOT NULL, site TEXT NOT NULL, collection TEXT NOT NULL, given INTEGER NOT NULL,
    PRIMARY KEY (person, site, collection));
CREATE TABLE ledger (  -- epsilon is spent from the moment its row exists
    number INTEGER PRIMARY KEY,
    person TEXT NOT NULL, site TEXT NOT NULL, collection TEXT NOT NULL, fingerprint TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon > 0),
    document TEXT NOT NULL,  -- the spec
    UNIQUE (person, site, collection),
    UNIQUE (person, collection, fingerprint));
CREATE TABLE aliases (  -- other addresses at which an answer of the ledger is the answer
    person TEXT NOT NULL, site TEXT NOT NULL, collection TEXT NOT NULL,
    entry INTEGER NOT NULL REFERENCES ledger (number),
    PRIMARY KEY (person, site, collection));
CREATE TABLE reports (
    number INTEGER PRIMARY KEY,
    entry INTEGER UNIQUE REFERENCES ledger (number),  -- NULL at a gateway
    site TEXT NOT NULL, key BLOB NOT NULL,
    fingerprint BLOB NOT NULL, hour INTEGER NOT NULL, segments BLOB NOT NULL, id BLOB NOT NULL,
    payload BLOB NOT NULL,  -- empty once it is forgotten
    state TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '',
    due REAL NOT NULL,  -- seconds since 1970: not sent before
    expires REAL,  -- seconds since 1970: not sent after
    leased REAL NOT NULL DEFAULT 0,  -- until then somebody is sending it
    attempts INTEGER NOT NULL DEFAULT 0,
    unanswered INTEGER NOT NULL DEFAULT 0,  -- attempts of which nobody said what became: then it may have arrived
    UNIQUE (site, key, fingerprint, hour, id));
CREATE INDEX reports_by_due ON reports (state, due);
CREATE TABLE outcomes (  -- at a gateway: what became of reports that it no longer keeps
    site TEXT NOT NULL, outcome TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (site, outcome));
CREATE TABLE forms (
    site TEXT NOT NULL, collection TEXT NOT NULL, document BLOB NOT NULL, signer TEXT NOT NULL,
    PRIMARY KEY (site, collection));
CREATE TABLE ids (  -- issued by the collector, each for one bucket
    site TEXT NOT NULL, collection TEXT NOT NULL, hour INTEGER NOT NULL, id BLOB NOT NULL,
    PRIMARY KEY (site, collection, id));
CREATE TABLE pauses (  -- the collector asked to be left alone, or is away
    site TEXT PRIMARY KEY, until REAL NOT NULL, failures INTEGER NOT NULL);
"""


class Store:
    """One file of answers, which any number of threads and processes may share."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        name = os.fspath(path)
        if not name or name.startswith((":memory:", "file:")):
            raise InvalidArgument("store", "be a file, which outlives the program", name)
        self.path = Path(name).absolute()
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StoreFailed(str(self.path), error.strerror or str(error)) from None
        with self.transaction() as database:
            self._prepare(database)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing: what is done inside is on disk afterwards, or undone if an error leaves the block."""
        try:
            address = f"{self.path.as_uri()}?mode=rw"  # a file that was deleted is not silently begun anew
            with closing(sqlite3.connect(address, _BUSY, isolation_level=None, uri=True)) as database:
                for setting in (*_DURABLE, *_SETTINGS):
                    database.execute(setting)
                database.execute("BEGIN IMMEDIATE")
                try:
                    yield database
                    database.execute("COMMIT")
                finally:
                    if database.in_transaction:
                        database.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise StoreFailed(str(self.path), str(error)) from error

    def _prepare(self, database: sqlite3.Connection) -> None:
        """Make the tables of a new file; refuse a file of something else, or of a newer release."""
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (owner,) = database.execute("PRAGMA application_id").fetchone()
        if owner == _APPLICATION and version == VERSION:
            return
        if owner == _APPLICATION:
            raise UnsupportedVersion(f"{self.path}: the store", version, VERSION)
        if owner or version or database.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise StoreFailed(str(self.path), "it is a database of something else. Name another file.")
        for statement in _SCHEMA.split(";\n"):
            if statement.strip():
                database.execute(statement)
        database.execute(f"PRAGMA application_id = {_APPLICATION}")
        database.execute(f"PRAGMA user_version = {VERSION}")
