"""Compiled loops: arrays in, arrays out, random words are an argument.

Importing this package loads numba; upper layers do so inside the functions that need a kernel.
Each kernel has a slow, obvious twin in tests/naive.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile on first use and keep the result on disk; the loop runs without the interpreter lock."""
    return numba.njit(function, cache=True, nogil=True, error_model="numpy")  # type: ignore[no-any-return]
