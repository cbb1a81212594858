"""An answer is given once: whatever tabs, networks and servers do, each report arrives exactly once or still waits."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.wire.forms import Form, Signer
from tests.clients.typescript import Client, node
from tests.running.figures import Record, pace

SCHEDULES = Path(__file__).with_name("schedules.mjs")


def run(client: Client, seed: int, count: int, planted: str = "") -> dict[str, Any]:
    """What happened in so many schedules, with one fault planted."""
    mechanism = dn.mechanism("clh", labels=["yes", "no", "maybe", "never", "often"], epsilon=1.0)
    spec = (mechanism.spec.to_dict(),)
    names, times = ("first", "second"), (1_789_990_000, 2_000_000_000)
    forms = [Form(name, True, spec, "day", (), 168, False, *times) for name in names]
    documents = {form.collection: Signer.new().signed(form) for form in forms}
    world = {"documents": documents, "epsilon": 1.0, "planted": planted}
    command = [node(), str(SCHEDULES), str(client.built), str(seed), str(count)]
    done = subprocess.run(command, input=json.dumps(world), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_every_answer_arrives_once_in_random_schedules(client: Client) -> None:
    found = run(client, 1, 25)
    assert not found["faults"], found["faults"][:5]
    assert found["schedules"] == 25
    assert found["answered"] >= 25  # of two questions each: the schedules do answer
    assert found["arrived"] >= 20


def test_a_store_that_forgets_is_noticed(client: Client) -> None:
    assert run(client, 1, 10, planted="forgets")["faults"]


@pytest.mark.soak
def test_every_answer_arrives_once_in_a_thousand_schedules(client: Client, seed: int, record_property: Record) -> None:
    start = time.monotonic()
    found = run(client, seed, 1000)
    assert not found["faults"], found["faults"][:5]
    told = f"{found['answered']:,} answers, {found['arrived']:,} arrived, none twice"
    record_property("figure", f"random schedules in TypeScript: {pace(1000, start)}, {told}")
