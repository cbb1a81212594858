"""Compiled loops: arrays in, arrays out, random words are an argument.

Importing this package loads numba; upper layers do so inside the functions that need a kernel.
Each kernel has a slow, obvious twin in tests/naive/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile on first use; the loop runs without the interpreter lock.

    The result is cached on disk beside the source, or in NUMBA_CACHE_DIR; where neither can be written (a read-only
    installation and a user without a home) every process compiles it again.
    """
    options = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(function, cache=True, **options)  # type: ignore[no-any-return]
    except RuntimeError:  # numba found no place for the cache
        return numba.njit(function, **options)  # type: ignore[no-any-return]


@compiled
def high_half(word: Any, bound: Any) -> Any:
    """The high half of the 128-bit product word * bound, for a bound below 2^32 (see randomness/choices.py).

    The low half, to be tested for rejection, is the product in 64 bits.
    """
    return ((word >> _HALF) * bound + (((word & _LOW) * bound) >> _HALF)) >> _HALF
