"""`python -m benchmarks.collector`: what a collector takes, on SQLite and on PostgreSQL, in one run with verdicts.

Single reports are compared with an endpoint that reads the body and does nothing, on the same server. The exit code
is 1 if a goal is missed. A whole run writes benchmarks/collector.json and the table in docs/deployment.md.
"""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

import deniable as dn
from benchmarks.collector_jobs import Server, batches, collection, estimates, server, single_reports
from benchmarks.measured import DOCS, Figure, keep, put, say, table

RECORD, PAGE = Path(__file__).with_name("collector.json"), DOCS / "deployment.md"
MARKS = ("<!-- measured collector: written by benchmarks/collector.py -->", "<!-- end of measured collector -->")
SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
SINGLE = 2.0  # times the processor time of an endpoint that does nothing
VALUES = 22_000
LOOKS: dict[str | None, float] = {"unbiased": 100.0, "projected": 100.0, None: 1000.0}  # milliseconds
DEMO = 60.0  # seconds
# mechanism, its settings, whether reports have ids, batches, and the goal in reports a second
BATCHES: tuple[tuple[str, dict[str, Any], bool, int, float], ...] = (
    ("grr", {"k": 100, "epsilon": 1.0}, False, 1_000, 2e6),
    ("csr", {"k": 1000, "epsilon": 3.0}, False, 600, 1e6),
    ("clh", {"k": 1000, "epsilon": 3.0}, False, 400, 1e6),
    ("oue", {"k": 1024, "epsilon": 1.0}, False, 40, 1e5),
    ("grr", {"k": 100, "epsilon": 1.0}, True, 30, 1e5),
    ("clh", {"k": 1000, "epsilon": 3.0}, True, 30, 1e5),
)
TRANSFORMS = ("csr", "clh", "hr", "pgr")


def main(
    requests: Annotated[int, typer.Option(min=64, help="Single reports in a round.")] = 20_000,
    only: Annotated[str, typer.Option(help="Run only jobs whose name contains this; keep no record.")] = "",
    note: Annotated[str, typer.Option(help="What is to be said of this run beside its figures.")] = "",
) -> None:
    """Measure the collector on this machine."""
    from tests.collector.servers import running_server

    with running_server(on_disk=True) as database:
        figures = say(measured(database.new_database, requests, only))
        server_version = database.run("SHOW server_version")[0][0].split()[0]
    missed = [each for each in figures if not each.met]
    typer.echo(f"{len(figures) - len(missed)} figures within their goals, {len(missed)} missed")
    if not only:
        versions = {SQLITE: sqlite3.sqlite_version, POSTGRESQL: server_version}
        put(PAGE, MARKS, table(keep(RECORD, figures, note, versions)))
    raise typer.Exit(1 if missed else 0)


def measured(new_database: Any, requests: int, only: str) -> Iterator[Figure]:
    """Every figure, on a new store of each kind."""
    for where in (SQLITE, POSTGRESQL):
        with contextlib.ExitStack() as stack:
            address = new_database() if where == POSTGRESQL else stack.enter_context(tempfile.TemporaryDirectory())
            running = stack.enter_context(server("collector", address))
            if only in "single reports":
                yield from of_single_reports(running, where, requests)
            yield from of_batches(running, where, only)
            if only in "estimates":
                yield from of_estimates(running, where)
    if only in "demo":
        yield of_the_demo()


def of_single_reports(running: Server, where: str, requests: int) -> Iterator[Figure]:
    """The best of three rounds of each, which take turns."""
    grr = dn.mechanism("grr", k=100, epsilon=1.0)
    secret = collection(running, "single", grr)
    with server("nothing", "") as idle:
        rounds = [
            (single_reports(running, requests, secret, grr), single_reports(idle, requests, secret, grr))
            for _ in range(3)
        ]
    ours, nothing = (min(each) for each in zip(*rounds, strict=True))
    yield Figure("single reports: processor time of the collector", where, ours, "µs")
    yield Figure("an endpoint that does nothing", where, nothing, "µs")
    yield Figure("the first over the second", where, ours / nothing, "", SINGLE)


def of_batches(running: Server, where: str, only: str) -> Iterator[Figure]:
    """Batches of 10,000 until they are counted."""
    for name, settings, with_ids, count, goal in BATCHES:
        what = f"batches of {name}, k={settings['k']:,}{', an id each' if with_ids else ''}"
        if only in what:
            made = dn.mechanism(name, **settings)
            rate = batches(running, f"{name}-{'ids' if with_ids else 'plain'}", made, count, with_ids)
            yield Figure(what, where, rate, "reports/s", goal, at_least=True)


def of_estimates(running: Server, where: str) -> Iterator[Figure]:
    """Looks at 30 days of many values, each after a new report, and a second look at each."""
    again = []
    for name in TRANSFORMS:
        found = estimates(running, f"many-{name}", dn.mechanism(name, k=VALUES, epsilon=3.0), list(LOOKS))
        for method, looks in found.items():
            what = f"estimate after a new report: {name}, k={VALUES:,}, 30 days, {method or 'default method'}"
            yield Figure(what, where, looks.first, "ms", LOOKS[method])
            again.append(looks)
    yield Figure("a second look at any of them, the slowest", where, max(each.second for each in again), "ms")
    cached = 100 * sum(each.from_cache for each in again) / len(again)
    yield Figure("second looks that came from the cache", where, cached, "%", 100.0, at_least=True)


def of_the_demo() -> Figure:
    """What `make demo` does once everything is installed."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        command = [sys.executable, "-m", "deniable", "demo", "--collector", "--out", folder]
        subprocess.run(command, check=True, capture_output=True)
        return Figure("`make demo` after set-up", SQLITE, time.perf_counter() - start, "s", DEMO)


if __name__ == "__main__":
    typer.run(main)
