"""Euclidean projection onto the simplex of any real vector, without sorting.

`simplex.py` does the same for whole counts, exactly. Unbiased estimates that are not an affine function
of counts come here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def nearest_distribution(frequencies: Floats) -> Floats:
    """The point of the simplex nearest to these numbers.

    Formula: f = max(0, number - t), with t such that it sums to 1. Start from all numbers; while some
    lie below t = (sum - 1)/R of the R numbers still in, drop them all. Dropping raises t, so none comes back.
    Numbers more than 1 below the largest are always dropped, so the sums are of numbers in [-1, 0] relative
    to the largest, and nothing cancels however large the numbers are.
    Guarantee: sums to 1 within a few roundings.
    Cost: a few passes over fewer and fewer numbers.
    Reference: Michelot 1986.
    """
    from deniable.kernels.projection import keep_above, lower

    moved: Floats = frequencies - frequencies.max()
    kept = np.empty_like(moved)
    size, total = keep_above(moved, -1.0, kept)
    while True:
        shift = (total - 1.0) / size
        kept = kept[:size]
        size, total = keep_above(kept, shift, kept)
        if size == len(kept):
            break
    out: Floats = np.empty_like(moved)
    lower(moved, shift, out)
    # the sum of many numbers has rounded: share out what is missing, by a sum that rounds less
    missing = (1.0 - float(out.sum())) / size
    lower(moved, shift - missing, out)
    return out
