"""Fourier transforms of long rows of real numbers, for convolutions: two to three times as fast as one long transform.

A row x of length N = R C is written as R rows of C numbers. With n = C a + b and frequency m = r + R s,

    X[r + R s] = sum_b w_N^(r b) (sum_a x[C a + b] w_R^(r a)) w_C^(s b),    w_N = e^(-2 pi i / N),

so R-point transforms of the columns, a turn of each number, and C-point transforms of the rows: all short enough for
the processor's cache, and several done at once. As x is real, r up to R/2 is enough. Frequencies come in the order
(r, s), which does not matter where spectra are multiplied and transformed back.

Columns are transformed some at a time, copied into the cache, and what is made goes into memory that the caller may
use again: new memory takes longer to get than to fill. Threads share the pieces, which do not depend on their number.

Reference: Bailey 1990, the four-step method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts, Floats, Spectrum
from deniable.core.extras import needed
from deniable.core.threads import share, workers

_LONG = 2**15  # shorter rows fit in the cache whole
_LARGE = 2**20  # shorter rows are not worth threads
_ROWS = 256
_COLUMNS_AT_ONCE, _ROWS_AT_ONCE = 64, 8
_NUMBERS_AT_ONCE = 2**15  # more rows than that, where they are short


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

    def forward(self, row: Floats | Counts, out: Spectrum | None = None) -> Spectrum:
        """The spectrum of a row, which is continued by zeros if it is short."""
        with needed():
            from scipy.fft import fft, rfft

        spectrum = np.empty(self.shape, np.complex128) if out is None else out
        if self.rows == 1:
            spectrum[:] = rfft(row, self.length)
            return spectrum
        whole, _ = divmod(len(row), self.columns)
        table, last = row[: whole * self.columns].reshape(whole, self.columns), row[whole * self.columns :]

        def by_columns(pieces: Iterable[slice]) -> None:
            own = np.zeros((self.rows, _COLUMNS_AT_ONCE))
            for piece in pieces:
                rest = last[piece]
                columns = own[:, : piece.stop - piece.start]
                columns[:whole] = table[:, piece]
                if whole < self.rows:
                    columns[whole, : len(rest)] = rest
                    columns[whole, len(rest) :] = 0.0
                spectrum[:, piece] = rfft(columns, axis=0)

        def by_rows(pieces: Iterable[slice]) -> None:
            for piece in pieces:
                self._turn(spectrum[piece], -1.0, piece.start)
                spectrum[piece] = fft(spectrum[piece], axis=1, overwrite_x=True)

        self._share(by_columns, self.columns, _COLUMNS_AT_ONCE)
        self._share(by_rows, len(spectrum), max(_ROWS_AT_ONCE, _NUMBERS_AT_ONCE // self.columns))
        return spectrum

    def backward(self, spectrum: Spectrum, out: Floats | None = None) -> Floats:
        """The row of a spectrum, which is overwritten."""
        with needed():
            from scipy.fft import ifft, irfft

        row = np.empty(self.length) if out is None else out
        if self.rows == 1:
            row[:] = irfft(spectrum, self.length, overwrite_x=True)
            return row
        table = row.reshape(self.rows, self.columns)

        def by_rows(pieces: Iterable[slice]) -> None:
            for piece in pieces:
                spectrum[piece] = ifft(spectrum[piece], axis=1, overwrite_x=True)
                self._turn(spectrum[piece], 1.0, piece.start)

        def by_columns(pieces: Iterable[slice]) -> None:
            for piece in pieces:
                table[:, piece] = irfft(np.ascontiguousarray(spectrum[:, piece]), self.rows, axis=0, overwrite_x=True)

        self._share(by_rows, len(spectrum), max(_ROWS_AT_ONCE, _NUMBERS_AT_ONCE // self.columns))
        self._share(by_columns, self.columns, _COLUMNS_AT_ONCE)
        return row

    def _share(self, work: Callable[[Iterable[slice]], None], number: int, at_once: int) -> None:
        """Let threads do the work on so many columns or rows."""
        pieces = [slice(start, min(number, start + at_once)) for start in range(0, number, at_once)]
        share(work, pieces, workers() if self.length >= _LARGE else 1)

    def _turn(self, rows: Spectrum, sign: float, first: int) -> None:
        from deniable.kernels.transforms import turn

        turn(rows, sign * 2 * np.pi / self.length, first)
