"""A collector that is killed at any moment loses no report that it acknowledged, and counts none twice."""

from __future__ import annotations

import time

import pytest

from benchmarks.kills import PLANS, judge
from tests.running.figures import Record, pace

KILLS = {"single reports": 6, "batches": 4, "batches with ids": 4}


@pytest.mark.parametrize("load", PLANS)
def test_a_few_kills_lose_nothing(load: str, address: str, seed: int) -> None:
    verdict, mortal = judge(address, KILLS[load], PLANS[load], seed)
    assert verdict.good, verdict.sentences
    assert mortal.deaths >= KILLS[load]
    assert verdict.tally.unanswered > 0  # they were killed while they were busy
    assert verdict.counted == verdict.tally.acknowledged > 0
    assert verdict.tally.unknown == 0


@pytest.mark.soak
@pytest.mark.parametrize("load", PLANS)
def test_a_thousand_kills_lose_nothing(load: str, address: str, seed: int, record_property: Record) -> None:
    start = time.monotonic()
    verdict, mortal = judge(address, 334, PLANS[load], seed)
    assert verdict.good, verdict.sentences
    counted = f"{verdict.counted:,} reports acknowledged and counted, 0 lost, 0 counted twice"
    kind = "PostgreSQL" if "://" in address else "SQLite"
    record_property("figure", f"kills of a collector on {kind}, {load}: {pace(mortal.deaths, start)}, {counted}")
