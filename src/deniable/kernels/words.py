"""From a 64-bit word to a uniform integer below a bound of up to 32 bits, and a choice without a branch."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.kernels import part

_NONE = np.uint64(0)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@part
def high_half(word: Any, bound: Any) -> Any:
    """The high half of the 128-bit product word * bound, for a bound below 2^32 (see randomness/choices.py).

    The low half, to be tested for rejection, is the product in 64 bits.
    """
    return ((word >> _HALF) * bound + (((word & _LOW) * bound) >> _HALF)) >> _HALF


@part
def picked(flag: Any, yes: Any, no: Any) -> Any:
    """`yes` if the flag is set, else `no`, both of 64 bits: by a mask of all ones or all zeros, so without a branch."""
    return no ^ ((no ^ yes) & (_NONE - np.uint64(flag)))
