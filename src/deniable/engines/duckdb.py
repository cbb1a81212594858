"""DuckDB: functions in SQL that count reports and make them.

    SELECT day, deniable_summarize(report) AS summary FROM reports GROUP BY day

gives the bytes of one summary for each group. Python functions in DuckDB do not aggregate: the call is a macro for
`deniable_summarize_list(list(report))`, so DuckDB holds all reports of the query until they are counted. Reports that
do not fit in memory are counted as a stream, by `dn.summarize_by(m, relation, by=["day"])`.
"""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from typing import Any

from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.reports import COLUMN
from deniable.core.validate import whole
from deniable.engines.calls import counted_of, dtype_of, keystreams, privatized_column, summaries
from deniable.engines.columns import width_of
from deniable.grouping.counting import Counted, report_columns
from deniable.heavy_hitters.collected import LEVEL_COLUMN
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.base.mechanism import Mechanism

PREFIX = "deniable"
_PREFIXES = re.compile("[a-z][a-z0-9_]{0,40}")


def register(
    connection: Any,
    mechanism: Any,
    *,
    prefix: str = PREFIX,
    seed: int | None = None,
    simulated: bool | None = None,
) -> None:
    """Give a DuckDB connection the functions of a mechanism, a spec or heavy hitters; again, to replace them.

    - `deniable_summarize(report)` is an aggregate: the bytes of the summary of a group, as BLOB. For heavy hitters it
      is `deniable_summarize(level, report)`.
    - `deniable_summarize_list(list(report))` is the same, for where DuckDB wants a function that aggregates itself:
      `list(report) FILTER (WHERE ...)`.
    - `deniable_privatize(value)` makes a fresh report in each row and each time a query runs, for trusted gateways:
      keep the reports in a table, since reports made twice cost epsilon twice.

    Several specs on one connection have several prefixes. With a seed, reports can be repeated, for simulation only:
    the connection must have one thread, and each registration starts the reports again. DuckDB keeps no metadata:
    `simulated` says whether the reports in it are simulated, by default if there is a seed.

    >>> import duckdb
    >>> import deniable as dn
    >>> from deniable.engines import duckdb as sql
    >>> m = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
    >>> with duckdb.connect() as connection:
    ...     sql.register(connection, m)
    ...     _ = connection.execute("CREATE TABLE reports AS SELECT deniable_privatize('yes') AS report FROM range(9)")
    ...     (data,) = connection.execute("SELECT deniable_summarize(report) FROM reports").fetchone()
    >>> dn.Summary.from_bytes(data).n
    9
    """
    with needed():
        import duckdb

    if not isinstance(connection, duckdb.DuckDBPyConnection):
        raise InvalidArgument("connection", "be a DuckDB connection", connection)
    counted = counted_of(mechanism)
    if seed is not None:
        whole(0, 2**63 - 1, seed=seed)
    if not (isinstance(prefix, str) and _PREFIXES.fullmatch(prefix)):
        raise InvalidArgument("prefix", "be lower-case letters, digits and _, and begin with a letter", prefix)
    if seed is not None and connection.execute("SELECT current_setting('threads')").fetchall() != [(1,)]:
        hint = "Run SET threads = 1 first."
        raise InvalidArgument("seed", "be given on a connection with one thread, since the order counts", seed, hint)
    made, row = _types(counted)
    keys, lock = keystreams(seed), threading.Lock()
    flag = seed is not None if simulated is None else simulated

    def summarize(lists: Any) -> Any:
        with needed():
            import pyarrow as pa

        return pa.array(summaries(counted, lists, flag), pa.binary())

    def privatize(values: Any) -> Any:
        with lock:
            keystream = next(keys)
        return privatized_column(counted, values, keystream)

    _create(connection, f"{prefix}_summarize_list", summarize, f"{row}[]", "BLOB", fresh=False)
    _create(connection, f"{prefix}_privatize", privatize, _type_of_values(counted), made, fresh=True)
    columns = report_columns(counted)
    one = COLUMN if len(columns) == 1 else f"{{{', '.join(f'{name!r}: {name}' for name in columns)}}}"
    call = f"{prefix}_summarize({', '.join(columns)}) AS {prefix}_summarize_list(list({one}))"
    connection.execute(f"CREATE OR REPLACE TEMP MACRO {call}")


def _create(connection: Any, name: str, function: Any, takes: str, gives: str, *, fresh: bool) -> None:
    with needed():
        import duckdb

    with suppress(duckdb.InvalidInputException):  # there was none
        connection.remove_function(name)
    try:
        # without side effects, DuckDB could compute a constant once for all rows
        connection.create_function(
            name, function, [takes], gives, type="arrow", null_handling="special", side_effects=fresh
        )
    except duckdb.CatalogException:
        hint = "Another connection to this database has registered it: use that one, or another prefix."
        raise InvalidArgument("prefix", "make names that are new", name, hint) from None


def _types(counted: Counted) -> tuple[str, str]:
    """The types of a report that is made, and of one that is counted, to which DuckDB widens narrower ones."""
    narrow = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER", 8: "UBIGINT"}[dtype_of(counted).itemsize]
    brackets = "" if width_of(counted) is None else "[]"
    if isinstance(counted, Mechanism):
        return narrow + brackets, f"UBIGINT{brackets}"
    pair = f"STRUCT({LEVEL_COLUMN} USMALLINT, {COLUMN} {{}}{brackets})"
    return pair.format(narrow), pair.format("UBIGINT")


def _type_of_values(counted: Counted) -> str:
    """The type of values: DuckDB refuses others when it reads the query."""
    if isinstance(counted, HeavyHitters) or isinstance(counted.domain, Open):
        return "VARCHAR"
    return {str: "VARCHAR", int: "BIGINT", bool: "BOOLEAN"}[type(counted.domain.label(0))]
