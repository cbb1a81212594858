"""The array types of the library, named for their contents. No other module defines one."""

from __future__ import annotations

import sys
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Spectrum = npt.NDArray[np.complex128]  # of a Fourier transform
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]  # how often something occurred
Indices = npt.NDArray[np.int64]  # positions of values in the domain, or other positions
Integers = npt.NDArray[np.int64]  # any other integers
Words = npt.NDArray[np.uint64]  # random words, and thresholds to compare them with
Bitmaps = npt.NDArray[np.uint64]  # rows of 64-bit words
Symbols = npt.NDArray[np.uint32]  # reports that are one number, and other numbers below 2^32
Keys = npt.NDArray[np.uint32]  # round keys of permutations
Bytes = npt.NDArray[np.uint8]
Codes = npt.NDArray[np.uint8]  # which of a few levels an entry has
Levels = npt.NDArray[np.uint16]  # heavy-hitter levels, one per report
Groups = npt.NDArray[Any]  # in which group each row is: uint16, or int64
Payloads = npt.NDArray[Any]  # unsigned integers: one per report, or one row per report
Table = npt.NDArray[Any]  # bucket numbers: uint16, or uint32 where there are more
Numbers = npt.NDArray[Any]  # float64, int64, or Python integers where 64 bits are too few


def is_masked(values: object) -> TypeGuard[np.ma.MaskedArray[Any, Any]]:
    """Whether it is a masked array; there is none before somebody has imported numpy.ma, which takes a while."""
    return "numpy.ma" in sys.modules and isinstance(values, np.ma.MaskedArray)
