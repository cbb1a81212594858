"""Checking and counting a batch of reports, by several threads where it is large."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deniable.core.arrays import Counts, Payloads
from deniable.core.errors import MalformedReport
from deniable.core.threads import share, workers
from deniable.mechanisms.layouts.layout import Layout

LARGE = 2**23  # bytes of reports from which threads pay
_PIECES = 4  # per thread, so that none waits long for another


def counted(layout: Layout, data: Payloads) -> tuple[Counts, int]:
    """Return the counts of unchecked reports and their number, or raise MalformedReport as `layout.check` does.

    Each thread has counts of its own; together they take no more memory than the reports.
    """
    counts = np.zeros(layout.cells, np.int64)
    threads = workers() if data.nbytes >= LARGE else 1
    threads = max(1, min(threads, data.nbytes // counts.nbytes))
    if threads == 1:
        checked = layout.check(data)
        layout.count(checked, counts)
        return counts, len(checked)

    def count(pieces: Iterable[slice]) -> Counts:
        own = np.zeros(layout.cells, np.int64)
        for piece in pieces:
            layout.count(layout.check(data[piece]), own)
        return own

    size = -(-len(data) // (_PIECES * threads))
    first, *rest = (slice(start, start + size) for start in range(0, len(data), size))
    try:
        counts += count([first])  # which compiles the loop
        for own in share(count, rest, threads):
            counts += own
    except MalformedReport:
        layout.check(data)  # which names the position in the batch
        raise
    return counts, len(data)
