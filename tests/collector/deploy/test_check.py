"""`deniable serve --check` and `--backup`, as operators use them: damage is named, a copy is whole."""

from __future__ import annotations

import json
import stat
from contextlib import closing
from pathlib import Path

import pytest

from deniable.collector.running import opened
from deniable.collector.store.opening import open_store
from deniable.collector.store.sql import SqlStore
from tests.cli.command import run, succeed
from tests.collector.deploy.test_backup import filled as world_in
from tests.collector.deploy.test_backup import total
from tests.collector.store.test_checks import DAMAGES, filled

WHILE_OPENED = {"schema has version 0": "already exists"}  # what is found by who opens the store, in other words


def arguments_of(address: str) -> list[str]:
    return ["--database", address] if address.startswith("postgresql:") else [address]


def damaged(store: SqlStore, *statements: str) -> None:
    for each in statements:
        store.database.write(lambda connection, each=each: connection.exec_driver_sql(each))  # type: ignore[misc]


@pytest.mark.parametrize(("damage", "finding"), DAMAGES)
def test_a_check_names_each_damage_and_fails(address: str, damage: str, finding: str) -> None:
    with closing(open_store(address)) as store:
        filled(store)
        damaged(store, damage)
    done = run("serve", *arguments_of(address), "--check")
    assert done.code == 2
    assert WHILE_OPENED.get(finding, finding) in done.out + done.err
    assert not done.out.startswith("ok")
    assert len(done.err.splitlines()) == 1


def test_a_check_lists_all_that_it_finds(tmp_path: Path) -> None:
    with closing(open_store(tmp_path)) as store:
        filled(store)
        damaged(
            store,
            "UPDATE cells SET checksum = 1 WHERE number = 1",
            "UPDATE reports SET ids = substr(ids, 1, 16) WHERE n = 4",
            "DELETE FROM ids WHERE hour = 500000",
        )
    for more in ([], ["--spool", tmp_path / "spool"]):
        done = run("serve", tmp_path, "--check", "--json", *more)
        assert done.code == 2
        found = json.loads(done.out)
        assert found["status"] == "damaged"
        for part in ("the summary is damaged", "its ids, payloads and number", "ids that are not remembered"):
            assert any(part in each for each in found["findings"]), found
        assert json.loads(done.err)["code"] == 2


def test_a_copy_is_made_while_the_collector_runs_and_can_be_served(tmp_path: Path) -> None:
    store, copy = tmp_path / "store", tmp_path / "copies" / "monday"
    with opened(store) as collector:
        world = world_in(collector)
        told = json.loads(succeed("serve", store, "--backup", copy, "--json"))
        assert told == {"backup": str(copy / "deniable.sqlite")}
        collector.service.store.commit([world.delivery(7, whole=True)])
        assert total(collector) == 187
    assert stat.S_IMODE(copy.stat().st_mode) == 0o700
    assert stat.S_IMODE((copy / "deniable.sqlite").stat().st_mode) == 0o600
    assert succeed("serve", copy, "--check").startswith("ok: 1 collections")
    with opened(copy) as collector:
        assert total(collector) == 180
    again = run("serve", store, "--backup", copy)
    assert again.code == 2
    assert "File exists" in again.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--database", "postgresql://x", "--backup", "copy"], "pg_dump"),
        (["nothing", "--backup", "copy"], "nothing must hold a store"),
        (["--check", "--backup", "copy"], "not both"),
    ],
)
def test_what_cannot_be_copied_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("serve", *arguments)
    assert done.code == 2
    assert message in done.err
    assert list(tmp_path.iterdir()) == []
