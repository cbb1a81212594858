"""Reading counts: integers of any size, in arrays of any shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Numbers, is_masked
from deniable.core.errors import InvalidArgument, kind_of

EXACT = 2**53  # floats represent all integers up to here


def whole_counts(counts: Any, name: str = "counts") -> Numbers:
    """Return an array of int64, or of Python integers if one of them is too large; refuse anything else.

    The result may be the argument itself: copy it before keeping it.
    """
    if not isinstance(counts, np.ndarray) and hasattr(counts, "to_numpy"):
        counts = counts.to_numpy()
    if is_masked(counts):
        raise InvalidArgument(name, "be whole numbers, none of them masked", "a masked array")
    try:
        array = np.asarray(counts)
    except ValueError:  # rows of unequal length
        raise InvalidArgument(name, "be whole numbers in rows of equal length", kind_of(counts)) from None
    if array.size == 0:
        return np.zeros(array.shape, np.int64)
    if array.dtype.kind == "i":
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "u":
        return array.astype(np.int64 if int(array.max()) < 2**63 else object)
    array = array if array.dtype == object else np.asarray(counts, dtype=object)
    if array.dtype == object:
        for value in array.flat:
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
                raise InvalidArgument(name, "be whole numbers", kind_of(value))  # true counts are secret
        small = all(-(2**63) <= value < 2**63 for value in array.flat)
        return array.astype(np.int64) if small else np.vectorize(int, otypes=[object])(array)
    raise InvalidArgument(name, "be whole numbers", f"an array of {array.dtype}")


def fits_floats(values: Numbers) -> bool:
    """Whether floats represent all these values, and their neighbours, exactly."""
    return bool(values.dtype != object and int(values.min()) > -EXACT and int(values.max()) < EXACT)
