"""The loop between the two halves of a long Fourier transform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.arrays import Spectrum
from deniable.kernels import compiled

_PIECE = 64  # columns per sine and cosine of their own


@compiled
def turn(table: Spectrum, angle: Any, first: Any) -> None:
    """Multiply the number in row r and column c by e^(i angle (first + r) c)."""
    turns = np.empty(_PIECE, np.complex128)
    for row in range(table.shape[0]):
        step = angle * (first + row)
        for place in range(_PIECE):
            turns[place] = complex(math.cos(step * place), math.sin(step * place))
        for start in range(0, table.shape[1], _PIECE):
            here = complex(math.cos(step * start), math.sin(step * start))
            for place in range(min(_PIECE, table.shape[1] - start)):
                table[row, start + place] *= here * turns[place]
