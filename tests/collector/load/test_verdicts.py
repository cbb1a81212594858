"""The verdict on a run is right about an honest collector, and about every fault that is planted in one."""

from __future__ import annotations

import asyncio
import socket

import pytest

import deniable as dn
from deniable.collector.load import sending
from deniable.collector.load.address import Address
from deniable.collector.load.plan import Plan
from deniable.collector.load.run import run
from deniable.collector.load.traffic import Target, Traffic
from deniable.collector.load.verdict import Verdict
from tests.collector.load.small_collector import SmallCollector

SHAPES = {"singles": (1, False, 1_000), "batches": (50, False, 10_000), "batches with ids": (50, True, 10_000)}


def judged(fault: str, shape: str, **options: object) -> tuple[Verdict, SmallCollector]:
    batch, ids, users = SHAPES[shape]
    with SmallCollector(fault).serving() as collector:
        plan = Plan(users=users, batch=batch, ids=ids, connections=4, replays=0.1, malformed=0.1)
        return run(Address.loopback(collector.url), collector.admin, plan, **options), collector  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_honest_collector_has_a_good_verdict(shape: str) -> None:
    verdict, collector = judged("", shape)
    users = SHAPES[shape][2]
    assert verdict.good, verdict.sentences
    assert (verdict.tally.sent, verdict.tally.acknowledged, verdict.counted) == (users, users, users)
    assert verdict.tally.again > 0
    assert dict(verdict.tally.refusals) == collector.refused
    assert len(collector.refused) == 12


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("loses", "acknowledged reports lost, 0 reports counted twice"),
        ("counts twice", "0 acknowledged reports lost"),
        ("swaps", "counts differ from those"),
        ("accepts anything", "wrong answers: accepted, though bad-flags"),
        ("miscounts", "the collection says"),
        ("forgets a request", "deniable_reports_stored_total grew by"),
    ],
)
def test_a_planted_fault_is_noticed(fault: str, sentence: str, shape: str) -> None:
    verdict, _ = judged(fault, shape)
    assert not verdict.good
    assert sentence in "\n".join(verdict.sentences)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_broken_connection_is_no_loss_because_the_same_bytes_are_sent_again(when: str, shape: str) -> None:
    verdict, _ = judged(f"breaks connections {when}", shape)
    assert verdict.good, verdict.sentences
    assert verdict.tally.unanswered > 0
    assert verdict.tally.unknown == 0


@pytest.mark.parametrize("name", ["oue", "clh", "csr"])
def test_reports_of_other_mechanisms_are_compared_count_by_count(name: str) -> None:
    question = dn.mechanism(name, k=30, epsilon=1.0)
    assert judged("", "batches with ids", mechanism=question)[0].good
    verdict, _ = judged("swaps", "batches with ids", mechanism=question)
    assert verdict.difference.cells > 0


def test_a_run_ends_when_its_time_is_up_and_says_what_was_not_sent() -> None:
    with SmallCollector().serving() as collector:
        plan = Plan(users=10_000, connections=2, rate=200.0, seconds=0.5)
        verdict = run(Address.loopback(collector.url), collector.admin, plan)
    assert verdict.good
    assert 0 < verdict.tally.sent <= 110
    assert verdict.counted == verdict.tally.sent


def test_a_collector_that_never_comes_back_ends_a_run_that_has_had_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "GRACE", 0.2)
    question = dn.mechanism("grr", k=10, epsilon=1.0)
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = Address.loopback(f"http://127.0.0.1:{nobody.getsockname()[1]}")
    target, plan = Target(address, question, bytes(16), [(480_000, b"")]), Plan(users=100, connections=2, seconds=3600)
    work = sending.Run(plan, target, Traffic(plan, target), enough=lambda: work.tally.unanswered > 2)
    asyncio.run(work.go())
    assert work.tally.sent == 0
    assert work.tally.acknowledged == 0


def test_the_collection_of_a_run_is_closed_after_it() -> None:
    _, collector = judged("", "batches")
    assert collector.settings["open"] is False
