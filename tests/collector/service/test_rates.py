"""An allowance is used by many threads, and never gives more than it has."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from deniable.collector.service.rates import Allowance
from deniable.wire.refusals import Refused


def test_threads_together_take_no_more_than_there_is() -> None:
    allowance = Allowance(requests=1_000.0, reports=1e9, clock=lambda: 0.0)

    def take(_: int) -> int:
        done = 0
        for _ in range(1_000):
            try:
                allowance.take(1)
            except Refused:
                continue
            done += 1
        return done

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(take, range(4))) == 2_000
    finally:
        sys.setswitchinterval(before)
    with pytest.raises(Refused):
        allowance.take(1)
