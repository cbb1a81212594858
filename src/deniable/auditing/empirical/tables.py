"""Tests of independence and of uniformity on tables of counts."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Indices

ALPHA = 1e-11  # of each test
_LEAST = 25.0  # a cell's expected count: rarer classes are joined


def dependent(one: Indices, other: Indices, alpha: float = ALPHA) -> bool:
    """Whether two classifications of the same things depend on each other (Pearson's chi-square)."""
    from scipy.stats import chi2

    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one, other), 1)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n, least = table.sum(), _LEAST
    table = table[rows * columns[columns > 0].min() >= least * n][:, columns * rows[rows > 0].min() >= least * n]
    if min(table.shape) < 2:
        return False
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return bool(chi2.sf(((table - expected) ** 2 / expected).sum(), freedom) < alpha)


def uneven(classes: Indices, count: int, alpha: float = ALPHA) -> bool:
    """Whether classes below `count` are not all equally likely."""
    from scipy.stats import chi2

    seen, expected = np.bincount(classes, minlength=count), len(classes) / count
    if expected < _LEAST:
        return False
    return bool(chi2.sf(((seen - expected) ** 2).sum() / expected, count - 1) < alpha)


def ids_against_values(ids: list[bytes], values: Indices, alpha: float = ALPHA) -> str:
    """What is wrong with the ids of reports, given the values of their senders; empty if nothing is seen.

    Ids must be all different, and no byte of them may depend on the value.
    """
    if len(set(ids)) < len(ids):
        return f"{len(ids) - len(set(ids))} of {len(ids)} ids are not new: they follow from the value or the device"
    width = min(map(len, ids))
    table = np.array([list(each[:width]) for each in ids], np.int64).reshape(len(ids), width)
    for place in range(width):
        if dependent(table[:, place] // 16, values, alpha) or dependent(table[:, place] % 16, values, alpha):
            return f"byte {place} of the ids depends on the value"
    return ""
