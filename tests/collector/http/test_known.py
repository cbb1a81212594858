"""A client whose acknowledgement was lost learns the truth: what was taken is acknowledged again, come what may."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from deniable.collector.store.sql import SqlStore
from deniable.wire.frames import Frame
from tests.collector.http.running import DAY, M, Running, batch, frame
from tests.collector.http.test_trouble import failing

PATH = "/v1/collections/themes"


@pytest.fixture
def kept(store: SqlStore) -> Iterator[Running]:
    """A collector on each kind of store, which drops counts after two days and remembers ids for seven."""
    made = Running(store)
    made.make(retention_days=2)
    yield made
    made.close()
    assert made.faults == []


def later(collector: Running, days: int) -> None:
    collector.now[0] += 86_400 * days
    collector.service.keeper.round()
    collector.service.refresh()


def changed(collector: Running, **settings: Any) -> None:
    assert collector.ask("PATCH", PATH, settings, collector.admin).status == 200


def with_ids(collector: Running, ids: list[bytes]) -> Frame:
    payloads = b"".join(frame(collector, ids=one).payloads for one in ids)
    return batch(collector, ["a"])._replace(ids=b"".join(ids), payloads=payloads, n=len(ids))


@pytest.mark.parametrize("reason", ["closed", "expired", "too-old"])
def test_what_was_taken_is_acknowledged_again_whatever_became_of_the_collection(kept: Running, reason: str) -> None:
    ids = [os.urandom(16) for _ in range(3)]
    one, whole, several = frame(kept), batch(kept, ["a"] * 5), with_ids(kept, ids)
    half = with_ids(kept, [ids[0], os.urandom(16)])
    accepted = [({"accepted": 1}, one), ({"accepted": 5, "new": 0}, whole), ({"accepted": 3, "new": 0}, several)]
    for _, sent in accepted:
        assert kept.ask("POST", path_of(sent), sent.to_bytes()).status == 200
    kept.fold()
    if reason == "too-old":
        later(kept, 3)
    else:
        changed(kept, **({"open": False} if reason == "closed" else {"expired": [M.fingerprint]}))
    for answer, sent in accepted:
        assert kept.ask("POST", path_of(sent), sent.to_bytes()).json == answer
    for sent in (frame(kept), batch(kept, ["a"]), with_ids(kept, [os.urandom(16)]), half):
        assert kept.ask("POST", path_of(sent), sent.to_bytes()).kind == reason
    assert kept.ask("POST", "/v1/reports", one._replace(hour=DAY - 24).to_bytes()).kind == reason
    assert kept.service.store.waiting() == []


def path_of(sent: Frame) -> str:
    return "/v1/reports" if sent.batch is None else "/v1/batches"


def test_a_report_that_was_taken_back_is_acknowledged_by_a_closed_collection(kept: Running) -> None:
    one = frame(kept)
    assert kept.ask("POST", "/v1/reports", one.to_bytes()).status == 200
    path, key = f"/v1/reports/{one.ids.hex()}?bucket={DAY}", kept.key("write")
    assert kept.ask("DELETE", path, None, key).json == {"outcome": "deleted"}
    changed(kept, open=False)
    assert kept.ask("POST", "/v1/reports", one.to_bytes()).status == 200
    assert kept.service.store.waiting() == []


def test_what_is_forgotten_is_refused_as_too_old_and_its_deletion_says_that_it_may_be_counted(kept: Running) -> None:
    one, never = frame(kept), os.urandom(16).hex()
    assert kept.ask("POST", "/v1/reports", one.to_bytes()).status == 200
    kept.fold()
    key = kept.key("write")
    later(kept, 5)  # its counts are dropped, its id is remembered
    assert kept.ask("DELETE", f"/v1/reports/{never}?bucket={DAY}", None, key).kind == "no-such-report"
    assert kept.ask("DELETE", f"/v1/reports/{one.ids.hex()}?bucket={DAY}", None, key).json == {"outcome": "counted"}
    later(kept, 5)
    assert kept.ask("POST", "/v1/reports", one.to_bytes()).kind == "too-old"
    for sent in (one.ids.hex(), never):
        answer = kept.ask("DELETE", f"/v1/reports/{sent}?bucket={DAY}", None, key)
        assert (answer.status, answer.kind) == (410, "too-old")
        assert "may have been counted" in answer.json["error"]
    changed(kept, open=False)
    assert kept.ask("POST", "/v1/reports", one.to_bytes()).kind == "closed"


def test_a_store_that_cannot_be_asked_whether_a_report_is_known_is_trouble(collector: Running) -> None:
    one = frame(collector).to_bytes()
    assert collector.ask("POST", "/v1/reports", one).status == 200
    changed(collector, open=False)
    with failing(collector, "known"):
        answer = collector.ask("POST", "/v1/reports", one)
        assert (answer.status, answer.kind) == (503, "storage")
    assert collector.ask("POST", "/v1/reports", one).status == 200
