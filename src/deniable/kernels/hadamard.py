"""The fast Walsh-Hadamard transform, in place: sums over parities of any row of numbers whose length is a power of two.

transformed[i] = sum_j row[j] (-1)^(number of ones of i & j). Whole numbers stay exact as long as sums of their sizes
fit 64 bits; applied twice it multiplies by the length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

_IN_CACHE = 4096  # numbers of a piece that is transformed by itself before pieces are put together

Rows = npt.NDArray[np.float64] | npt.NDArray[np.int64]


@compiled
def transform(rows: Rows) -> None:
    """Transform the last axis of a contiguous array of rows, in place.

    Cost: log2(length)/2 passes of additions; up to 4096 numbers at a time stay in the processor's nearest cache.
    """
    length = rows.shape[1]
    piece = min(length, _IN_CACHE)
    for i in range(rows.shape[0]):
        for start in range(0, length, piece):
            _combine(rows[i, start : start + piece], 1)
        _combine(rows[i], piece)


@compiled
def _combine(row: Any, ready: int) -> None:
    """Go on with a row whose consecutive parts of `ready` numbers are transformed; two doublings in one pass."""
    length = row.shape[0]
    step = ready
    while 4 * step <= length:
        for start in range(0, length, 4 * step):
            for j in range(start, start + step):
                a, b, c, d = row[j], row[j + step], row[j + 2 * step], row[j + 3 * step]
                row[j] = (a + b) + (c + d)
                row[j + step] = (a - b) + (c - d)
                row[j + 2 * step] = (a + b) - (c + d)
                row[j + 3 * step] = (a - b) - (c - d)
        step *= 4
    while 2 * step <= length:
        for start in range(0, length, 2 * step):
            for j in range(start, start + step):
                a, b = row[j], row[j + step]
                row[j] = a + b
                row[j + step] = a - b
        step *= 2
