"""Clients and the real collector, as programs of their own: what was answered is what is estimated."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.client import Client, Gateway
from deniable.client.web import Web
from deniable.mechanisms.registry import mechanism
from deniable.wire.keys import WRITE, Key
from deniable.wire.payloads import Question
from deniable.wire.refusals import Refused
from tests.client.collector import NAME, QUESTION
from tests.client.conftest import QUICK

CLH = mechanism("clh", k=50, epsilon=2.0)


class Served:
    """A collector that runs as `deniable serve`, and can be ended and started again at the same port."""

    def __init__(self, folder: Path, question: Question = QUESTION) -> None:
        self.folder = folder
        self.spec = folder / f"{NAME}.json"
        folder.mkdir()
        self.spec.write_text((question if isinstance(question, dn.HeavyHitters) else question.spec).to_json())
        self.process: subprocess.Popen[str] | None = None
        self.port = 0

    def start(self) -> None:
        command = [sys.executable, "-m", "deniable", "serve", str(self.folder / "store"), "--json"]
        command += ["--spec", str(self.spec), "--minimum", "1", "--port", str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.url = json.loads(self.process.stdout.readline())["address"]
        self.port = int(self.url.rpartition(":")[2])
        self.keys = json.loads((self.folder / "store" / f"{NAME}.keys.json").read_text())

    def end(self, number: int = signal.SIGTERM) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(60)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def read(self, path: str) -> Any:
        reply = Web(self.url, 30.0).request("GET", f"/v1/collections/{NAME}{path}", key=self.keys["read"])
        assert reply.status == 200, reply
        return reply.members

    def administer(self, method: str, path: str, changes: dict[str, Any]) -> Any:
        key = (self.folder / "store" / "admin.key").read_text().strip()
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        address = f"{self.url}/v1/collections{path}"
        request = urllib.request.Request(address, json.dumps(changes).encode(), headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)

    def reports(self) -> int:
        """How many reports there are, counted or not."""
        found = self.read("")
        return int(found["counted"] + found["waiting"])


@contextmanager
def served(folder: Path, question: Question = QUESTION) -> Iterator[Served]:
    collector = Served(folder, question)
    collector.start()
    try:
        yield collector
    finally:
        if collector.process is not None and collector.process.poll() is None:
            collector.end(signal.SIGKILL)


def person(collector: Served, store: Path, name: str, **options: Any) -> Client:
    chosen = {"store": store, "delay": 0.0, "timeout": 30.0, "backoff": QUICK, "person": name, **options}
    client = Client(collector.url, collector.keys["write"], NAME, **chosen)
    client.consent(True)
    return client


def test_answers_arrive_once_though_the_collector_is_restarted(tmp_path: Path, store: Path) -> None:
    with served(tmp_path / "collector") as collector:
        clients = [person(collector, store, str(number)) for number in range(6)]
        for client in clients[:3]:
            client.answer("walk")
            assert client.send().sent == 1
        for client in clients[3:]:
            client.answer("bus")
        collector.end(signal.SIGKILL)
        assert all("unreachable" in client.send(hurry=True).trouble for client in clients[3:])
        collector.start()
        assert [client.send(hurry=True).sent for client in clients] == [0, 0, 0, 1, 1, 1]
        outbox = [client.entry() for client in clients]
        assert {entry.state for entry in outbox if entry is not None} == {"sent"}
        assert collector.reports() == 6


def test_refusals_of_the_real_collector_are_understood(tmp_path: Path, store: Path) -> None:
    with served(tmp_path / "collector") as collector:
        client = person(collector, store, "ann")
        client.answer("walk")
        wrong = Client(collector.url, Key.new(WRITE).text, NAME, store=store, person="ann", backoff=QUICK)
        assert wrong.send().trouble == "unknown-key"
        collector.administer("PATCH", f"/{NAME}", {"open": False})
        assert client.send(hurry=True).refused == 1
        entry = client.entry()
        assert entry is not None
        assert (entry.state, entry.reason) == ("refused", "closed")
        late = person(collector, store, "ben")
        late.refresh()
        with pytest.raises(Refused, match="closed"):
            late.answer("walk")


def test_ids_that_the_real_collector_issues_are_used(tmp_path: Path, store: Path) -> None:
    with served(tmp_path / "collector", CLH) as collector:
        collector.administer("PATCH", f"/{NAME}", {"issued_ids": True})
        for name in ("ann", "ben"):
            client = person(collector, store, name)
            client.answer(49)
            assert client.send().sent == 1
        assert collector.reports() == 2


def test_a_gateway_carries_reports_of_strings_to_the_real_collector(tmp_path: Path, store: Path) -> None:
    question = dn.HeavyHitters.new(epsilon=4.0, max_bytes=6)
    with served(tmp_path / "collector", question) as collector:
        gateway = Gateway(collector.url, collector.keys["write"], store=tmp_path / "gateway.sqlite", backoff=QUICK)
        for number in range(20):
            device = Client(None, None, NAME, store=store, spec=question, delay=0, person=str(number))
            device.consent(True)
            device.answer("berlin")
            gateway.take_many(device.frames())
        assert gateway.send().sent == 20
        assert collector.reports() == 20


def test_what_is_forgotten_is_deleted_by_the_real_collector(tmp_path: Path, store: Path) -> None:
    with served(tmp_path / "collector") as collector:
        client = person(collector, store, "ann")
        client.answer("walk")
        assert client.send().sent == 1
        entry = client.forget()
        assert entry is not None
        assert (entry.state, entry.reason) in {("forgotten", "deleted"), ("forgotten", "counted")}
        assert collector.reports() == (entry.reason == "counted")


def test_estimates_are_of_what_was_answered(tmp_path: Path, store: Path) -> None:
    question = mechanism("grr", labels=["walk", "bus", "car"], epsilon=8.0)
    with served(tmp_path / "collector", question) as collector:
        for number in range(60):
            client = person(collector, store, str(number))
            client.answer("walk" if number < 40 else "car")
            assert client.send().sent == 1
        for _ in range(1000):  # they are counted in the background
            if collector.read("")["published"] == 60:
                break
            time.sleep(0.01)
        found = collector.read("/estimate?method=unbiased")
        assert found["n"] == 60
        shares = {row["label"]: row["frequency"] for row in found["values"]}
        assert shares == pytest.approx({"walk": 40 / 60, "bus": 0.0, "car": 20 / 60}, abs=0.1)  # over 30 errors
