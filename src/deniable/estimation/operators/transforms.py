"""Fourier transforms of long rows of real numbers, for convolutions: two to three times as fast as one long transform.

A row x of length N = R C is written as R rows of C numbers. With n = C a + b and frequency m = r + R s,

    X[r + R s] = sum_b w_N^(r b) (sum_a x[C a + b] w_R^(r a)) w_C^(s b),    w_N = e^(-2 pi i / N),

so R-point transforms of the columns, a turn of each number, and C-point transforms of the rows: all short enough for
the processor's cache, and several done at once. As x is real, r up to R/2 is enough. Frequencies come in the order
(r, s), which does not matter where spectra are multiplied and transformed back.

Reference: Bailey 1990, the four-step method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Spectrum
from deniable.core.extras import needed

_LONG = 2**15  # shorter rows fit in the cache whole
_ROWS = 256


@dataclass(frozen=True)
class Transform:
    """The transform of rows of `rows` times `columns` real numbers."""

    rows: int
    columns: int

    @staticmethod
    def of_at_least(length: int) -> Transform:
        """The fastest transform of so many numbers or some more."""
        with needed():
            from scipy.fft import next_fast_len

        if length < _LONG:
            return Transform(1, int(next_fast_len(length, real=True)))
        return Transform(_ROWS, int(next_fast_len(-(-length // _ROWS))))

    @property
    def length(self) -> int:
        """Numbers in a row."""
        return self.rows * self.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a spectrum."""
        return (self.length // 2 + 1,) if self.rows == 1 else (self.rows // 2 + 1, self.columns)

    def forward(self, row: Floats) -> Spectrum:
        """The spectrum of a row, which is continued by zeros if it is short."""
        with needed():
            from scipy.fft import fft, rfft

        if self.rows == 1:
            return np.asarray(rfft(row, self.length))
        if len(row) < self.length:
            padded = np.zeros(self.length)
            padded[: len(row)] = row
            row = padded
        spectrum = rfft(row.reshape(self.rows, self.columns), axis=0)
        self._turn(spectrum, -1.0)
        return np.asarray(fft(spectrum, axis=1, overwrite_x=True))

    def backward(self, spectrum: Spectrum) -> Floats:
        """The row of a spectrum, which may be overwritten."""
        with needed():
            from scipy.fft import ifft, irfft

        if self.rows == 1:
            return np.asarray(irfft(spectrum, self.length, overwrite_x=True))
        spectrum = ifft(spectrum, axis=1, overwrite_x=True)
        self._turn(spectrum, 1.0)
        return np.asarray(irfft(spectrum, self.rows, axis=0, overwrite_x=True)).reshape(-1)

    def _turn(self, spectrum: Any, sign: float) -> None:
        from deniable.kernels.transforms import turn

        turn(spectrum, sign * 2 * np.pi / self.length)
