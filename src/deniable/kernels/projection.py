"""Loops over frequencies: keep what lies above a threshold, and lower what is kept by it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled

Floats = npt.NDArray[np.float64]


@compiled
def keep_above(numbers: Floats, threshold: float, kept: Floats) -> tuple[int, float]:
    """Copy the numbers above the threshold to the front of `kept`; how many they are, and their sum.

    `kept` is `numbers` itself, or has as much room. The loop has no branch: it writes every number and
    moves on only if it is kept.
    """
    size = 0
    total = 0.0
    for i in range(numbers.shape[0]):
        number = numbers[i]
        kept[size] = number
        keep = number > threshold
        size += keep
        total += number if keep else 0.0
    return size, total


@compiled
def lower(numbers: Floats, by: float, out: Floats) -> None:
    """out = number - by, never below zero."""
    for i in range(numbers.shape[0]):
        out[i] = max(numbers[i] - by, 0.0)
