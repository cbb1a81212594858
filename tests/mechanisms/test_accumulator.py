"""An accumulator counts as `summarize` does, from any thread, and adds all of a call or nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import deniable as dn
from deniable.core.summary import MAX_COUNT
from deniable.mechanisms.hashing import public_coins
from deniable.randomness import choices

NAMES = ["grr", "oue", "she", "cms", "mss", "clh"]


def made(name: str) -> dn.RandomizedResponse:
    return dn.mechanism(name, k=12, epsilon=1.0)


@pytest.mark.parametrize("name", NAMES)
def test_it_counts_as_summarize_does(name: str) -> None:
    m = made(name)
    reports = m.privatize(np.arange(300) % 12)
    running = m.accumulator()
    assert running.add(reports[:100]) == 100
    assert running.add([reports[100], reports[101]]) == 2
    assert running.add_encoded(m.encode_many(reports[102:200])) == 98
    assert running.add_encoded(m.encode_joined(reports[200:])) == 100
    assert running.summary() == m.summarize(reports)
    assert len(running) == 300
    running.merge(running)
    running.merge(m.summarize(reports))
    assert running.summary() == m.summarize(reports) + m.summarize(reports) + m.summarize(reports)


def test_threads_share_one() -> None:
    m = made("oue")
    batches = [m.privatize([i % 12] * 50) for i in range(40)]
    running = m.accumulator()
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(running.add, batches)) == 2000
    assert running.summary() == sum(map(m.summarize, batches))


def test_a_summary_taken_earlier_does_not_change() -> None:
    m = made("grr")
    running = m.accumulator()
    before = running.summary()
    running.add(m.privatize([1, 2]))
    assert (before.n, running.summary().n) == (0, 2)
    assert running.summary() != before


def test_a_refused_call_adds_nothing() -> None:
    m = made("grr")
    good = m.encode_many(m.privatize([1, 2, 3]))
    running = m.accumulator(m.summarize(m.privatize([5])))
    with pytest.raises(dn.MalformedReport, match="position 3"):
        running.add_encoded([*good, b"\xff"])
    with pytest.raises(dn.MalformedReport, match="position 3"):
        running.add_encoded(b"".join(good) + b"\xff")
    with pytest.raises(dn.FingerprintMismatch):
        running.add(made("clh").privatize([1]))
    with pytest.raises(dn.FingerprintMismatch):
        running.merge(made("clh").empty_summary())
    assert len(running) == 1


def test_it_marks_simulated_reports_and_refuses_to_overflow() -> None:
    m = made("grr")
    running = m.accumulator()
    running.add(m.privatize([1], seed=1))
    assert running.summary().simulated
    counts = np.zeros(12, np.int64)
    counts[0] = MAX_COUNT - 1
    full = m.accumulator(dn.Summary(counts, MAX_COUNT - 1, m.fingerprint))
    with pytest.raises(dn.CountOverflow):
        full.add(m.privatize([1, 2]))
    with pytest.raises(dn.CountOverflow):
        full.merge(full)
    assert len(full) == MAX_COUNT - 1


@pytest.mark.parametrize("name", ["clh", "olh", "rhr"])
def test_many_classes_decode_as_one_by_one(name: str) -> None:
    m = dn.mechanism(name, k=100, epsilon=1.0, salt="a")
    ids = [f"report {i}".encode() for i in range(300)]
    single = [m.privatize_for(i % 100, report_id) for i, report_id in enumerate(ids)]
    sent = [m.encode_class(report, report_id) for report, report_id in zip(single, ids, strict=True)]
    assert m.public_coins(ids).tolist() == [m.public_coin(report_id) for report_id in ids]
    batch = m.decode_class_many(sent, ids)
    assert [batch[i] for i in range(len(batch))] == single
    with pytest.raises(dn.MalformedReport, match="position 2"):
        m.decode_class_many([*sent[:2], b"\xff"], ids[:3])
    with pytest.raises(dn.MalformedReport, match="one id for each of 2 classes, got 3"):
        m.decode_class_many(sent[:2], ids[:3])


def test_a_rejected_word_of_a_public_coin_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    m = dn.mechanism("olh", k=100, epsilon=1.0, g=3)
    for module in (choices, public_coins):  # half of all words are rejected, instead of one in 2^32
        monkeypatch.setattr(module, "rejection_bound", lambda _bound: 2**63)
    ids = [i.to_bytes(4, "big") for i in range(200)]
    assert m.public_coins(ids).tolist() == [m.public_coin(report_id) for report_id in ids]


def test_summaries_merge_as_long_as_every_sum_fits() -> None:
    m = dn.mechanism("oue", k=3, epsilon=1.0)
    half = MAX_COUNT // 2
    running = m.accumulator(dn.Summary(np.array([half, 0, 0]), half, m.fingerprint))
    running.merge(dn.Summary(np.array([0, half, 0]), half, m.fingerprint))  # the largest counts are in other cells
    running.merge(dn.Summary(np.array([0, 0, 0]), 0, m.fingerprint))
    before = running.summary()
    with pytest.raises(dn.CountOverflow):
        running.merge(dn.Summary(np.array([0, 0, 1]), 1, m.fingerprint))
    with pytest.raises(dn.MalformedSummary):
        running.merge(dn.Summary(np.array([1, 0, 0]), 0, m.fingerprint))
    assert running.summary() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_merge_of_many_cells_adds_nothing(name: str) -> None:
    m = made(name)
    running = m.accumulator()
    with pytest.raises(dn.MalformedSummary):
        running.merge(dn.Summary(np.zeros(m.layout.cells + 1, np.int64), 0, m.fingerprint))
    assert running.summary() == m.empty_summary()
