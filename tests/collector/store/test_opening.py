"""Stores opened: by one process or several, new, old, or newer than this release."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest
from sqlalchemy import Connection, text, update
from sqlalchemy.dialects import postgresql as postgresql_dialect
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from deniable.collector.store.checks import check
from deniable.collector.store.database import Database, postgresql_database, sqlite_database
from deniable.collector.store.folder import DATABASE
from deniable.collector.store.migrations import STEPS, migrate, version
from deniable.collector.store.opening import open_store
from deniable.collector.store.protocol import StorageTrouble, StoreInUse
from deniable.collector.store.sql import SqlStore
from deniable.collector.store.tables import metadata, numbers
from deniable.core.errors import InvalidArgument, UnsupportedVersion
from tests.collector.servers import Server
from tests.collector.store.children import die_at_statement, start
from tests.collector.store.helpers import a_cell, a_collection, fold_all, reports


def later(connection: Connection) -> None:
    """A step of a later release."""
    connection.execute(text("ALTER TABLE keys ADD COLUMN colour TEXT"))
    connection.execute(text("CREATE TABLE colours (name TEXT PRIMARY KEY)"))
    connection.execute(text("INSERT INTO colours VALUES ('blue')"))


LATER = (*STEPS, later)


def schema_in_words() -> str:
    """The statements that make the tables, for both databases."""
    statements = [
        str(statement.compile(dialect=dialect)).strip()
        for dialect in (sqlite.dialect(), postgresql_dialect.dialect())
        for table in metadata.sorted_tables
        for statement in (
            CreateTable(table),
            *map(CreateIndex, sorted(table.indexes, key=lambda index: str(index.name))),
        )
    ]
    return "\n\n".join("\n".join(line.rstrip() for line in each.splitlines()) for each in statements) + "\n"


def test_the_schema_changes_by_a_new_step_only() -> None:
    # If this fails, tables.py describes another schema than the newest step leads to: write the next step, let the
    # old ones make what stands in the file of their version, and write the new statements to a file of their own.
    assert schema_in_words() == (Path(__file__).parent / f"schema_{len(STEPS)}.sql").read_text()


@pytest.mark.parametrize("reached", range(1, len(STEPS) + 1))
def test_each_step_leads_to_the_schema_of_its_file(tmp_path: Path, reached: int) -> None:
    statements = (Path(__file__).parent / f"schema_{reached}.sql").read_text().split("\n\n")
    database = sqlite_database(tmp_path / DATABASE)
    assert migrate(database, STEPS[:reached]) == list(range(1, reached + 1))
    made = text("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name <> 'sqlite_sequence'")
    found = database.read(lambda connection: list(connection.scalars(made)))
    database.close()
    assert {" ".join(each.split()) for each in found} == {
        " ".join(each.split()) for each in statements[: len(statements) // 2]
    }


def test_a_second_process_on_a_folder_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    with pytest.raises(StoreInUse, match=r"in use by process \d+; one collector at a time"):
        open_store(tmp_path / "store")
    child = start(open_store, str(tmp_path / "store"))
    child.join()
    assert child.exitcode == 1
    store.close()
    open_store(tmp_path / "store").close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageTrouble, match="file/store cannot be used: Not a directory"):
        open_store(tmp_path / "file" / "store")


@pytest.mark.parametrize("wrong", ["postgresql://host:port/database", "postgres://host:99999x/"])
def test_an_address_that_is_none_is_refused_without_repeating_it(wrong: str) -> None:
    with pytest.raises(InvalidArgument, match="address must read postgresql://user@host:port/database") as caught:
        open_store(wrong)
    assert wrong not in str(caught.value)


def test_a_store_is_for_its_owner_alone(tmp_path: Path) -> None:
    open_store(tmp_path / "store").close()
    assert (tmp_path / "store").stat().st_mode & 0o077 == 0


def test_a_store_in_a_folder_that_others_may_see_is_for_its_owner_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = open_store(tmp_path)
    a_collection(store)
    files = sorted(tmp_path.iterdir())
    assert [each.name for each in files] == [f"{DATABASE}{end}" for end in ("", "-shm", "-wal")] + ["lock"]
    assert {each.stat().st_mode & 0o077 for each in files} == {0}
    store.close()


def test_a_database_that_cannot_be_opened_is_named_and_its_folder_released(tmp_path: Path) -> None:
    (tmp_path / DATABASE).mkdir()
    for _ in range(2):
        with pytest.raises(StorageTrouble, match=r"deniable\.sqlite cannot be used: Is a directory"):
            open_store(tmp_path)


def test_a_store_of_a_newer_release_is_refused_and_not_touched(store: SqlStore, address: str) -> None:
    a_collection(store)
    migrate(store.database, LATER)
    store.close()
    with pytest.raises(
        UnsupportedVersion, match=f"the store has version {len(LATER)}; this release reads up to version {len(STEPS)}"
    ):
        open_store(address)


def test_an_old_store_is_brought_forward_with_all_that_is_in_it(store: SqlStore) -> None:
    a_collection(store)
    store.commit([reports(a_cell(), range(4))])
    assert migrate(store.database, LATER) == [len(LATER)]
    assert migrate(store.database, LATER) == []
    assert store.waiting() == [(a_cell(), 4)]
    assert store.database.read(lambda connection: connection.scalar(text("SELECT name FROM colours"))) == "blue"
    assert fold_all(store) == 4


@pytest.mark.parametrize("old", [False, True], ids=["a new store", "an old store"])
def test_a_migration_that_is_killed_anywhere_is_done_by_the_next_process(address: str, old: bool) -> None:
    if old:
        open_store(address).close()
    killed = 0
    while (child := start(die_at_statement, address, 4 * killed, LATER)).join() or child.exitcode != 0:
        assert child.exitcode == -signal.SIGKILL
        killed += 1
    assert killed >= 2
    with pytest.raises(UnsupportedVersion):
        open_store(address)
    store = SqlStore(database_at(address))
    assert store.database.read(version) == len(LATER)
    assert store.database.read(lambda connection: connection.scalar(text("SELECT count(*) FROM colours"))) == 1
    a_collection(store)
    store.close()


def database_at(address: str) -> Database:
    """A database, whatever its schema."""
    return postgresql_database(address) if "://" in address else sqlite_database(Path(address) / DATABASE)


def test_processes_that_start_together_make_one_schema(postgresql: Server) -> None:
    address = postgresql.new_database()
    opened: list[SqlStore] = []
    threads = [threading.Thread(target=lambda: opened.append(open_store(address))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 4
    assert check(opened[0]) == []
    for store in opened:
        store.close()


def test_a_version_of_nothing_is_zero(store: SqlStore) -> None:
    assert store.database.read(version) == len(STEPS)
    store.database.write(lambda connection: connection.execute(update(numbers).values(value=0)))
    assert store.database.read(version) == 0
