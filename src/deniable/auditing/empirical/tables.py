"""Tests of independence and of uniformity on tables of counts, with exact levels however rare a class is."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices

ALPHA = 1e-11  # of each test


def dependent(one: Indices, other: Indices, alpha: float = ALPHA) -> bool:
    """Whether two classifications of the same things depend on each other.

    One half of the things shows which classes go together, by the leading singular vectors of the table's residuals;
    the other half, with the classes on each side joined into two, is tested by Fisher's exact test.
    """
    from scipy.stats import hypergeom

    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(table, (one[::2], other[::2]), 1)
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / max(1.0, table.sum())
    residuals = (table - expected) / np.sqrt(np.maximum(expected, 1.0))
    left, _, right = np.linalg.svd(residuals, full_matrices=False)
    first, second = left[one[1::2], 0] > 0, right[0, other[1::2]] > 0
    both, rows, columns = (int(np.count_nonzero(each)) for each in (first & second, first, second))
    return bool(hypergeom.sf(both - 1, len(first), rows, columns) < alpha)


def uneven(classes: Indices, count: int, alpha: float = ALPHA) -> bool:
    """Whether classes below `count` are not all equally likely."""
    return least_tail(np.bincount(classes, minlength=count), np.full(count, 1 / count)) < alpha


def least_tail(counts: Counts, law: Floats) -> float:
    """The least binomial tail of the counts of all classes, times the number of tails: no smaller by chance."""
    from scipy.stats import binom

    n = int(counts.sum())
    tails = np.minimum(binom.cdf(counts, n, law), binom.sf(counts - 1, n, law))
    return min(1.0, 2 * len(law) * float(tails.min()))


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
