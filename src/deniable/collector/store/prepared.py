"""Statements of every commit: put together once for each kind of database, then handed to the driver as text.

To look a statement up and to convert its parameters costs SQLAlchemy as much as SQLite needs to execute it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection


class Prepared:
    """A statement whose parameters and results are whole numbers, bytes and texts, as drivers take and give them."""

    def __init__(self, statement: Any, columns: Sequence[str] | None = None) -> None:
        self._statement = statement
        self._columns = columns  # of an INSERT
        self._texts: dict[str, tuple[str, dict[str, Any], list[str] | None]] = {}

    def execute(self, connection: Connection, *rows: Mapping[str, object]) -> Any:
        """Execute it with these values, or once for each of several rows."""
        text, constants, places = self._texts.get(connection.dialect.name) or self._made(connection)
        if places is None:
            named = [{**constants, **row} for row in rows]
            return connection.exec_driver_sql(text, named if len(rows) > 1 else named[0])
        placed = [tuple([row[name] if name in row else constants[name] for name in places]) for row in rows]
        return connection.exec_driver_sql(text, placed if len(rows) > 1 else placed[0])

    def _made(self, connection: Connection) -> tuple[str, dict[str, Any], list[str] | None]:
        made = self._statement.compile(dialect=connection.dialect, column_keys=self._columns)
        constants = {name: value for name, value in made.params.items() if value is not None}
        found = str(made), constants, list(made.positiontup) if made.positional else None
        self._texts[connection.dialect.name] = found
        return found
