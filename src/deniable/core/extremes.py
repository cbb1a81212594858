"""The least and the largest entry of a long array, read once: both are found while a piece is in the cache."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deniable.core.arrays import Numbers
from deniable.core.threads import share, workers

LARGE = 2**22  # entries from which threads pay
_PIECE = 2**16  # entries that stay in the cache


def extremes(array: Numbers, *, threaded: bool = True) -> tuple[Any, Any]:
    """Return the least and the largest entry of an array that has some.

    >>> import numpy as np
    >>> tuple(map(int, extremes(np.array([3, 1, 2]))))
    (1, 3)
    """

    def found(starts: Iterable[int]) -> tuple[list[Any], list[Any]]:
        lows, highs = [], []
        for start in starts:  # one at a time: whoever lists them takes them all
            part = array[start : start + _PIECE]
            lows.append(part.min())
            highs.append(part.max())
        return lows, highs

    threads = workers() if threaded and len(array) >= LARGE else 1
    made = share(found, range(0, len(array), _PIECE), threads)
    return min(min(lows) for lows, _ in made if lows), max(max(highs) for _, highs in made if highs)
