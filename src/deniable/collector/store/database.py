"""A database and its transactions: what is tried again, what is reported, and what never stands in a message."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from deniable.collector.store.protocol import StorageTrouble
from deniable.core.errors import InvalidArgument, cut

Result = TypeVar("Result")

_ATTEMPTS = 8  # of a transaction that met another one
_MET_ANOTHER = {"40001", "40P01"}  # serialization failure, deadlock
_SECONDS_FOR_LOCKS = 10
_WRITES = "deniable_writes"
_COUNT_ROWS = {"preserve_rowcount": True}  # of INSERT as well, which tells whether ids are new

_SQLITE_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    f"PRAGMA busy_timeout = {_SECONDS_FOR_LOCKS * 1000}",
    "PRAGMA cache_size = -65536",  # 64 MiB: ids are random, so they land on any page
    "PRAGMA wal_autocheckpoint = 16384",  # 64 MiB of changed pages: most are changed again by the next commit
)
# A commit must be on disk when it returns, whatever the server's default is; a stricter default stays
_POSTGRESQL_SETTINGS = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
    f"SET lock_timeout = '{_SECONDS_FOR_LOCKS}s'",
)


class Database:
    """Connections to one database. Transactions that write to SQLite take turns; PostgreSQL sees to that itself."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._for_writing = engine.execution_options(**{_WRITES: True})
        self._turn = threading.Lock()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def insert(self, table: Any) -> Any:
        """An INSERT of this database, which knows ON CONFLICT."""
        return sqlite.insert(table) if self.is_sqlite else postgresql.insert(table)

    def read(self, work: Callable[[Connection], Result]) -> Result:
        """The result of work that changes nothing."""
        with _trouble(), self.engine.connect() as connection, connection.begin():
            return work(connection)

    def write(self, work: Callable[[Connection], Result]) -> Result:
        """The result of work in one transaction; it may be called again if the transaction met another one."""
        for attempt in range(_ATTEMPTS):
            try:
                return self._write_once(work)
            except DBAPIError as error:
                if getattr(error.orig, "sqlstate", None) not in _MET_ANOTHER or attempt == _ATTEMPTS - 1:
                    raise _described(error) from error
            except SQLAlchemyError as error:
                raise _described(error) from error
        raise AssertionError("the last attempt returns or raises")

    def _write_once(self, work: Callable[[Connection], Result]) -> Result:
        if not self.is_sqlite:
            with self.engine.begin() as connection:
                return work(connection)
        with self._turn, self._for_writing.begin() as connection:
            return work(connection)


def sqlite_database(file: Path) -> Database:
    """A database in a file."""
    engine = create_engine(
        URL.create("sqlite", database=str(file)), hide_parameters=True, execution_options=_COUNT_ROWS
    )
    engine.dialect.cte_follows_insert = True  # Python counts the rows of statements that begin with INSERT
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return Database(engine)


def postgresql_database(address: str) -> Database:
    """A database on a server, by its postgresql:// address."""
    try:
        url = make_url(address).set(drivername="postgresql+psycopg")
    except (SQLAlchemyError, ValueError):
        raise InvalidArgument("the store's address", "read postgresql://user@host:port/database", "an other") from None
    engine = create_engine(
        url,
        hide_parameters=True,
        pool_pre_ping=True,
        connect_args={"connect_timeout": _SECONDS_FOR_LOCKS},
        execution_options=_COUNT_ROWS,
    )
    event.listen(engine, "connect", _set_up_postgresql)
    return Database(engine)


def _set_up_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    _execute_all(connection, _SQLITE_SETTINGS)


def _begin_sqlite(connection: Connection) -> None:
    # Who will write says so at once: a transaction that began by reading could not go on if another one wrote meanwhile
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up_postgresql(connection: Any, _: object) -> None:
    _execute_all(connection, _POSTGRESQL_SETTINGS)
    connection.commit()


def _execute_all(connection: Any, statements: tuple[str, ...]) -> None:
    cursor = connection.cursor()
    for statement in statements:
        cursor.execute(statement)
    cursor.close()


@contextmanager
def _trouble() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        raise _described(error) from error


def _described(error: SQLAlchemyError) -> StorageTrouble:
    """Describe what failed, by the database's own words for it and without any statement or value."""
    cause = getattr(error, "orig", None) or error
    code = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or type(cause).__name__
    diagnosis = getattr(cause, "diag", None)
    words = diagnosis.message_primary if diagnosis is not None else None
    if words is None and isinstance(error, DBAPIError):
        words = str(cause).partition("\n")[0]
    return StorageTrouble(f"the database failed: {cut(words, 200) + ' ' if words else ''}({code})")
