"""Reports into a collector's store, durably: wall time, since a disk and another process share the work."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import deniable as dn
from benchmarks.goals import OURS, AtMost, Measured, timed
from benchmarks.registry import Bench, Row
from benchmarks.rows.threads import every_core
from deniable.collector.store.opening import open_store
from deniable.collector.store.records import Cell, Counted, Delivery, SpecRow, Waiting
from deniable.collector.store.sql import SqlStore
from deniable.core.summary import Summary

BATCH = 10_000
REPEATS = 3
ROW_EACH = "a row per report"
NO_IDS = "the same reports counted in memory"
HOUR = 500_000

_MECHANISM = dn.mechanism("grr", k=1024, epsilon=1.0)
_CELL = Cell(1, _MECHANISM.fingerprint, HOUR, b"")


def with_ids(_: Bench, address: Callable[[], contextlib.AbstractContextManager[str]], batches: int) -> Measured:
    """Batches whose reports have ids of their own, and a plain table of SQLite that keeps a row for each of them."""
    payloads = _payloads()
    deliveries = [Delivery(_CELL, HOUR, _ids(BATCH), payloads, BATCH) for _ in range(batches)]
    seconds = {OURS: _shortest(address, lambda store: _commit(store, deliveries))}
    seconds[ROW_EACH] = min(_row_each(deliveries) for _ in range(REPEATS))
    return timed(seconds, per=BATCH * batches)


def whole(_: Bench, address: Callable[[], contextlib.AbstractContextManager[str]], batches: int) -> Measured:
    """Batches with one id each, stored one by one and folded into the summary; and the counting alone."""
    payloads = _payloads()
    deliveries = [Delivery(_CELL, HOUR, _ids(1), payloads, BATCH, whole=True) for _ in range(batches)]

    def job(store: SqlStore) -> None:
        _commit(store, deliveries)
        while store.fold(_CELL, _counting, keep=False, most=100 * BATCH):
            pass

    seconds = {OURS: _shortest(address, job)}
    rows = [Waiting(0, b"", payloads, BATCH)] * batches
    start = time.perf_counter()
    _counting(_CELL, None, None, rows)
    return timed({**seconds, NO_IDS: time.perf_counter() - start}, per=BATCH * batches)


def _commit(store: SqlStore, deliveries: Sequence[Delivery]) -> None:
    for delivery in deliveries:
        (new,) = store.commit([delivery])
        assert new == BATCH


def _counting(_: Cell, summary: bytes | None, _published: bytes | None, rows: Sequence[Waiting]) -> Counted:
    counts = _MECHANISM.accumulator()
    for row in rows:
        counts.add(_MECHANISM.decode_joined(row.payloads))
    total = counts.summary()
    if summary is not None:
        total = total + Summary.from_bytes(summary)
    return Counted(total.to_bytes(), total.n, publish=True)


def _shortest(address: Callable[[], contextlib.AbstractContextManager[str]], job: Callable[[SqlStore], None]) -> float:
    """The shortest of several times, each on an empty store, with every core."""
    times = []
    with every_core():
        for _ in range(REPEATS):
            with address() as where, contextlib.closing(open_store(where)) as store:
                store.add_collection("bench", "{}", b"", SpecRow(0, _MECHANISM.fingerprint, "{}", 0))
                start = time.perf_counter()
                job(store)
                times.append(time.perf_counter() - start)
    return min(times)


def _row_each(deliveries: Sequence[Delivery]) -> float:
    """One row for each report in a table with its id as the key, one transaction for each batch."""
    with tempfile.TemporaryDirectory() as folder:
        table = sqlite3.connect(Path(folder) / "reports.sqlite")
        table.execute("PRAGMA journal_mode = WAL")
        table.execute("PRAGMA synchronous = FULL")
        table.execute("CREATE TABLE reports (id BLOB PRIMARY KEY, hour INTEGER, fingerprint TEXT, payload BLOB)")
        start = time.perf_counter()
        for one in deliveries:
            width = len(one.payloads) // one.n
            rows = (
                (report, one.hour, one.cell.fingerprint, one.payloads[place * width : (place + 1) * width])
                for place, report in enumerate(one.ids)
            )
            with table:
                table.executemany("INSERT OR IGNORE INTO reports VALUES (?, ?, ?, ?)", rows)
        seconds = time.perf_counter() - start
        table.close()
    return seconds


def _ids(n: int) -> tuple[bytes, ...]:
    joined = os.urandom(16 * n)
    return tuple(joined[place : place + 16] for place in range(0, 16 * n, 16))


def _payloads() -> bytes:
    reports = _MECHANISM.privatize([0] * BATCH)
    return _MECHANISM.encode_joined(reports)


def _folder() -> contextlib.AbstractContextManager[str]:
    return tempfile.TemporaryDirectory()


@contextlib.contextmanager
def _server() -> Iterator[str]:
    from tests.collector.servers import running_server

    with running_server(on_disk=True) as server:
        yield server.new_database()


ROWS = (
    Row(
        "Reports with ids into SQLite, batches of 10,000",
        partial(with_ids, address=_folder, batches=50),
        (AtMost(1e-5, beside=ROW_EACH),),
    ),
    Row(
        "Reports with ids into PostgreSQL, batches of 10,000",
        partial(with_ids, address=_server, batches=50),
        (AtMost(1e-5, beside=ROW_EACH),),
    ),
    Row(
        "GRR batches of 10,000 into summaries on SQLite",
        partial(whole, address=_folder, batches=300),
        (AtMost(5e-7, beside=NO_IDS),),
    ),
    Row(
        "GRR batches of 10,000 into summaries on PostgreSQL",
        partial(whole, address=_server, batches=300),
        (AtMost(5e-7, beside=NO_IDS),),
    ),
)
