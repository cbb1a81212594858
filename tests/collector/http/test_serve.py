"""`deniable serve`: started as its users start it, found by what it prints, ended by a signal without loss."""

from __future__ import annotations

import http.client
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from deniable.collector.running import ADMIN_VARIABLE, opened, write_secret
from deniable.collector.service.directory import key_id
from deniable.collector.service.settings import Settings
from deniable.collector.store.opening import open_store
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads
from tests.cli.command import run, succeed
from tests.collector.http.running import M, asked

DENIABLE = (sys.executable, "-m", "deniable", "serve")


def start(*arguments: str | Path, **more: str) -> tuple[subprocess.Popen[str], dict[str, Any]]:
    """A running collector and what it said."""
    command = [*DENIABLE, *map(str, arguments), "--port", "0", "--json"]
    environment = {**os.environ, **more}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return process, json.loads(line)


def end(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Ask a collector to end; its exit code and what it logged."""
    process.send_signal(signal.SIGTERM)
    logged = process.communicate(timeout=60)[1]
    return process.returncode, logged


def test_a_collector_serves_a_spec_and_keeps_what_it_took(tmp_path: Path) -> None:
    spec, folder = tmp_path / "theme.json", tmp_path / "store"
    spec.write_text(M.spec.to_json())
    process, told = start(folder, "--spec", spec, "--minimum", "1", "--log", "all")
    try:
        assert set(told) == {"address", "admin_key", "collection", "form", "keys"}
        for secret in ("admin_key", "keys"):
            assert stat.S_IMODE(Path(told[secret]).stat().st_mode) == 0o600
        keys = json.loads(Path(told["keys"]).read_text())
        connection = http.client.HTTPConnection("127.0.0.1", int(told["address"].rpartition(":")[2]), timeout=30)
        hour, report_id = int(time.time()) // 86_400 * 24, os.urandom(16)
        payload = Payloads(M, True).made("a", report_id)
        sent = Frame(Key.read(keys["write"]).secret, bytes.fromhex(M.fingerprint), hour, b"", report_id, payload)
        assert asked(connection, "POST", "/v1/reports", sent.to_bytes()).status == 200
        assert asked(connection, "GET", told["form"]).status == 200
        connection.close()
    finally:
        code, logged = end(process)
    assert code == 0
    assert '"route":"POST /v1/reports","status":200' in logged
    for secret in (keys["write"], keys["read"], Path(told["admin_key"]).read_text().strip()):
        assert secret not in logged
        assert secret not in json.dumps(told)
    process, again = start(folder, "--spec", spec)
    try:
        assert set(again) == {"address", "collection", "form"}
        connection = http.client.HTTPConnection("127.0.0.1", int(again["address"].rpartition(":")[2]), timeout=30)
        finish = time.monotonic() + 20
        while asked(connection, "GET", "/v1/collections/theme", None, keys["read"]).json["counted"] != 1:
            assert time.monotonic() < finish
            time.sleep(0.05)
        connection.close()
        used = subprocess.run([*DENIABLE, str(folder), "--check"], capture_output=True, text=True)
        assert used.returncode == 2
        assert "in use" in used.stderr
    finally:
        assert end(process)[0] == 0
    checked = succeed("serve", folder, "--check", "--json")
    assert json.loads(checked) == {"status": "ok", "collections": 1, "keys": 3, "waiting": 0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--check"], "there is no such folder"),
        (["here", "--database", "postgresql://x"], "not both"),
        (["--database", "mysql://x"], "postgresql://"),
        (["--log", "some"], "log must be one of all, refused, none"),
        (["--host", "192.0.2.1"], "192.0.2.1:8321: "),
        (["--spec", "missing.json"], "missing.json: No such file"),
    ],
)
def test_what_cannot_be_served_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(ADMIN_VARIABLE, raising=False)
    done = run("serve", *arguments)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--name", "../up"], "the name of a collection must be at most 64 lower-case letters"),
        (["--name", "Theme"], "the name of a collection must be"),
        (["--name", "theme\n"], "the name of a collection must be"),
        (["--minimum", "2000000000"], "settings: Expected `int` <= 1000000000"),
        (["--origin", "example.org"], "origin must be * or as browsers write it"),
        (["--spec", "nope.json"], "nope.json: No such file"),
        (["--spec", "broken.json"], "broken.json: spec is not JSON"),
        (["--spec", "other.json"], "other.json: spec"),
        (["--spec", "list.json"], "list.json: spec"),
    ],
)
def test_a_collection_that_breaks_a_rule_is_not_made_by_the_command_nor_a_store_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.delenv(ADMIN_VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    spec, folder = tmp_path / "theme.json", tmp_path / "store"
    for name, text in ((spec, M.spec.to_json()), ("broken.json", "{"), ("other.json", "{}"), ("list.json", "[1]")):
        Path(name).write_text(text)
    done = run("serve", folder, "--spec", spec, "--host", "192.0.2.1", *arguments)  # where it cannot listen
    assert done.code == 2
    assert message in done.err
    assert not folder.exists()
    assert [each.name for each in tmp_path.rglob("*.keys.json")] == []


def test_a_clock_that_leapt_while_the_collector_was_off_is_told_until_it_is_accepted(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.latest(int(time.time()) - 30 * 86_400)
    store.close()
    doubted = run("serve", tmp_path, "--check")
    assert (doubted.code, doubted.out[:2]) == (0, "ok")
    assert "30 days ahead" in doubted.err
    assert "--accept-clock" in doubted.err
    assert run("serve", tmp_path, "--check", "--accept-clock").err == ""
    assert run("serve", tmp_path, "--check").err == ""


def test_the_administrators_key_can_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong, got in (
        (Key.new("read").text, "'another key'"),
        ("secret", "'another text'. Make one with: python -c "),
    ):
        monkeypatch.setenv(ADMIN_VARIABLE, wrong)
        refused = run("serve", tmp_path / "store")
        assert refused.code == 2
        assert (
            f"{ADMIN_VARIABLE} must hold an administrator's key, which is dna_ and 22 letters, got {got}" in refused.err
        )
        assert os.environ[ADMIN_VARIABLE] not in refused.err
    admin = Key.new("admin").text
    process, told = start(tmp_path / "store", **{ADMIN_VARIABLE: admin})
    try:
        assert "admin_key" not in told
        connection = http.client.HTTPConnection("127.0.0.1", int(told["address"].rpartition(":")[2]), timeout=30)
        assert asked(connection, "GET", "/v1/collections", None, admin).json == {"collections": []}
        connection.close()
    finally:
        assert end(process)[0] == 0


def test_a_key_from_the_environment_that_was_revoked_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = Key.new("admin"), Key.new("admin")
    with opened(tmp_path / "store") as collector:
        for key in (old, new):
            collector.service.office.keep_key(key, None, "")
        collector.service.refresh()
        collector.service.office.revoke(collector.service.directory, None, key_id(old.digest))
    monkeypatch.setenv(ADMIN_VARIABLE, old.text)
    refused = run("serve", tmp_path / "store")
    assert refused.code == 2
    assert f"{ADMIN_VARIABLE} must hold a key that is good, got 'one that was revoked'" in refused.err
    assert old.text not in refused.err


def test_a_start_that_was_cut_off_before_it_wrote_keys_is_mended_by_the_next(tmp_path: Path) -> None:
    spec, folder, admin = tmp_path / "theme.json", tmp_path / "store", Key.new("admin")
    spec.write_text(M.spec.to_json())
    with opened(folder) as collector:  # killed after the transaction, and before that of the administrator's key
        collector.service.office.add_collection("theme", M.spec.to_dict(), Settings())
        write_secret(folder / "admin.key", admin.text)
    process, told = start(folder, "--spec", spec)
    code, logged = end(process)
    assert code == 0
    assert "theme had no file of keys" in logged
    keys = json.loads((folder / "theme.keys.json").read_text())
    assert told["keys"] == str(folder / "theme.keys.json")
    with opened(folder) as collector:
        holders = collector.service.directory.holders
        assert {holders[Key.read(keys[role]).digest].role for role in keys} == {"read", "write"}
        assert holders[admin.digest].role == "admin"
    process, told = start(folder, "--spec", spec)
    assert end(process)[0] == 0
    assert "keys" not in told
    assert len(succeed("serve", folder, "--check").splitlines()) == 1


def test_a_file_of_keys_that_is_there_before_its_collection_is_neither_used_nor_lost(tmp_path: Path) -> None:
    spec, folder = tmp_path / "theme.json", tmp_path / "store"
    spec.write_text(M.spec.to_json())
    folder.mkdir()
    (folder / "theme.keys.json").write_text("of another store")
    refused = run("serve", folder, "--spec", spec)
    assert refused.code == 2
    assert "Move it away" in refused.err
    assert (folder / "theme.keys.json").read_text() == "of another store"
    with opened(folder) as collector:
        assert collector.service.directory.desks == {}
