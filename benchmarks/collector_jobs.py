"""What benchmarks/collector.py measures: reports into durable counts, and answers out of them.

The server is a process of its own on a port of loopback; what it costs is its own processor time, so that the load
generator does not count.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet

import deniable as dn
from benchmarks.collector_load import post, request
from deniable.core.summary import Summary
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads

CONNECTIONS = 64
PER_BATCH = 10_000
BATCH_CONNECTIONS = 16
DAYS = 30
_LIMITS = {"minimum": 1, "requests_per_second": 1e6, "reports_per_second": 1e9, "body_bytes": 2**26}


class Server(NamedTuple):
    """A running server: its process, its port, and the keys of an administrator and to write."""

    process: subprocess.Popen[str]
    port: int
    admin: str

    @property
    def seconds(self) -> float:
        """The processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(kind: str, address: str) -> Iterator[Server]:
    """Run benchmarks/collector_server.py until it is no longer needed."""
    admin = Key.new("admin").text
    command = [sys.executable, "-m", "benchmarks.collector_server", kind, address]
    environment = {**os.environ, "DENIABLE_ADMIN_KEY": admin}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        yield Server(process, int(process.stdout.readline()), admin)
    finally:
        process.terminate()
        process.communicate(timeout=60)


def fetch(running: Server, method: str, path: str, body: bytes = b"", kind: str = "application/json") -> bytes:
    """One request of the administrator."""
    made = request(method, path, body, key=running.admin, kind=kind)
    return asyncio.run(post(running.port, [[made]]))[0]


def ask(running: Server, method: str, path: str, body: Any = None) -> Any:
    """One request of the administrator, in JSON."""
    return json.loads(fetch(running, method, path, b"" if body is None else json.dumps(body).encode()))


def collection(running: Server, name: str, mechanism: Any) -> bytes:
    """Make a collection; return its write key."""
    wanted = {"name": name, "spec": mechanism.spec.to_dict(), "settings": _LIMITS}
    made = ask(running, "POST", "/v1/collections", wanted)
    return Key.read(next(each["key"] for each in made["keys"] if each["role"] == "write")).secret


def today() -> int:
    return int(time.time()) // 86_400 * 24


def single_reports(running: Server, requests: int, secret: bytes, mechanism: Any) -> float:
    """Microseconds of processor time of the server per report, each durable before it is acknowledged."""
    payloads = Payloads(mechanism, True)
    head = Frame(secret, bytes.fromhex(mechanism.fingerprint), today(), b"", b"", b"")
    some = [payloads.made(place % 2, os.urandom(16)) for place in range(64)]
    bodies = [head._replace(ids=os.urandom(16), payloads=some[place % 64]).to_bytes() for place in range(requests)]
    made = [request("POST", "/v1/reports", body) for body in bodies]
    before = running.seconds
    asyncio.run(post(running.port, [made[start::CONNECTIONS] for start in range(CONNECTIONS)]))
    return 1e6 * (running.seconds - before) / requests


def batches(running: Server, name: str, mechanism: Any, count: int, with_ids: bool) -> float:
    """Reports per second from the first batch that is sent until all are counted."""
    secret = collection(running, name, mechanism)
    payloads = Payloads(mechanism, with_ids)
    values = [place % mechanism.k for place in range(PER_BATCH)]
    if with_ids and hasattr(mechanism, "class_layout"):
        some = bytes(PER_BATCH * payloads.size)  # class 0 is a report like others
    else:
        some = mechanism.encode_joined(mechanism.privatize(values))
    head = Frame(secret, bytes.fromhex(mechanism.fingerprint), today(), b"", b"", some, PER_BATCH, b"")
    made = []
    for _ in range(count + 1):
        ids = os.urandom(16 * PER_BATCH) if with_ids else b""
        made.append(request("POST", "/v1/batches", head._replace(ids=ids, batch=os.urandom(16)).to_bytes()))
    asyncio.run(post(running.port, [made[:1]]))  # compiles
    wait_for(running, name, PER_BATCH)
    start = time.perf_counter()
    asyncio.run(post(running.port, [made[1:][own::BATCH_CONNECTIONS] for own in range(BATCH_CONNECTIONS)]))
    wait_for(running, name, PER_BATCH * (count + 1))
    return PER_BATCH * count / (time.perf_counter() - start)


def wait_for(running: Server, name: str, n: int) -> None:
    """Wait until so many reports are counted."""
    end = time.monotonic() + 120
    while ask(running, "GET", f"/v1/collections/{name}")["counted"] < n:
        if time.monotonic() > end:
            raise TimeoutError(name)
        time.sleep(0.01)


class Looks(NamedTuple):
    """Milliseconds of a look at an answer after a new report, and of a second look at it."""

    first: float
    second: float
    from_cache: bool  # every second look


def estimates(
    running: Server, name: str, mechanism: Any, methods: Sequence[str | None], turns: int = 3
) -> dict[str | None, Looks]:
    """Look at an estimate over daily buckets by each method, each time after a new report."""
    secret = collection(running, name, mechanism)
    _import_days(running, name, mechanism)
    head = Frame(secret, bytes.fromhex(mechanism.fingerprint), today(), b"", b"", b"", 1)
    known = ask(running, "GET", f"/v1/collections/{name}")["counted"]
    taken: dict[str | None, list[tuple[float, float]]] = {method: [] for method in methods}
    cached = dict.fromkeys(methods, True)
    for method in [*methods] * (turns + 1):  # the first turn compiles
        known += 1
        new = head._replace(payloads=mechanism.encode_joined(mechanism.privatize([0])), batch=os.urandom(16))
        asyncio.run(post(running.port, [[request("POST", "/v1/batches", new.to_bytes())]]))
        wait_for(running, name, known)
        path = f"/v1/collections/{name}/estimate" + ("" if method is None else f"?method={method}")
        first, before = _milliseconds(running, path), _hits(running)
        second = _milliseconds(running, path)
        cached[method] &= _hits(running) == before + 1
        taken[method].append((first, second))
    return {
        method: Looks(*(median(each) for each in zip(*own[1:], strict=True)), cached[method])
        for method, own in taken.items()
    }


def _import_days(running: Server, name: str, mechanism: Any) -> None:
    """Fill the last days with the summaries of 200,000 simulated people each."""
    shares = np.random.default_rng(2).dirichlet(np.full(mechanism.k, 0.1))
    counts = np.random.default_rng(1).multinomial(200_000, shares)
    found = {}
    for day in range(DAYS):
        drawn = dn.simulate(mechanism, counts, seed=day)
        found[today() - 24 * day,] = Summary(drawn.counts, drawn.n, drawn.fingerprint)
    file = io.BytesIO()
    pyarrow.parquet.write_table(dn.SummaryTable(("bucket",), found, mechanism.fingerprint).to_arrow(), file)
    path = f"/v1/collections/{name}/summaries?id={'00' * 16}"
    fetch(running, "POST", path, file.getvalue(), "application/octet-stream")


def _milliseconds(running: Server, path: str) -> float:
    start = time.perf_counter()
    fetch(running, "GET", path)
    return 1000 * (time.perf_counter() - start)


def _hits(running: Server) -> int:
    lines = fetch(running, "GET", "/metrics").decode().splitlines()
    return int(next(float(line.split()[1]) for line in lines if line.startswith("deniable_cache_hits_total ")))
