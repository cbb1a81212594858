"""Batches of reports for the detectors: honest ones, and the same with liars who hide as well as they can."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Payloads
from deniable.mechanisms.base.mechanism import Mechanism


def batch(m: Mechanism, n: int, seed: int) -> Payloads:
    """Honest reports of values whose frequencies fall as those of words do."""
    shares = 1 / np.arange(1, m.k + 1) ** 1.1
    values = np.random.default_rng(seed).choice(m.k, n, p=shares / shares.sum())
    return np.array(m.privatize(values, seed=seed).data)


def padded_lies(m: Mechanism, honest: Payloads, share: float, targets: int) -> Payloads:
    """A batch in which this share sets the last bits, and as many others as an honest report of the same size."""
    data, k = np.array(honest), m.k
    liars = int(share * len(data))
    random = np.random.default_rng(9)
    rows = np.unpackbits(data[:liars].view(np.uint8), axis=1, count=k, bitorder="little")
    for row in rows:
        others = max(targets, int(row.sum())) - targets
        row[:] = np.arange(k) >= k - targets
        row[random.choice(k - targets, others, replace=False)] = 1
    padding = np.zeros((liars, 64 * data.shape[1]), np.uint8)
    padding[:, :k] = rows
    data[:liars] = np.packbits(padding, axis=1, bitorder="little").view(np.uint64)
    return data
