"""`python -m benchmarks.collector`: reports over HTTP into durable counts, and answers out of them.

The server is a process of its own on a port of loopback; what it costs is its own processor time, so that the load
generator does not count. Single reports are compared with an endpoint that reads the body and does nothing, on the
same server.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

import deniable as dn
from benchmarks.collector_load import post, request
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.payloads import Payloads

CONNECTIONS = 64
PER_BATCH = 10_000
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
        process.wait(60)


def ask(running: Server, method: str, path: str, body: Any = None) -> Any:
    """One request of the administrator."""
    data = b"" if body is None else json.dumps(body).encode()
    made = request(method, path, data, key=running.admin, kind="application/json")
    found = asyncio.run(post(running.port, [[made]]))[0]
    return json.loads(found)


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


class Rate(NamedTuple):
    """Reports per second until all are acknowledged, until all are counted, and per second of processor time."""

    acknowledged: float
    counted: float
    computed: float


def batches(running: Server, name: str, mechanism: Any, count: int, with_ids: bool, connections: int = 16) -> Rate:
    """Send batches of reports, and wait until they are counted."""
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
    start, before = time.perf_counter(), running.seconds
    asyncio.run(post(running.port, [made[1:][own::connections] for own in range(connections)]))
    acknowledged = time.perf_counter() - start
    wait_for(running, name, PER_BATCH * (count + 1))
    counted = time.perf_counter() - start
    sent = PER_BATCH * count
    return Rate(sent / acknowledged, sent / counted, sent / (running.seconds - before))


def wait_for(running: Server, name: str, n: int) -> None:
    """Wait until so many reports are counted."""
    end = time.monotonic() + 120
    while ask(running, "GET", f"/v1/collections/{name}")["counted"] < n:
        if time.monotonic() > end:
            raise TimeoutError(name)
        time.sleep(0.01)


def estimates(
    running: Server, name: str, mechanism: Any, methods: Sequence[str | None], days: int = 30
) -> dict[str, Any]:
    """Milliseconds of the first and of a second look at an estimate over daily buckets, by method."""
    import io

    import numpy as np
    import pyarrow.parquet

    from deniable.core.summary import Summary

    collection(running, name, mechanism)
    counts = np.random.default_rng(1).multinomial(
        200_000, np.random.default_rng(2).dirichlet(np.full(mechanism.k, 0.1))
    )
    found = {}
    for day in range(days):
        drawn = dn.simulate(mechanism, counts, seed=day)
        found[today() - 24 * day,] = Summary(drawn.counts, drawn.n, drawn.fingerprint)
    file = io.BytesIO()
    pyarrow.parquet.write_table(dn.SummaryTable(("bucket",), found, mechanism.fingerprint).to_arrow(), file)
    sent = request("POST", f"/v1/collections/{name}/summaries?id={'00' * 16}", file.getvalue(), key=running.admin)
    asyncio.run(post(running.port, [[sent]]))
    times: dict[str, Any] = {}
    for method in methods:
        query = "" if method is None else f"?method={method}"
        looks = []
        for turn in range(3):
            extra = f"{'&' if query else '?'}level=0.9{turn}" if turn < 2 else f"{'&' if query else '?'}level=0.91"
            made = request("GET", f"/v1/collections/{name}/estimate{query}{extra}", b"", key=running.admin)
            start = time.perf_counter()
            asyncio.run(post(running.port, [[made]]))
            looks.append(1000 * (time.perf_counter() - start))
        times[method or "default"] = (looks[1], looks[2])  # the first compiles
    return times


def main(
    address: Annotated[str, typer.Option(help="A postgresql:// address; by default a temporary folder.")] = "",
    requests: Annotated[int, typer.Option(min=64, help="Single reports.")] = 20_000,
    only: Annotated[str, typer.Option(help="Run only jobs whose name contains this text.")] = "",
) -> None:
    """Measure the collector on this machine."""
    with tempfile.TemporaryDirectory() as folder, server("collector", address or folder) as running:
        for name, line in jobs(running, requests):
            if only in name:
                typer.echo(f"{name}: {line()}")


def jobs(running: Server, requests: int) -> Iterator[tuple[str, Any]]:
    """Every measurement, by name."""

    def single() -> str:
        grr = dn.mechanism("grr", k=100, epsilon=1.0)
        secret = collection(running, "single", grr)
        with server("nothing", "") as idle:
            ours, nothing = [], []
            for _ in range(3):
                nothing.append(single_reports(idle, requests, secret, grr))
                ours.append(single_reports(running, requests, secret, grr))
        a, b = min(ours), min(nothing)
        return f"{a:.0f} us of processor time, an endpoint that does nothing {b:.0f} us, ratio {a / b:.2f}"

    yield "single reports", single
    cases = {
        "grr": (dn.mechanism("grr", k=100, epsilon=1.0), 1_500, False),
        "grr with ids": (dn.mechanism("grr", k=100, epsilon=1.0), 30, True),
        "csr": (dn.mechanism("csr", k=1000, epsilon=3.0), 800, False),
        "clh with ids": (dn.mechanism("clh", k=1000, epsilon=3.0), 30, True),
        "clh": (dn.mechanism("clh", k=1000, epsilon=3.0), 200, False),
        "oue": (dn.mechanism("oue", k=1024, epsilon=1.0), 40, False),
    }
    for name, (mechanism, count, with_ids) in cases.items():

        def batch(name: str = name, mechanism: Any = mechanism, count: int = count, with_ids: bool = with_ids) -> str:
            rate = batches(running, name.replace(" ", "-"), mechanism, count, with_ids)
            return (
                f"{rate.acknowledged:,.0f} reports/s acknowledged, {rate.counted:,.0f} counted, "
                f"{rate.computed:,.0f} per processor second"
            )

        yield f"batches of {name}", batch
    for name in ("csr", "clh"):

        def estimate(name: str = name) -> str:
            found = estimates(
                running, f"large-{name}", dn.mechanism(name, k=22_000, epsilon=3.0), ("unbiased", "projected", None)
            )
            return ", ".join(
                f"{method} {first:.0f} ms, again {second:.1f} ms" for method, (first, second) in found.items()
            )

        yield f"estimate of {name}", estimate


if __name__ == "__main__":
    typer.run(main)
