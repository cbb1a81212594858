"""Replays and damaged bodies in numbers: a few in every run, a million in `make soak`."""

from __future__ import annotations

import os
import random
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deniable.collector.service.taking import Taken
from deniable.collector.store.opening import open_store
from deniable.wire.frames import Frame
from deniable.wire.keys import Key
from deniable.wire.refusals import Refused
from tests.collector.http.running import DAY, LABELS, M, Running, batch, frame

PER_BATCH = 1_000


def replay(folder: Path, reports: int, seed: int) -> None:
    """Send each report 1 to 5 times, in batches that overlap in part, and compare the counts with the truth."""
    collector = Running(open_store(folder))
    collector.make(requests_per_second=1e6, reports_per_second=1e9)
    collector.service.start()
    rng = np.random.default_rng(seed)
    writer = collector.service.directory.writer(Key.read(collector.key("write")).secret)
    head = Frame(b"", bytes.fromhex(M.fingerprint), DAY, b"", b"", b"", PER_BATCH, b"")
    values = rng.integers(len(LABELS), size=reports, dtype=np.uint8)
    ids = np.frombuffer(rng.bytes(16 * reports), np.uint8).reshape(-1, 16)
    order = rng.permutation(np.repeat(np.arange(reports), rng.integers(1, 6, size=reports)))
    waiting: list[Taken] = []
    for start in range(0, len(order), PER_BATCH):
        chosen = np.unique(order[start : start + PER_BATCH])  # an id occurs once in a batch
        sent = head._replace(
            ids=ids[chosen].tobytes(), payloads=values[chosen].tobytes(), n=len(chosen), batch=os.urandom(16)
        )
        waiting.append(send(collector, sent, writer))
    collector.service.writer.close()
    assert not [each.outcome for each in waiting if isinstance(each.outcome, Exception)]
    assert sum(int(each.outcome or 0) for each in waiting) == reports  # type: ignore[call-overload]
    collector.fold()
    (kept,) = collector.service.store.kept(1)
    expected = M.summarize(values.astype(np.int64))
    (data,) = collector.service.store.summaries([kept.cell])
    assert data == expected.to_bytes()
    assert collector.faults == []
    collector.close()


def send(collector: Running, sent: Frame, writer: tuple[object, object]) -> Taken:
    """Let a batch wait, as often as the queue is full."""
    while True:
        try:
            return collector.service.take(sent, *writer, lambda _: None)  # type: ignore[arg-type]
        except Refused as error:
            if error.kind != "busy":
                raise
            time.sleep(0.01)


def test_reports_sent_1_to_5_times_are_counted_once(tmp_path: Path) -> None:
    replay(tmp_path / "store", 20_000, seed=3)


@pytest.mark.soak
def test_a_million_reports_sent_1_to_5_times_are_counted_once(tmp_path: Path, seed: int) -> None:
    replay(tmp_path / "store", 1_000_000, seed)


def damaged(collector: Running, count: int, seed: int) -> Iterator[tuple[str, bytes, str]]:
    """Bodies with bytes changed, cut, doubled or drawn at random, for one of the two routes, with their types."""
    rng = random.Random(seed)
    good = [frame(collector).to_bytes(), batch(collector, ["a", "b"] * 20).to_bytes(), b'{"key":"dnw_"}', b""]
    for _ in range(count):
        data = bytearray(rng.choice(good))
        for _ in range(rng.randrange(4)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        how = rng.randrange(4)
        if how == 1:
            data = data[: rng.randrange(len(data) + 1)]
        elif how == 2:
            data = bytearray(rng.randbytes(rng.randrange(300)))
        elif how == 3:
            data += data[rng.randrange(len(data) + 1) :]
        kind = rng.choice(["application/octet-stream", "text/plain", "application/json", "text/html", ""])
        yield rng.choice(["/v1/reports", "/v1/batches"]), bytes(data), kind


def fuzz(collector: Running, count: int, seed: int) -> None:
    """Send damaged bodies: none meets a fault, and only whole ones are stored."""
    accepted = 0
    for path, body, kind in damaged(collector, count, seed):
        answer = collector.ask("POST", path, body, content_type=kind)
        assert answer.status == 200 or 400 <= answer.status < 500, (answer, path, body)
        accepted += answer.json["accepted"] if answer.status == 200 else 0
        assert answer.status == 200 or answer.kind
    stored = sum(n for _, n in collector.service.store.waiting())
    assert stored <= accepted
    assert collector.faults == []
    assert collector.service.outcomes.requests == sum(collector.outcomes().values())


def test_damaged_bodies_meet_no_fault(collector: Running) -> None:
    fuzz(collector, 1_000, seed=4)


@pytest.mark.soak
def test_many_damaged_bodies_meet_no_fault_and_take_no_memory(collector: Running, seed: int) -> None:
    fuzz(collector, 5_000, seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fuzz(collector, 200_000, seed + 1)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024  # KiB
