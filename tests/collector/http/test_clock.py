"""A wrong clock: what is forgotten is forgotten for good, so a leap is not believed until an operator says so."""

from __future__ import annotations

import os

import pytest

from deniable.collector.service.clock import Clock
from deniable.collector.service.service import Service
from deniable.collector.service.settings import Settings
from deniable.wire.frames import Frame
from deniable.wire.payloads import Payloads
from deniable.wire.refusals import Refused
from tests.collector.http.running import DAY, NOW, M
from tests.naive.store import MemoryStore


@pytest.mark.parametrize("restarted", [False, True])
def test_a_clock_that_is_years_ahead_deletes_and_closes_nothing(restarted: bool) -> None:
    now, steady, store = [float(NOW)], [0.0], MemoryStore()
    store.close = lambda: None  # type: ignore[method-assign]

    def started(**options: bool) -> Service:
        return Service(store, clock=Clock(lambda: now[0], lambda: steady[0], **options))

    service = started()
    settings = Settings(minimum=1, retention_days=30)
    write, _ = service.office.add_collection("themes", M.spec.to_dict(), settings)
    service.refresh()

    def sent() -> int:
        payload = Payloads(M, True).made("a", os.urandom(16))
        made = Frame(b"", bytes.fromhex(M.fingerprint), DAY, b"", os.urandom(16), payload)
        return service.take_and_wait(made, write.key.secret)

    assert sent() == 1
    service.keeper.fold()
    now[0] += 86_400 * 3_650
    steady[0] += 60.0
    if restarted:
        service.close()
        service = started()
    service.keeper.round()
    with pytest.raises(Refused, match="--accept-clock") as refused:
        service.ready()
    assert refused.value.kind == "clock"
    assert sent() == 1  # its bucket is as open as before
    assert [each.n for each in store.kept(1)] == [1]
    assert store.latest(0) <= NOW + 60
    service.close()
    service = started(accept=True)
    service.keeper.round()
    service.ready()
    assert store.kept(1) == []
    service.close()
