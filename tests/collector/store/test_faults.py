"""A database that fails: everything happens as a whole or not at all, and the store recovers by itself."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import OperationalError

from deniable.collector.store.checks import check
from deniable.collector.store.folder import DATABASE
from deniable.collector.store.opening import open_store
from deniable.collector.store.protocol import StorageTrouble
from deniable.collector.store.records import KeyRow, SpecRow
from deniable.collector.store.sql import SqlStore
from tests.collector.servers import Server
from tests.collector.store.faults import answer_of_commit_lost, failing_at, raise_planned, tables
from tests.collector.store.helpers import (
    HOUR,
    Sums,
    a_cell,
    a_collection,
    as_bytes,
    batch,
    fold_all,
    identifier,
    reports,
    total,
)

CELL, OTHER, NEW = a_cell(), a_cell(segments=b"\1"), a_cell(segments=b"\2")
KEY = KeyRow(b"digest", "write", 1, "phones", 1, None)

CALLS: dict[str, Callable[[SqlStore], object]] = {
    "commit": lambda store: store.commit([reports(CELL, range(3, 30)), reports(NEW, [40]), batch(OTHER, 41, 5)]),
    "fold": lambda store: store.fold(CELL, Sums(), keep=False, most=100),
    "fold and keep": lambda store: store.fold(CELL, Sums(100), keep=True, most=100),
    "delete a report": lambda store: store.delete_report(1, HOUR, identifier(202)),
    "add summaries": lambda store: store.add_summaries(
        1, b"x" * 16, {CELL: as_bytes(1, 1), NEW: as_bytes(2, 2)}, Sums()
    ),
    "drop": lambda store: store.drop(1, HOUR + 1),
    "add refusals": lambda store: store.add_refusals({(0, 24, "auth"): 2, (1, 24, "auth"): 3}),
    "add a collection": lambda store: a_collection(store, "flavours"),
    "add a spec": lambda store: store.add_spec(SpecRow(1, "b", "{}", 1)),
    "add a key": lambda store: store.add_key(KEY._replace(digest=b"other")),
    "revoke a key": lambda store: store.revoke_key(b"digest", 5),
    "change a collection": lambda store: store.change_collection(1, '{"open": false}', store.collections()[0].settings),
    "latest": lambda store: store.latest(900),
}


def prepare(store: SqlStore) -> None:
    """Fill a store so that every call above has something to do."""
    a_collection(store)
    store.add_key(KEY)
    store.commit([reports(CELL, range(5)), reports(OTHER, range(100, 104))])
    fold_all(store, Sums(5))
    store.commit([reports(CELL, range(5)), reports(CELL, range(200, 203))])
    store.commit([reports(CELL, [2], HOUR - 1), reports(CELL, range(203, 206)), batch(CELL, 300, 9)])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_failure_at_any_statement_leaves_everything_as_it_was(store: SqlStore, call: Callable[..., object]) -> None:
    prepare(store)
    before = tables(store)
    for statement in range(100):
        with failing_at(store, statement, raise_planned) as seen:
            try:
                call(store)
            except StorageTrouble as error:
                assert "SECRET" not in str(error)  # noqa: PT017
            else:
                break
        assert seen[1] == 1
        assert tables(store) == before
    assert seen[1] == 0
    assert statement >= 2
    assert tables(store) != before
    assert check(store) == []


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
@pytest.mark.parametrize("call", ["commit", "fold", "add summaries"])
def test_a_connection_that_ends_at_any_statement_changes_nothing(
    store: SqlStore, postgresql: Server, address: str, call: str
) -> None:
    prepare(store)
    before = tables(store)
    for statement in range(100):
        try:
            with failing_at(store, statement, lambda _: postgresql.end_connections(address)) as seen:
                CALLS[call](store)
        except StorageTrouble:
            assert tables(store) == before
        else:
            break
    assert seen[1] == 0
    assert statement >= 3
    assert tables(store) != before
    assert check(store) == []


@pytest.mark.parametrize("call", ["commit", "fold", "add summaries"])
def test_trying_again_is_harmless_when_the_answer_of_a_commit_was_lost(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    prepare(store)
    with answer_of_commit_lost(store, monkeypatch), pytest.raises(StorageTrouble):
        CALLS[call](store)
    once = tables(store)
    CALLS[call](store)
    assert tables(store) == once
    assert check(store) == []


class Deadlock(Exception):
    """What PostgreSQL tells one of two transactions that wait for each other."""

    sqlstate = "40P01"


def test_a_transaction_that_met_another_one_is_tried_again_a_bounded_number_of_times(store: SqlStore) -> None:
    a_collection(store)
    left = 3

    def meet(*_: object) -> None:
        nonlocal left
        left -= 1
        if left >= 0:
            raise OperationalError("", None, Deadlock())

    event.listen(store.database.engine, "commit", meet)
    assert store.commit([reports(CELL, range(5))]) == [5]
    assert left == -1
    left = 1000
    with pytest.raises(StorageTrouble, match="40P01"):
        store.commit([reports(CELL, range(5, 9))])
    assert left == 1000 - 8
    left = 0
    assert store.waiting() == [(CELL, 5)]


def test_a_database_locked_by_another_program_is_trouble_that_passes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    a_collection(store)
    store.database.engine.dispose()
    event.listen(store.database.engine, "connect", lambda c, _: c.execute("PRAGMA busy_timeout = 20") and None)
    other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageTrouble, match=r"locked \(SQLITE_BUSY\)"):
        store.commit([reports(CELL, [1])])
    assert store.waiting() == []
    other.execute("ROLLBACK")
    other.close()
    assert store.commit([reports(CELL, [1])]) == [1]
    store.close()


def test_a_full_disk_is_trouble_that_passes(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    a_collection(store)
    pages = 60
    store.database.engine.dispose()
    event.listen(store.database.engine, "connect", lambda c, _: c.execute(f"PRAGMA max_page_count = {pages}") and None)
    accepted = 0

    def fill() -> None:
        nonlocal accepted
        while True:
            store.commit([reports(CELL, range(accepted, accepted + 500), width=4)])
            accepted += 500

    with pytest.raises(StorageTrouble, match=r"full \(SQLITE_FULL\)"):
        fill()
    assert accepted > 0
    assert store.waiting() == [(CELL, accepted)]
    with pytest.raises(StorageTrouble, match="full"):
        store.commit([reports(OTHER, range(accepted, accepted + 500), width=4)])
    store.database.engine.dispose()
    pages = 10_000
    assert store.commit([reports(CELL, range(accepted + 500), width=4)]) == [500]
    fold_all(store)
    assert total(store.summaries([CELL])[0]) == (sum(range(accepted + 500)), accepted + 500)
    assert check(store) == []
    store.close()


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_server_whose_process_is_killed_is_trouble_that_passes(store: SqlStore) -> None:
    prepare(store)
    before = tables(store)
    with store.database.engine.connect() as witness:  # so that it is another connection that writes
        process = store.database.read(lambda connection: connection.scalar(text("SELECT pg_backend_pid()")))
        assert process != witness.scalar(text("SELECT pg_backend_pid()"))
        with (
            failing_at(store, 2, lambda _: os.kill(process, signal.SIGKILL)),
            pytest.raises(StorageTrouble),
        ):
            CALLS["commit"](store)
        # the server may answer for a moment until it notices; then it ends all connections, recovers, and answers again
        assert eventually(lambda: is_ended(witness))
        witness.invalidate()
    assert eventually(lambda: answered(store)) == before
    CALLS["commit"](store)
    assert check(store) == []


def eventually(attempt: Callable[[], Any]) -> Any:
    """The first answer that is not empty, within a minute."""
    for _ in range(1200):
        found = attempt()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail("nothing happened in a minute")


def is_ended(connection: Connection) -> bool:
    """Whether the server has ended a connection."""
    try:
        connection.scalar(text("SELECT 1"))
        connection.rollback()
    except OperationalError:
        return True
    return False


def answered(store: SqlStore) -> Any:
    """All tables, if the server answers."""
    try:
        return tables(store)
    except StorageTrouble:
        return None


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    with pytest.raises(StorageTrouble) as caught:
        open_store("postgresql://collector:secret@127.0.0.1:1/reports")
    assert "127.0.0.1" in str(caught.value)
    assert "secret" not in str(caught.value)
