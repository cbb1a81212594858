"""A collector that writes to files and is killed at any moment loses nothing, and nothing is counted twice."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import numpy as np
import pytest

import deniable as dn
from benchmarks.kills import PLANS, Mortal
from deniable.collector.load.address import Address
from deniable.collector.load.administration import LABELS, SEGMENT, Administration
from deniable.collector.load.sending import Run
from deniable.collector.load.tally import Difference
from deniable.collector.load.traffic import Place, Target, Traffic
from deniable.collector.spool.counting import Question, count_files
from deniable.collector.spool.layout import partitions
from deniable.wire.buckets import DAY, Buckets
from tests.collector.spool.world import files
from tests.running.figures import Record, pace


def kill(folder: Path, load: str, kills: int, seed: int) -> int:
    """Kill a collector so many times under this load, and compare the files with what was acknowledged."""
    spool, question = folder / "spool", dn.mechanism("grr", k=100, epsilon=1.0)
    with Mortal(folder / "store", kills, np.random.default_rng(seed), ("--spool", str(spool))) as mortal:
        address = Address.loopback(f"http://127.0.0.1:{mortal.port}")
        secret, places = Administration(address, mortal.key, 60.0).make_collection(question, time.time())
        target = Target(address, question, secret, places)
        run = Run(PLANS[load], target, Traffic(PLANS[load], target), enough=mortal.immortal)
        asyncio.run(run.go())
    assert mortal.fault is None
    assert mortal.deaths >= kills
    assert run.tally.unanswered > 0
    found: dict[Place, dn.Summary] = {}
    for partition in partitions(spool):
        asked = Question(question, Buckets.of(DAY), (SEGMENT,), 168)
        table, _ = count_files(files(partition.folder(spool)), partition, asked)
        for (hour, label), summary in table.items():
            assert isinstance(summary, dn.Summary)
            found[(int(str(hour)), bytes([LABELS.index(str(label))]))] = summary
    assert Difference.of(run.expected, found) == Difference(0, 0, 0)
    assert run.tally.acknowledged > 0
    return run.tally.acknowledged


@pytest.mark.parametrize("load", ["single reports", "batches"])
def test_a_few_kills_lose_nothing(load: str, tmp_path: Path, seed: int) -> None:
    kill(tmp_path, load, 3, seed)


@pytest.mark.soak
@pytest.mark.parametrize("load", PLANS)
def test_many_kills_lose_nothing(load: str, tmp_path: Path, seed: int, record_property: Record) -> None:
    start = time.monotonic()
    acknowledged = kill(tmp_path, load, 100, seed)
    assert acknowledged > 1_000
    told = f"{pace(100, start)}, {acknowledged:,} reports acknowledged and found once each"
    record_property("figure", f"kills of a collector with a spool under {load}: {told}")
