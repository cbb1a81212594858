"""From a 64-bit word to a uniform integer, and a choice without a branch."""

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
def _upper(one: Any, other: Any) -> Any:
    """The high half of the 128-bit product of two words."""
    high, low = one >> _HALF, one & _LOW
    middle = high * (other & _LOW) + ((low * (other & _LOW)) >> _HALF)
    other_middle = low * (other >> _HALF) + (middle & _LOW)
    return high * (other >> _HALF) + (middle >> _HALF) + (other_middle >> _HALF)


@part
def quotient(word: Any, divisor: Any, reciprocal: Any) -> Any:
    """Divide a word by an invariant number without dividing; reciprocal = (2^64 - 1) div divisor.

    It is below 2^64/divisor by at most 1, so the high half of word * reciprocal is the quotient or 1 less.
    """
    estimate = _upper(word, reciprocal)
    return estimate + np.uint64(word - estimate * divisor >= divisor)


@part
def kept(word: Any, value: Any, truth: Any, share: Any, reciprocal: Any) -> Any:
    """The value if word < truth, else (word - truth) div share: a uniform integer if share divides 2^64 - truth."""
    return picked(word < truth, value, quotient(word - truth, share, reciprocal))


@part
def picked(flag: Any, yes: Any, no: Any) -> Any:
    """`yes` if the flag is set, else `no`, both of 64 bits: by a mask of all ones or all zeros, so without a branch."""
    return no ^ ((no ^ yes) & (_NONE - np.uint64(flag)))
