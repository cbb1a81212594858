"""What a spool says is on the disk is there with all the folders that lead to it, and two who count it agree."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.collector.running import opened
from deniable.collector.spool import counting, durable
from deniable.collector.spool.counting import count_files
from deniable.collector.spool.layout import partitions
from deniable.collector.spool.writing import SpoolingStore, spooling
from deniable.collector.store.protocol import StorageTrouble
from deniable.core.errors import DeniableError
from tests.collector.spool.test_spool import RIPE, counted, into
from tests.collector.spool.world import World, files
from tests.damaged import damaged


@pytest.fixture
def world(tmp_path: Path, rng: np.random.Generator) -> Iterator[World]:
    with opened(tmp_path / "store") as collector:
        yield World.of(collector.service, dn.mechanism("grr", k=20, epsilon=1.0), rng)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and folders that were written through to the disk, in order."""
    found: list[Path] = []
    fsync = os.fsync

    def noted(number: int) -> None:
        found.append(Path(os.readlink(f"/proc/self/fd/{number}")))
        fsync(number)

    monkeypatch.setattr("os.fsync", noted)
    return found


def above(path: Path, spool: Path) -> list[Path]:
    """The folders that lead to a file, up to the spool."""
    return [each for each in path.parents if each == spool or spool in each.parents]


@pytest.mark.parametrize("already", [False, True])
def test_a_commit_writes_every_folder_through_also_one_that_a_dead_process_made(
    world: World, tmp_path: Path, synced: list[Path], already: bool
) -> None:
    spool, delivery = tmp_path / "spool", world.delivery(3, whole=True)
    if already:  # by a process that died before it wrote them through
        partition = counting.Partition("themes", world.mechanism.fingerprint, delivery.hour)
        partition.folder(spool).mkdir(parents=True)
    store = SpoolingStore(world.service.store, spool)
    synced.clear()
    assert store.commit([delivery]) == [3]
    (file,) = files(spool)
    assert set(above(file, spool)) <= set(synced)
    first, *folders = synced
    assert first.suffix == ".partial"  # the file before its name
    assert len(above(file, spool)) == 4
    assert folders[0] == file.parent


def test_the_folder_that_holds_the_spool_is_written_through(world: World, tmp_path: Path, synced: list[Path]) -> None:
    spool = tmp_path / "new" / "deep" / "spool"
    spooling(world.service.store, spool)
    assert spool.is_dir()
    assert {tmp_path, tmp_path / "new", tmp_path / "new/deep"} <= set(synced)
    synced.clear()
    spooling(world.service.store, spool)  # of which a dead process made the last, perhaps
    assert spool.parent in synced


def test_a_spool_that_cannot_be_made_is_told_at_the_start(world: World, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageTrouble, match="cannot be written to: Not a directory"):
        spooling(world.service.store, tmp_path / "file" / "spool")


def test_a_write_that_fails_leaves_nothing_behind(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, delivery = SpoolingStore(world.service.store, tmp_path / "spool"), world.delivery(3, whole=True)

    def full(number: int) -> None:
        if stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("os.fsync", full)
        with pytest.raises(StorageTrouble):
            store.commit([delivery])
    assert not [each for each in (tmp_path / "spool").rglob("*") if each.is_file()]


def counted_meanwhile(monkeypatch: pytest.MonkeyPatch, other: Any) -> None:
    """Let somebody else act as soon as a document is written, and before it has its name."""
    written, fsync = [False], os.fsync

    def between(number: int) -> None:
        fsync(number)
        if not written[0]:
            written[0] = True
            other()

    monkeypatch.setattr("os.fsync", between)


def test_two_who_seal_a_partition_at_once_count_the_same_files(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    store = SpoolingStore(world.service.store, spool)
    store.commit([world.delivery(3, whole=True)])
    (file,) = files(spool)
    theirs: list[str] = []

    def other() -> None:
        (file.parent / "late.parquet").write_bytes(file.read_bytes())  # seen by the second alone
        theirs.extend(counting._sealed(file.parent))

    counted_meanwhile(monkeypatch, other)
    ours = counting._sealed(file.parent)
    assert ours == theirs == sorted([file.name, "late.parquet"])
    assert not list(spool.rglob("*.partial"))


def test_two_who_count_a_spool_at_once_count_it_once(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = tmp_path / "spool"
    store = SpoolingStore(world.service.store, spool)
    for _ in range(4):
        store.commit([world.delivery(5, whole=True)])
    counted_meanwhile(monkeypatch, lambda: list(counting.count_spool(spool, RIPE, world.question, into(world))))
    list(counting.count_spool(spool, RIPE, world.question, into(world)))
    assert counted(world) == world.table()


def test_a_document_is_whole_where_there_are_no_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("os.link", never)
    assert durable.write_once(tmp_path / "sealed.json", "first")
    assert (tmp_path / "sealed.json").read_text() == "first"


def test_a_file_of_reports_that_lost_rows_is_named(world: World, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    SpoolingStore(world.service.store, spool).commit([world.delivery(30, whole=True)])
    (file,), (partition,) = files(spool), partitions(spool)
    whole = pyarrow.parquet.read_table(file, partitioning=None)
    pyarrow.parquet.write_table(whole.slice(3), file)
    with pytest.raises(counting.DamagedFiles, match="has 27 rows and was written with another number"):
        count_files([file], partition, world.question(partition))


def test_a_damaged_file_of_reports_is_named_or_counted_as_it_was(world: World, tmp_path: Path, seed: int) -> None:
    spool = tmp_path / "spool"
    SpoolingStore(world.service.store, spool).commit([world.delivery(30, whole=True)])
    (file,), (partition,) = files(spool), partitions(spool)
    question, whole, named = world.question(partition), file.read_bytes(), 0
    for data in damaged(whole, 400, seed):
        file.write_bytes(data)
        try:
            table, _ = count_files([file], partition, question)
        except DeniableError:
            named += 1
        else:
            if table.simulated:  # where the flag is damaged: no collector imports such a table
                named += 1
            else:
                assert table == world.table()
    assert named > 200
