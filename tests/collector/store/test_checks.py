"""What a check finds, and what a copy holds."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

from deniable.collector.store.backup import backup
from deniable.collector.store.checks import check
from deniable.collector.store.folder import DATABASE
from deniable.collector.store.opening import open_store
from deniable.collector.store.protocol import StorageTrouble
from deniable.collector.store.records import KeyRow
from deniable.collector.store.sql import SqlStore
from deniable.core.errors import InvalidArgument
from tests.collector.store.helpers import HOUR, Sums, a_cell, a_collection, batch, fold_all, identifier, reports, total

DAMAGES = [
    ("UPDATE cells SET checksum = checksum + 1", "the summary is damaged"),
    ("UPDATE cells SET apart_checksum = 1", "the published summary is damaged"),
    ("UPDATE cells SET published_n = n + 1", "reports are published of"),
    ("UPDATE cells SET summary = NULL, checksum = NULL", "but there is no summary"),
    ("UPDATE cells SET fingerprint = 'b' WHERE number = 1", "belong to spec b"),
    ("UPDATE reports SET n = n + 1", "is damaged: its ids"),
    ("UPDATE reports SET cell = 99", "is damaged: its ids"),
    ("DELETE FROM ids", "ids that are not remembered"),
    ("DELETE FROM collections", "belongs to collection 1, which does not exist"),
    ("DELETE FROM specs", "'colours' has no spec"),
    ("UPDATE numbers SET value = 0 WHERE name = 'schema'", "schema has version 0"),
]


def filled(store: SqlStore) -> None:
    """Fill a store with reports in every state."""
    a_collection(store)
    store.add_key(KeyRow(b"digest", "write", 1, "phones", 1, None))
    cell, other = a_cell(), a_cell(segments=b"\1")
    store.commit([reports(cell, range(10)), reports(other, range(10, 14)), batch(cell, 50, 7)])
    fold_all(store, Sums(minimum=12))
    store.commit([reports(cell, range(20, 23)), reports(other, range(30, 40)), batch(other, 51, 5)])
    fold_all(store, Sums(minimum=12), keep=True)
    store.commit([reports(cell, range(60, 65)), reports(other, [70, 71]), batch(other, 72, 5)])
    store.delete_report(1, HOUR, identifier(61))


def test_a_store_in_use_is_whole(store: SqlStore) -> None:
    assert check(store) == []
    filled(store)
    assert check(store) == []
    store.forget(1, HOUR + 1)
    store.drop(1, HOUR + 1)
    assert check(store) == []


@pytest.mark.parametrize(("damage", "finding"), DAMAGES)
def test_damage_is_found(store: SqlStore, damage: str, finding: str) -> None:
    filled(store)
    store.database.write(lambda connection: connection.exec_driver_sql(damage))
    found = check(store)
    assert any(finding in line for line in found), found


def test_many_findings_of_a_kind_are_cut(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.collector.store.checks._MOST", 2)
    filled(store)
    store.database.write(lambda connection: connection.exec_driver_sql("UPDATE reports SET cell = 99"))
    assert [line for line in check(store) if "more" in line] == ["and more of this kind"]


def test_a_damaged_file_is_noticed(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    filled(store)
    store.commit([reports(a_cell(), range(1000, 20_000), width=3)])
    store.close()
    file = tmp_path / "store" / DATABASE
    content = bytearray(file.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 4096] = bytes(4096)
    file.write_bytes(content)
    assert "malformed" in complaints(tmp_path / "store")


def complaints(folder: Path) -> str:
    """What is said of a damaged store, when it is opened or when it is checked."""
    try:
        with contextlib.closing(open_store(folder)) as store:
            return "\n".join(check(store))
    except StorageTrouble as error:
        return str(error)


def test_a_copy_made_while_reports_arrive_is_whole_and_can_be_restored(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    filled(store)
    copy = tmp_path / "copy.sqlite"
    backup(tmp_path / "store", copy)
    store.commit([reports(a_cell(), [999])])
    store.close()
    (tmp_path / "restored").mkdir()
    shutil.copy(copy, tmp_path / "restored" / DATABASE)
    restored = open_store(tmp_path / "restored")
    assert check(restored) == []
    assert restored.commit([reports(a_cell(), [60, 999])]) == [1]
    fold_all(restored)
    assert total(restored.summaries([a_cell()])[0])[1] == 10 + 7 + 3 + 4 + 1
    restored.close()


def test_a_copy_overwrites_nothing(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store")
    there = tmp_path / "there"
    there.write_text("something")
    with pytest.raises(StorageTrouble, match="File exists"):
        backup(tmp_path / "store", there)
    assert there.read_text() == "something"
    with pytest.raises(StorageTrouble, match="No such file"):
        backup(tmp_path / "store", tmp_path / "nowhere" / "copy")
    store.close()


def test_where_there_is_no_store_nothing_is_copied(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="hold a store"):
        backup(tmp_path, tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []
