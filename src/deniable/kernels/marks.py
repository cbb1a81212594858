"""Loops over bitmaps of marked values: sums of weights over the marks, and their transpose."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Rows = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@compiled
def sum_marked(rows: Rows, weights: Floats, out: Floats) -> None:
    """out[i] = the sum of the weights of the values that row i marks."""
    for i in range(rows.shape[0]):
        total = 0.0
        for j in range(rows.shape[1]):
            word, value = rows[i, j], 64 * j
            while word != _ZERO:
                if word & _ONE:
                    total += weights[value]
                word >>= _ONE
                value += 1
        out[i] = total


@compiled
def add_marked(rows: Rows, scores: Floats, out: Floats) -> None:
    """out[v] += scores[i] for every value v that row i marks."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            word, value = rows[i, j], 64 * j
            while word != _ZERO:
                if word & _ONE:
                    out[value] += scores[i]
                word >>= _ONE
                value += 1
