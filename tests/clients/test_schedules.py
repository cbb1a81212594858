"""An answer is given once: whatever tabs, networks and servers do, each report arrives exactly once or still waits."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.client.web import Web
from deniable.wire.forms import Form, Signer
from tests.client.test_end_to_end import Served, served
from tests.clients.typescript import Client, node
from tests.running.figures import Record, pace

SCHEDULES = Path(__file__).with_name("schedules.mjs")
NAMES = ("first", "second")
MECHANISM = dn.mechanism("clh", labels=["yes", "no", "maybe", "never", "often"], epsilon=1.0)
KEYS = {name: f"dnw_{letter * 22}" for name, letter in zip(NAMES, "AB", strict=True)}
# what a careless change could do: in which file, what stands there, and what would
MUTANTS = {
    "gives up after a lost answer": (
        "client/sending.js",
        "if (!found)\n        return {};",
        'if (!found)\n        return { fate: "expired", kind: "too-old" };',
    ),
    "sends another id": (
        "client/sending.js",
        "body: unhex(frame),",
        "body: unhex(frame).map((byte, place) => (place === 60 ? 256 * Math.random() : byte)),",
    ),
    "loses what was answered": (
        "client/ledger.js",
        "Object.assign(mine, made);",
        "if (Math.random() < 0.5) Object.assign(mine, made); else delete state.answers[name];",
    ),
    "calls a doubtful report uncounted": (
        "client/sending.js",
        "if (said.clear && found.unanswered)\n        found.unanswered -= 1;",
        "found.unanswered = 0;",
    ),
    "deletes nothing": ("client/ledger.js", '? "withdrawing" : "expired"', '? "expired" : "expired"'),
}


def run(built: Path, seed: int, count: int, restart: Callable[[], None] = lambda: None, **world: Any) -> dict[str, Any]:
    """What happened in so many schedules."""
    command = [node(), str(SCHEDULES), str(built), str(seed), str(count)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"epsilon": MECHANISM.epsilon, **world}) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            if line != "restart\n":
                found: dict[str, Any] = json.loads(line)
                return found
            restart()
            process.stdin.write("up\n")
            process.stdin.flush()
    raise AssertionError(f"schedules ended with {process.returncode}")


def in_memory(built: Path, seed: int, count: int, planted: str = "", *, until: bool = False) -> dict[str, Any]:
    """What happened in so many schedules with a collector in memory."""
    spec, times = (MECHANISM.spec.to_dict(),), (1_789_990_000, 2_000_000_000)
    forms = [Form(name, True, spec, "day", (), 168, False, *times) for name in NAMES]
    documents = {form.collection: Signer.new().signed(form) for form in forms}
    return run(built, seed, count, keys=KEYS, documents=documents, planted=planted, until=until)


def test_every_answer_arrives_once_in_random_schedules(client: Client) -> None:
    found = in_memory(client.built, 1, 40)
    assert not found["faults"], found["faults"][:5]
    assert found["schedules"] == 40
    assert found["answered"] >= 40  # of two questions each: the schedules do answer
    assert found["arrived"] >= 32
    assert found["late"] >= 1


def test_a_store_that_forgets_is_noticed(client: Client) -> None:
    assert in_memory(client.built, 1, 10, planted="forgets")["faults"]


@pytest.mark.parametrize("name", MUTANTS)
def test_a_client_that_loses_or_repeats_reports_is_noticed(name: str, client: Client, tmp_path: Path) -> None:
    file, good, bad = MUTANTS[name]
    mutant = tmp_path / "built"
    shutil.copytree(client.built, mutant)
    text = (mutant / file).read_text()
    assert good in text, "what is to be changed has moved"
    (mutant / file).write_text(text.replace(good, bad, 1))
    assert in_memory(mutant, 100, 300, until=True)["faults"]


def test_every_answer_arrives_once_at_a_real_collector_that_is_killed(client: Client, tmp_path: Path) -> None:
    with served(tmp_path / "collector", MECHANISM) as collector:
        keys = {name: _made(collector, name) for name in NAMES}
        restarts = []

        def restart() -> None:
            collector.end(signal.SIGKILL)
            collector.start()
            restarts.append(1)

        write = {name: each["write"] for name, each in keys.items()}
        found = run(client.built, 1, 24, restart, url=collector.url, keys=write)
        assert not found["faults"], found["faults"][:5]
        assert found["arrived"] >= 18
        assert len(restarts) >= 2
        reports = sum(_reports(collector, name, keys[name]["read"]) for name in NAMES)
        assert reports == found["kept"]


def _made(collector: Served, name: str) -> dict[str, str]:
    """Make a collection; return its keys."""
    settings = {"minimum": 1}  # so that it tells how many reports it has
    found = collector.administer("POST", "", {"name": name, "spec": MECHANISM.spec.to_dict(), "settings": settings})
    return {each["role"]: each["key"] for each in found["keys"]}


def _reports(collector: Served, name: str, key: str) -> int:
    """How many reports a collection has, counted or not."""
    found = Web(collector.url, 30.0).request("GET", f"/v1/collections/{name}", key=key).members
    assert found is not None
    return int(found["counted"] + found["waiting"])


@pytest.mark.soak
def test_every_answer_arrives_once_in_a_thousand_schedules(client: Client, seed: int, record_property: Record) -> None:
    start = time.monotonic()
    found = in_memory(client.built, seed, 1000)
    assert not found["faults"], found["faults"][:5]
    told = f"{found['answered']:,} answers, {found['arrived']:,} arrived, none twice"
    record_property("figure", f"random schedules in TypeScript: {pace(1000, start)}, {told}")
