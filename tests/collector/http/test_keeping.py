"""The background: what other processes change is learnt while counting takes long, and trouble is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from deniable.collector.service import keeping
from deniable.collector.store.protocol import StorageTrouble
from deniable.collector.store.records import Cell
from deniable.wire.keys import Key
from deniable.wire.refusals import Refused
from tests.collector.http.running import Running, frame

SECONDS = 20.0


def becomes(true: Callable[[], bool]) -> bool:
    """Whether something becomes true before long."""
    end = time.monotonic() + SECONDS
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


@pytest.fixture
def counting(collector: Running) -> Iterator[Running]:
    """A collector that counts a report, and does not come to an end with it."""
    begun, release, store = threading.Event(), threading.Event(), collector.service.store
    fold = store.fold

    def slowly(*positional: Any, **named: Any) -> int:
        begun.set()
        release.wait(3 * SECONDS)
        return fold(*positional, **named)

    store.fold = slowly  # type: ignore[method-assign]
    assert collector.ask("POST", "/v1/reports", frame(collector).to_bytes()).status == 200
    collector.service.start()
    assert begun.wait(SECONDS)
    yield collector
    release.set()


def test_a_key_that_another_process_revokes_is_refused_while_reports_are_counted(counting: Running) -> None:
    key = Key.read(counting.key("write"))
    assert counting.service.store.revoke_key(key.digest, 1)
    assert becomes(lambda: key.digest not in counting.service.directory.holders)
    assert counting.ask("POST", "/v1/reports", frame(counting).to_bytes()).kind == "unknown-key"


def test_a_collector_that_cannot_learn_of_changes_is_not_ready_until_it_can(collector: Running) -> None:
    service, store = collector.service, collector.service.store
    read = store.revision
    failing = True

    def revision() -> int:
        if failing and threading.current_thread().name.startswith("deniable-watch"):
            raise StorageTrouble("the database failed")
        return read()

    store.revision = revision  # type: ignore[method-assign]
    service.start()
    assert becomes(lambda: service.keeper.trouble)
    with pytest.raises(Refused, match="trouble"):
        service.ready()
    failing = False
    assert becomes(lambda: not service.keeper.trouble)
    service.ready()
    assert {type(each) for each in collector.faults} == {StorageTrouble}
    collector.faults.clear()


def test_counting_that_takes_long_goes_on_where_it_was(collector: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    collector.make("many", segments=[{"name": "place", "labels": list("abcdef")}])
    collector.make("few")
    for place in range(6):
        sent = frame(collector, name="many", segments=bytes([place]))
        assert collector.ask("POST", "/v1/reports", sent.to_bytes()).status == 200
    assert collector.ask("POST", "/v1/reports", frame(collector, name="few").to_bytes()).status == 200
    keeper, order, fold = collector.service.keeper, [], collector.service.store.fold
    names = {desk.number: name for name, desk in collector.service.directory.desks.items()}
    now = iter(range(1000))
    monkeypatch.setattr(keeping, "time", SimpleNamespace(monotonic=lambda: float(next(now))))

    def noticed(cell: Cell, *positional: Any, **named: Any) -> int:
        order.append(names[cell.collection])
        return fold(cell, *positional, **named)

    monkeypatch.setattr(collector.service.store, "fold", noticed)
    assert keeper.fold(1.5) == 2
    assert order == ["many", "few"]
    assert collector.ask("POST", "/v1/reports", frame(collector, name="few").to_bytes()).status == 200
    assert keeper.fold(1.5) == 2
    assert order[2:] == ["many", "few"]
    assert keeper.fold() == 4
    assert keeper.fold() == 0
