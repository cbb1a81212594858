"""A collector in a process of its own, started as its users start it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.collector.load.address import Address
from deniable.collector.load.administration import Administration
from deniable.collector.load.verdict import REQUESTS
from deniable.collector.store.opening import open_store
from deniable.wire.keys import ADMIN, WRITE, Key

_LIMITS = {"minimum": 1, "requests_per_second": 1e6, "reports_per_second": 1e9, "body_bytes": 2**26}


@dataclass(frozen=True)
class Collector:
    """A running `deniable serve`."""

    process: subprocess.Popen[str]
    office: Administration
    secrets: dict[str, bytes] = field(default_factory=dict)  # write keys by collection

    @property
    def port(self) -> int:
        return self.office.address.port

    @property
    def megabytes(self) -> float:
        """The most memory that the process had since `forget_peak`."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmHWM:\s*(\d+) kB", status)
        assert found is not None
        return int(found[1]) / 1024

    def forget_peak(self) -> None:
        """Measure `megabytes` from now on."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def make(self, name: str, spec: Any, **settings: Any) -> bytes:
        """Make a collection without limits; return its write key."""
        wanted = {"name": name, "spec": json.loads(spec.spec.to_json()), "settings": {**_LIMITS, **settings}}
        made = self.office.json("POST", "/v1/collections", wanted)
        self.secrets[name] = Key.read(next(each["key"] for each in made["keys"] if each["role"] == WRITE)).secret
        return self.secrets[name]

    def settle(self, name: str, seconds: float = 120.0) -> int:
        """Wait until no report of a collection waits; return how many are counted."""
        end = time.monotonic() + seconds
        while (found := self.office.json("GET", f"/v1/collections/{name}"))["waiting"]:
            assert time.monotonic() < end, found
            time.sleep(0.1)
        return int(found["counted"])

    def outcomes(self) -> dict[str, int]:
        """How many requests had each outcome."""
        found: dict[str, int] = {}
        for (name, labels), value in self.office.metrics().items():
            if name == REQUESTS:
                outcome = labels.rpartition('outcome="')[2].rstrip('"')
                found[outcome] = found.get(outcome, 0) + int(value)
        return found


@contextlib.contextmanager
def collecting(address: str, processes: int = 1) -> Iterator[list[Collector]]:
    """So many collectors on one store, which is a folder or a database."""
    key = Key.new(ADMIN)
    where = ["--database", address] if "://" in address else [address]
    command = [sys.executable, "-m", "deniable", "serve", *where, "--port", "0", "--log", "none", "--json"]
    environment = {**os.environ, "DENIABLE_ADMIN_KEY": key.text}
    open_store(address).close()  # so that only one brings the schema up to date
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(processes)
    ]
    try:
        found = []
        for process in started:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            told = json.loads(line)
            found.append(Collector(process, Administration(Address.loopback(told["address"]), key, 30.0)))
        yield found
    finally:
        for process in started:
            process.terminate()
        logged = [process.communicate(timeout=60)[1] for process in started]
    assert logged == [""] * processes  # whatever strangers send: nothing is to be logged
    assert [process.returncode for process in started] == [0] * processes
