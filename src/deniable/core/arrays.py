"""The array types of the library, by what they hold. No other module names one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Spectrum = npt.NDArray[np.complex128]  # of a Fourier transform
Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]  # how often something occurred
Indices = npt.NDArray[np.int64]  # values by their place in the domain, or other places
Integers = npt.NDArray[np.int64]  # any other whole numbers
Words = npt.NDArray[np.uint64]  # random words, and thresholds to compare them with
Bitmaps = npt.NDArray[np.uint64]  # rows of 64 bits each
Symbols = npt.NDArray[np.uint32]  # reports that are one number, and numbers as small
Keys = npt.NDArray[np.uint32]  # round keys of permutations
Bytes = npt.NDArray[np.uint8]
Levels = npt.NDArray[np.uint16]  # of heavy hitters, one per report
Payloads = npt.NDArray[Any]  # unsigned integers: one, or one row of them, per report
Table = npt.NDArray[Any]  # buckets: uint16, or uint32 where there are many
Numbers = npt.NDArray[Any]  # float64 or int64, or Python integers where those are too small
