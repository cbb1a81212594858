"""Times of a mechanism on this machine: to make a report, and to estimate from a summary."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from deniable.core.arrays import Counts
from deniable.core.summary import Summary
from deniable.mechanisms.base.client import FEW
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.keystream import Keystream

TIMED_USERS = 20_000  # at most: enough to measure a client
_FEWEST = 4 * FEW  # users; smaller batches do not use the compiled loop
_SECONDS = 0.2  # spent at most on making reports


def client_ns(made: Mechanism, true: Counts) -> float:
    """Nanoseconds of processor time per report of a batch, by the compiled loop, which a first batch loads."""
    n = int(true.sum())
    places = np.linspace(0, n - 1, max(_FEWEST, min(n, TIMED_USERS))).astype(np.int64)
    users = np.searchsorted(np.cumsum(true), places, side="right")
    few = users[:_FEWEST]
    made.payloads(few, Keystream.fresh())
    once = _seconds(lambda: made.payloads(few, Keystream.fresh()))
    users = users[: max(_FEWEST, int(_SECONDS / once) * _FEWEST)]
    return 1e9 * _seconds(lambda: made.payloads(users, Keystream.fresh())) / len(users)


def server_ms(made: Mechanism, summary: Summary) -> float:
    """Milliseconds of processor time for the unbiased estimate, after a first one that makes the tables."""
    made.unbiased(summary)
    return 1e3 * min(_seconds(lambda: made.unbiased(summary)) for _ in range(3))


def _seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return max(time.process_time() - started, 1e-9)
