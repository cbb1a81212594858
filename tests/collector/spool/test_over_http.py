"""Reports over real HTTP into files, counted by the command, are those that were acknowledged, each once."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import deniable as dn
from deniable.collector.load.address import Address
from deniable.collector.load.administration import Administration
from deniable.collector.load.plan import Plan
from deniable.collector.load.sending import Run
from deniable.collector.load.tally import Difference
from deniable.collector.load.traffic import Target, Traffic
from deniable.wire.keys import Key
from tests.cli.command import check_refusal, run, succeed

LATER = 10 * 86_400  # seconds: after the window
PLANS = [Plan(users=300, connections=4, replays=0.3), Plan(users=8_000, batch=100, connections=4, replays=0.3)]


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Administration]:
    """A collector in a process of its own that writes to files."""
    words = ("serve", str(tmp_path / "store"), "--port", "0", "--log", "none", "--json", "--spool")
    command = [sys.executable, "-m", "deniable", *words, str(tmp_path / "spool")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["address"]
        key = Key.read((tmp_path / "store" / "admin.key").read_text().strip())
        yield Administration(Address.loopback(url), key)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_what_was_acknowledged_is_counted_once(
    office: Administration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = dn.mechanism("grr", k=50, epsilon=1.0)
    secret, places = office.make_collection(question, time.time())
    target = Target(office.address, question, secret, places)
    runs = [Run(plan, target, Traffic(plan, target)) for plan in PLANS]
    for each in runs:
        asyncio.run(each.go())
        assert each.tally.acknowledged == each.plan.users
        assert each.tally.again > 0
    assert office.counted(0)["counted"] == 0

    url, key_file = f"http://{office.address.name}", tmp_path / "store" / "admin.key"
    count = ("count-spool", tmp_path / "spool", url, "--key-file", key_file)
    assert succeed(*count) == "0 reports counted\n"  # the window has not passed
    monkeypatch.setattr(
        "deniable.cli.commands.count_spool.time", SimpleNamespace(time=lambda clock=time.time: clock() + LATER)
    )
    assert succeed(*count).splitlines()[-1] == "8,300 reports counted"
    assert succeed(*count) == "0 reports counted\n"

    expected = runs[0].expected
    for place, summary in runs[1].expected.sure.items():
        expected.sure[place] = expected.sure[place] + summary if place in expected.sure else summary
    assert Difference.of(expected, office.summaries(places)) == Difference(0, 0, 0)
    assert office.counted(0)["counted"] == 8_300


def test_reports_under_a_spec_that_expired_are_counted_too(
    office: Administration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = (dn.mechanism("grr", k=50, epsilon=epsilon) for epsilon in (1.0, 2.0))
    secret, places = office.make_collection(old, time.time())
    plan, target = Plan(users=50, connections=2), Target(office.address, old, secret, places)
    asyncio.run(Run(plan, target, Traffic(plan, target)).go())
    path = f"/v1/collections/{office.name}"
    office.json("POST", f"{path}/specs", {"spec": json.loads(new.spec.to_json())})
    office.json("PATCH", path, {"expired": [old.fingerprint]})
    monkeypatch.setattr(
        "deniable.cli.commands.count_spool.time", SimpleNamespace(time=lambda clock=time.time: clock() + LATER)
    )
    url, key_file = f"http://{office.address.name}", tmp_path / "store" / "admin.key"
    count = ("count-spool", tmp_path / "spool", url, "--key-file", key_file)
    assert succeed(*count).splitlines()[-1] == "50 reports counted"
    assert office.counted(0)["counted"] == 50


def test_a_wrong_address_or_a_missing_key_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DENIABLE_ADMIN_KEY", raising=False)
    check_refusal(run("count-spool", tmp_path, "http://127.0.0.1:1"), "the administrator's key must be given")
    monkeypatch.setenv("DENIABLE_ADMIN_KEY", Key.new("admin").text)
    check_refusal(run("count-spool", tmp_path, "nowhere"), "url must be an address")
