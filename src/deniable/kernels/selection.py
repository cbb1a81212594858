"""Loops over a histogram: how much lies above a threshold, keep it, and turn it into frequencies."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@compiled
def total_at_least(counts: Counts, threshold: int) -> tuple[int, int]:
    """How many counts reach the threshold, and their sum."""
    size = 0
    total = 0
    for i in range(counts.shape[0]):
        keep = counts[i] >= threshold
        size += keep
        total += counts[i] * keep
    return size, total


@compiled
def keep_at_least(counts: Counts, threshold: int, kept: Counts) -> tuple[int, int]:
    """Copy the counts that reach the threshold to the front of `kept`.

    `kept` is `counts` itself, or has room for one more than will be kept: the loop has no branch, so it
    writes every count and moves on only if it is kept.
    """
    size = 0
    total = 0
    for i in range(counts.shape[0]):
        count = counts[i]
        kept[size] = count
        keep = count >= threshold
        size += keep
        total += count * keep
    return size, total


@compiled
def share_out(
    counts: Counts,
    threshold: int,
    centre: int,
    size: float,
    rest: float,
    slope: float,
    share: float,
    offset: float,
    out: Floats,
) -> None:
    """out = ((count - centre) size - rest) slope + count share + offset where count reaches the threshold, else 0."""
    for i in range(counts.shape[0]):
        count = counts[i]
        value = (float(count - centre) * size - rest) * slope + float(count) * share + offset
        out[i] = max(value, 0.0) if count >= threshold else 0.0
