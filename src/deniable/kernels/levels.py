"""The loops of summed histogram encoding: a level for every value, sums of levels, and their likelihoods."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Rows = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]


@compiled
def draw_levels(indices: Indices, words: Words, limits: Words, levels: int, out: Rows) -> None:
    """out[i, v] = how many limits the word of v exceeds; the level of the value itself is turned around.

    `limits` are sorted, 2^b - 1 in number, and so a level is found by b comparisons in every case: each decides
    whether to step over half of what is left. All values take a step before the next, and every level is written
    alike, so that none betrays the value.
    """
    values = out.shape[1]
    found = np.empty(values, np.int64)
    for i in range(out.shape[0]):
        own = words[i * values : (i + 1) * values]
        found[:] = 0
        half = (limits.shape[0] + 1) >> 1
        while half > 0:
            for v in range(values):
                found[v] += half * (own[v] > limits[found[v] + half - 1])
            half >>= 1
        for v in range(values):
            turned = np.int64(v == indices[i])
            out[i, v] = found[v] + turned * (levels - 1 - 2 * found[v])


@compiled
def add_levels(rows: Rows, sums: Counts) -> None:
    """sums[v] += the levels of v in all rows."""
    for i in range(rows.shape[0]):
        for v in range(rows.shape[1]):
            sums[v] += rows[i, v]


@compiled
def weigh_levels(rows: Rows, table: Floats, weights: Floats, out: Floats) -> None:
    """out[i] = the sum over values of their weight times the table at their level in row i."""
    for i in range(rows.shape[0]):
        total = 0.0
        for v in range(rows.shape[1]):
            total += weights[v] * table[rows[i, v]]
        out[i] = total


@compiled
def score_levels(rows: Rows, table: Floats, scores: Floats, out: Floats) -> None:
    """out[v] += the sum over rows of their score times the table at the level of v."""
    for i in range(rows.shape[0]):
        for v in range(rows.shape[1]):
            out[v] += scores[i] * table[rows[i, v]]
