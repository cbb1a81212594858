"""The file that keeps answers: its own or refused, never begun anew, and whole whatever fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import deniable as dn
from deniable.client import Client, StoreFailed
from deniable.client import store as store_module
from deniable.client.store import Store
from deniable.core.errors import UnsupportedVersion
from tests.client.collector import NAME, Collector
from tests.client.conftest import DURABLE

Device = Callable[..., Client]


def test_a_store_of_something_else_is_refused_and_left_alone(device: Device, store: Path) -> None:
    with closing(sqlite3.connect(store)) as database:
        database.execute("CREATE TABLE theirs (x)")
        database.commit()
    before = store.read_bytes()
    with pytest.raises(StoreFailed, match="something else"):
        device()
    assert store.read_bytes() == before


def test_a_store_of_a_newer_release_is_refused(device: Device, store: Path) -> None:
    device()
    with closing(sqlite3.connect(store)) as database:
        database.execute("PRAGMA user_version = 2")
    with pytest.raises(UnsupportedVersion, match="version 2"):
        device()


def test_a_damaged_store_is_refused_and_not_begun_anew(device: Device, store: Path) -> None:
    store.write_bytes(b"these are no tables, " * 1000)
    with pytest.raises(StoreFailed, match="not a database"):
        device()
    assert store.stat().st_size == 21_000


def test_a_store_that_was_deleted_is_not_silently_begun_anew(device: Device, store: Path) -> None:
    client = device()
    client.answer("walk")
    store.unlink()
    with pytest.raises(StoreFailed):
        client.answer("walk")
    assert not store.exists()


@pytest.mark.parametrize("name", ["", ":memory:", "file:x?mode=memory"])
def test_a_store_that_forgets_is_refused(collector: Collector, name: str) -> None:
    with pytest.raises(dn.InvalidArgument, match="outlives"):
        Client(collector.url, collector.key.text, NAME, store=name)


def test_a_store_that_cannot_be_made_is_named(device: Device, tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="No such file or directory"):
        device(store=tmp_path / "nowhere" / "answers.sqlite")


def test_a_full_disk_spends_nothing_and_says_so(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    client = device()
    client.refresh()
    connect = sqlite3.connect

    def full(*arguments: object, **options: object) -> sqlite3.Connection:
        database = connect(*arguments, **options)  # type: ignore[call-overload]
        failing = "BEGIN SELECT RAISE(ABORT, 'disk is full'); END"
        database.execute(f"CREATE TEMP TRIGGER full BEFORE INSERT ON ledger {failing}")
        return database  # type: ignore[no-any-return]

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", full)
        with pytest.raises(StoreFailed, match="full"):
            client.answer("walk")
    assert client.spent() == 0
    assert client.answer("walk").state == "waiting"


def test_the_store_can_be_read_by_its_owner_only(device: Device, store: Path) -> None:
    device()
    assert store.stat().st_mode & 0o077 == 0


def test_every_transaction_is_on_the_disk_before_it_returns(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "_DURABLE", DURABLE)
    with Store(store).transaction() as database:
        settings = {name: database.execute(f"PRAGMA {name}").fetchone()[0] for name in CHECKED}
    assert settings == CHECKED


CHECKED = {"synchronous": 3, "fullfsync": 1, "secure_delete": 1, "foreign_keys": 1, "journal_mode": "delete"}
