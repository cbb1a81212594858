"""Replays and damaged bodies in numbers, over HTTP on real stores: a few in every run, a million in `make soak`."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.collector.store.checks import check
from deniable.collector.store.database import sqlite_database
from deniable.collector.store.folder import DATABASE
from deniable.collector.store.opening import open_store
from deniable.collector.store.sql import SqlStore
from deniable.core.reports import Reports
from deniable.core.summary import Summary
from deniable.wire.buckets import Buckets
from deniable.wire.frames import Frame
from deniable.wire.payloads import Payloads
from deniable.wire.refusals import REASONS
from tests.collector.http.damage import QUESTIONS, SEGMENTS, Body, Damage, Stored
from tests.collector.http.lines import CONNECTIONS, Said, Sent, damaged, deliver, post
from tests.collector.http.processes import Collector, collecting
from tests.collector.store.faults import tables
from tests.running.figures import Record

PER_BATCH = 1_000
MEMORY = 50.0  # MB that a collector may grow by under bodies of strangers
OWN = ("refusals", "numbers")  # what the collector counts of refusals, and the time it has seen
AGAIN = 50_000  # refused bodies that are sent a second time


class Sending:
    """Reports that are sent 1 to 5 times each, some singly and some in batches, in any order."""

    def __init__(self, spec: Any, secret: bytes, reports: int, singly: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.sent = 0
        self.new = 0
        self._ids = np.frombuffer(rng.bytes(16 * reports), np.uint8).reshape(-1, 16)
        size = Payloads(spec, True).size
        joined = spec.encode_joined(Reports(np.arange(reports), spec.fingerprint))
        self._payloads = np.frombuffer(joined, np.uint8).reshape(-1, size)
        self._order = rng.permutation(np.repeat(np.arange(reports), rng.integers(1, 6, size=reports)))
        self._single = int(singly * len(self._order))
        self._mixed = rng.permutation(np.r_[np.zeros(self._single), np.ones(self._batches())])
        day = Buckets("day").at(time.time())
        self._head = Frame(secret, bytes.fromhex(spec.fingerprint), day, b"", b"", b"")

    def _batches(self) -> int:
        return -(-(len(self._order) - self._single) // PER_BATCH)

    def requests(self) -> Iterator[Sent]:
        """Every request; single reports stand anywhere between the batches."""
        single, start = 0, self._single
        for batch in self._mixed:
            if batch:
                chosen = np.unique(self._order[start : start + PER_BATCH])  # an id occurs once in a batch
                start += PER_BATCH
            else:
                chosen = self._order[single : single + 1]
                single += 1
            self.sent += len(chosen)
            frame = self._head._replace(ids=self._ids[chosen].tobytes(), payloads=self._payloads[chosen].tobytes())
            if batch:
                frame = frame._replace(n=len(chosen), batch=os.urandom(16))
            yield Sent(post("/v1/batches" if batch else "/v1/reports", frame.to_bytes()))

    def settle(self, _: Sent, said: Said) -> bool:
        """Note how many were new; a collector that is busy is asked again."""
        if said.status in (429, 503):
            return False
        assert said.status == 200, said
        self.new += json.loads(said.body).get("new", 0)
        return True


def replay(address: str, reports: int, seed: int, connections: int = CONNECTIONS, singly: float = 0.02) -> str:
    """Report number i says value i, so that every count must be exactly 1; return what was sent, and how fast."""
    spec = dn.mechanism("grr", k=reports, epsilon=20.0)
    processes = 2 if "://" in address else 1  # a folder belongs to one
    with collecting(address, processes) as collectors:
        secret = collectors[0].make("replays", spec)
        for other in collectors[1:]:
            wait_for_collection(other)
        work = Sending(spec, secret, reports, singly, seed)
        start = time.monotonic()
        deliver([each.port for each in collectors], work.requests(), work.settle, connections)
        seconds = time.monotonic() - start
        assert collectors[0].settle("replays") == reports
        assert work.new <= reports < work.sent  # a single report does not say whether it was new
        for each in collectors:
            assert not trouble(each)
    with contextlib.closing(open_store(address)) as store:
        assert check(store) == []
        (kept,) = store.kept(1)
        (data,) = store.summaries([kept.cell])
        assert data is not None
        summary = Summary.from_bytes(data)
        assert summary.n == reports
        assert np.array_equal(summary.counts, np.ones(reports))
    kind = "PostgreSQL, 2 processes" if processes == 2 else "SQLite"
    return (
        f"{kind}, {connections} connections: {reports:,} reports sent {work.sent:,} times, {work.sent / seconds:,.0f}/s"
        f" ({work.sent - len(work._order) + work._single:,} of them singly): every count exactly 1"
    )


def wait_for_collection(collector: Collector) -> None:
    """Wait until a collector has heard of the collection that another one made."""
    end = time.monotonic() + 30
    while not collector.office.json("GET", "/v1/collections")["collections"]:
        assert time.monotonic() < end
        time.sleep(0.05)


def trouble(collector: Collector) -> dict[str, int]:
    """Outcomes of requests that are the collector's own fault."""
    return {kind: n for kind, n in collector.outcomes().items() if kind in REASONS and REASONS[kind].status >= 500}


def test_reports_sent_1_to_5_times_are_counted_once(address: str) -> None:
    replay(address, 10_000, seed=3, singly=0.1)


def test_64_that_send_at_once_are_counted_once(address: str) -> None:
    replay(address, 2_000, seed=4, connections=64, singly=0.8)


@pytest.mark.soak
def test_a_million_reports_sent_1_to_5_times_are_counted_once(address: str, seed: int, record_property: Record) -> None:
    record_property("figure", f"replays on {replay(address, 1_000_000, seed)}")


@pytest.mark.soak
def test_64_that_send_at_once_for_long_are_counted_once(address: str, seed: int, record_property: Record) -> None:
    record_property("figure", f"replays on {replay(address, 60_000, seed, connections=64, singly=0.8)}")


class Fuzz:
    """What damaged bodies met: which were accepted, and some of those that were not."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.accepted: list[Body] = []
        self.refused: list[Sent] = []

    def settle(self, sent: Sent, said: Said) -> bool:
        """Note an answer; whatever is refused has its reason in the one shape."""
        if said.status == 429:
            return False
        assert said.status == 200 or 400 <= said.status < 500, (said, sent)
        if said.status == 200:
            self.outcomes["ok"] += 1
            self.accepted.append(sent.about)
            return True
        kind = json.loads(said.body)["kind"]
        assert REASONS[kind].status == said.status
        self.outcomes[kind] += 1
        if len(self.refused) < AGAIN:
            self.refused.append(sent)
        return True

    def alone(self, said: Said) -> None:
        """Note the answer to a damaged head."""
        assert 400 <= said.status < 500, said
        self.outcomes[json.loads(said.body)["kind"]] += 1


def rows(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of a store that a collector uses, but for what it notes of refusals, and what follows the clock."""
    store = SqlStore(sqlite_database(folder / DATABASE))
    try:
        found = {name: own for name, own in tables(store).items() if name not in OWN}
    finally:
        store.close()
    # the last column is from which hour on ids are remembered: some seconds after a collection was made that is raised
    return {**found, "collections": [row[:-1] for row in found["collections"]]}


def fuzz(folder: Path, count: int, seed: int) -> str:
    """Send damaged bodies and heads to a collector; return what it took.

    None meets a fault, exactly what was accepted is stored, what was refused changes no row, memory stays.
    """
    with collecting(str(folder)) as (collector,):
        for name, (spec, labels) in QUESTIONS.items():
            collector.make(name, spec, segments=SEGMENTS if labels else [])
        warm_up(collector)
        before, found = rows(folder), Fuzz()
        made = Damage(collector, Buckets("day").at(time.time()), seed)
        collector.forget_peak()
        memory, start = collector.megabytes, time.monotonic()
        deliver([collector.port], made.requests(count), found.settle)
        rate = count / (time.monotonic() - start)
        assert found.outcomes.total() == count
        damaged(collector.port, made.heads(count // 50), found.alone)
        stored = Stored(found.accepted, {"themes": 1, "coins": 2})
        assert collector.settle("themes") + collector.settle("coins") == stored.n
        expect(stored, before, after := rows(folder))
        again = Fuzz()
        deliver([collector.port], found.refused, again.settle)
        assert not again.accepted
        assert rows(folder) == after
        assert not trouble(collector)
        counted = collector.outcomes()  # an answer that was lost as the connection was closed was counted, too
        assert [kind for kind, n in (found.outcomes + again.outcomes).items() if counted[kind] < n] == []
        grown = collector.megabytes - memory
        assert grown < MEMORY
    return (
        f"{count:,} damaged bodies and {count // 50:,} damaged heads over {CONNECTIONS} connections on SQLite, "
        f"{rate:,.0f}/s: no status 5xx, {len(found.accepted):,} accepted and stored exactly, no row changed by the "
        f"others, memory +{grown:.0f} MB"
    )


def warm_up(collector: Collector) -> None:
    """Let it load and compile what a process loads and compiles once, which is not the cost of a body."""
    day, n = Buckets("day").at(time.time()), 100_000
    for name, (spec, _) in QUESTIONS.items():
        secret = collector.make(f"{name}-before", spec)
        head = Frame(secret, bytes.fromhex(spec.fingerprint), day, b"", b"", b"", n)
        bodies = []
        for with_ids in [True] + 11 * [False]:
            payloads, ids = bytes(n * Payloads(spec, with_ids).size), os.urandom(16 * n) if with_ids else b""
            bodies.append(head._replace(ids=ids, payloads=payloads, batch=os.urandom(16)).to_bytes())
        requests = [Sent(post("/v1/batches", body)) for body in bodies]
        deliver([collector.port], requests, lambda _, said: said.status == 200)
        assert collector.settle(f"{name}-before") == 12 * n


def expect(stored: Stored, before: dict[str, list[Any]], after: dict[str, list[Any]]) -> None:
    """Compare the rows with those from before and what was accepted since."""
    new = set(after["ids"]) - set(before["ids"])
    assert {row[:3] for row in new} == stored.ids
    assert len(after["ids"]) == len(before["ids"]) + len(stored.ids)
    assert {row[1:5]: row[11] for row in after["cells"] if row not in before["cells"]} == stored.counts
    assert after["reports"] == []
    for name in before.keys() - {"ids", "cells", "reports"}:
        assert after[name] == before[name], name


def test_damaged_bodies_meet_no_fault_and_change_no_row(tmp_path: Path) -> None:
    fuzz(tmp_path / "store", 4_000, seed=4)


@pytest.mark.soak
def test_a_million_damaged_bodies_meet_no_fault_and_change_no_row(
    tmp_path: Path, seed: int, record_property: Record
) -> None:
    record_property("figure", fuzz(tmp_path / "store", 1_000_000, seed))
