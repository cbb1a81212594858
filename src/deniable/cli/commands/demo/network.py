"""The demo over a network: a collector in a process of its own, people who answer it, and what it says of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.cli.commands.demo.browser import Answering, answer_all
from deniable.cli.commands.demo.screen import question
from deniable.cli.commands.demo.story import LABELS, QUESTION, users
from deniable.cli.running import CommandError
from deniable.cli.terminal import table
from deniable.collector.load.address import Address
from deniable.collector.load.administration import Administration
from deniable.collector.load.plan import Plan
from deniable.collector.load.run import complete
from deniable.collector.load.traffic import Place, Target
from deniable.core.arrays import Floats, Indices
from deniable.core.defaults import LEVEL
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.simulated import generator
from deniable.wire.buckets import DAY, Buckets
from deniable.wire.keys import READ, WRITE, Key

if TYPE_CHECKING:
    from rich.table import Table

PEOPLE = 100_000
COLLECTION = "last-error"
RELEASES = ("5.1", "5.2")
_DAYS = 6
_BROWSERS = 5  # people who answer on the participant's page, where there is a browser
# how the others answer: some by the client library, some by reports of their own, most through gateways
_DEVICES, _SINGLES, _WITH_IDS = 0.0005, 0.01, 0.2
_BATCH = 500
_START_SECONDS, _STOP_SECONDS = 60.0, 30.0
_TOP, _RARE = 10, 2


@dataclass(frozen=True)
class Served:
    """A collector that runs, with the demo's collection."""

    url: str
    admin: str
    keys: dict[str, str]  # by role
    signed_by: str
    office: Administration


@dataclass(frozen=True)
class Asked:
    """What came of asking: the truth, the collector's answer, and the seconds both steps took."""

    truth: Floats
    answer: dict[str, Any]
    browsers: int  # people who answered in a real browser
    sent: float
    answered: float

    @property
    def covered(self) -> int:
        """How many intervals hold the truth."""
        held = zip(self.answer["values"], self.truth, strict=True)
        return sum(row["low"] <= share <= row["high"] for row, share in held)


@contextmanager
def serving(mechanism: Mechanism) -> Iterator[Served]:
    """Run `deniable serve` on a free port and a temporary folder, with a collection; stop it and leave nothing."""
    with tempfile.TemporaryDirectory(prefix="deniable-demo-") as folder:
        command = [sys.executable, "-m", "deniable", "serve", folder, "--port", "0", "--log", "none", "--json"]
        own = {
            name: text for name, text in os.environ.items() if name not in ("DENIABLE_ADMIN_KEY", "DENIABLE_DATABASE")
        }
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=own)
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise CommandError("the collector did not start; its message is above")
            yield _collection(json.loads(line)["address"], Path(folder), mechanism)
        finally:
            process.terminate()  # it stores what waits, and ends
            try:
                process.communicate(timeout=_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()


def _collection(url: str, folder: Path, mechanism: Mechanism) -> Served:
    admin = (folder / "admin.key").read_text().strip()
    office = Administration(Address.loopback(url), Key.read(admin), name=COLLECTION)
    settings = {"bucket": DAY, "segments": [{"name": "release", "labels": list(RELEASES)}], "minimum": 1}
    spec = json.loads(mechanism.spec.to_json())
    made = office.json("POST", "/v1/collections", {"name": COLLECTION, "spec": spec, "settings": settings})
    keys = {each["role"]: each["key"] for each in made["keys"]}
    return Served(url, admin, keys, made["collection"]["signed_by"], office)


def ask(served: Served, mechanism: Mechanism, seed: int, people: int) -> Asked:
    """Let simulated people answer: a few in a browser, some by devices or single reports, most through gateways."""
    values = users(people, generator(seed))
    browsers = _in_browsers(served, values[:_BROWSERS])
    start = time.perf_counter()  # what the collector takes, not how long a browser takes to start
    ends = [browsers, *(browsers + round(share * people) for share in (_DEVICES, _SINGLES, _WITH_IDS))]
    _, devices, singles, with_ids, others = np.split(values, ends)
    _devices(served, devices)
    target = Target(served.office.address, mechanism, Key.read(served.keys[WRITE]).secret, _places())
    for part, plan in (
        (singles, Plan(len(singles), connections=32)),
        (with_ids, Plan(len(with_ids), batch=_BATCH, ids=True, connections=4)),
        (others, Plan(len(others), batch=_BATCH, connections=4)),
    ):
        tally = complete(plan, target, part)
        if tally.acknowledged < plan.users:
            raise CommandError(f"the collector acknowledged {tally.acknowledged:,} of {plan.users:,} reports")
    sent = time.perf_counter() - start
    served.office.counted(_START_SECONDS)
    start = time.perf_counter()
    reader = Administration(served.office.address, Key.read(served.keys[READ]), name=COLLECTION)
    answer = reader.json("GET", f"/v1/collections/{COLLECTION}/estimate")
    truth = np.bincount(values, minlength=len(LABELS)) / people
    return Asked(truth, answer, browsers, sent, time.perf_counter() - start)


def _places() -> list[Place]:
    """Every day of the last week, in both releases."""
    days = Buckets.of(DAY)
    today = days.at(time.time())
    return [(today - ago * days.hours, bytes([release])) for ago in range(_DAYS) for release in range(len(RELEASES))]


def _in_browsers(served: Served, values: Indices) -> int:
    """Answer on the participant's page, in windows of their own; return how many did."""
    people = []
    for number, place in enumerate(values.tolist()):
        group = {"release": RELEASES[number % len(RELEASES)]}
        link = question(served.url, served.keys[WRITE], COLLECTION, title=QUESTION, segments=group)
        people.append(Answering(link, LABELS[place]))
    return answer_all(people)


def _devices(served: Served, values: Indices) -> None:
    """Answer as a device does: with consent and a ledger on disk; here the people share one machine."""
    from deniable.client import Client

    with tempfile.TemporaryDirectory(prefix="deniable-devices-") as folder:
        clients = []
        for number, place in enumerate(values.tolist()):
            client = Client(
                served.url,
                served.keys[WRITE],
                COLLECTION,
                store=Path(folder) / "devices.sqlite",
                pinned=served.signed_by,
                segments={"release": RELEASES[number % len(RELEASES)]},
                delay=0.0,
                person=str(number),
            )
            client.consent(True)
            client.answer(LABELS[place])
            clients.append(client)
        for client in clients:
            client.send(hurry=True)
            client.close()


def answer_table(asked: Asked) -> Table:
    """The answer beside the truth, for the most frequent labels and some that nobody has."""
    rows = asked.answer["values"]
    order = np.argsort(-asked.truth, kind="stable").tolist()
    made = table(
        "Truth and the collector's answer, in %", "error message", "truth", "answer", f"{LEVEL:.0%} interval", ""
    )
    places = [*order[:_TOP], *order[-_RARE:]]
    for position, place in enumerate(places):
        row, truth = rows[place], asked.truth[place]
        inside = "holds it" if row["low"] <= truth <= row["high"] else "misses it"
        span = f"{100 * row['low']:.2f} .. {100 * row['high']:.2f}"
        numbers = (f"{100 * truth:.2f}", f"{100 * row['frequency']:.2f}", span, inside)
        made.add_row(row["label"], *numbers, end_section=position == _TOP - 1)
    return made
