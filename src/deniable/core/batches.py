"""How much of a long input is held at a time: a batch is bounded in bytes, for a report can be long, and in rows.

Whatever reads, makes, counts or writes reports batch by batch takes its sizes from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from deniable.core.arrays import Payloads

BYTES = 2**26  # of the reports in a batch
ROWS = 2**17  # beyond them, larger batches are not faster


def row_bytes(data: Payloads) -> int:
    """Bytes of one row of an array, which may have none."""
    return data.itemsize * math.prod(data.shape[1:])


def rows_at_once(size: int, most: int = ROWS) -> int:
    """How many rows of this size in bytes make a batch; always at least one.

    >>> rows_at_once(4), rows_at_once(2**14), rows_at_once(2**30)
    (131072, 4096, 1)
    """
    return max(1, min(most, BYTES // max(1, size)))


def slices(rows: int, size: int, most: int = ROWS) -> Iterator[slice]:
    """Divide this many rows of this size into batches, in order.

    >>> [(part.start, part.stop) for part in slices(5, 2**25)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = rows_at_once(size, most)
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))
