"""Channels made of equal blocks, each the shifts of one set in the integers modulo b: one batch of short FFTs.

Value x is number x div h of block x mod h. A report (B, y), the cell B b + y, supports value v of block B when
y - v lies in D, and no value of another block.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Integers, Mask, Numbers
from deniable.core.extras import needed
from deniable.estimation.operators.hadamard import dealt

_EXACT = 2**26  # counts are transformed in pieces of this size, so that rounding gives the exact integer


@dataclass(frozen=True, eq=False)
class ShiftBlocks:
    """The set D in Z_b, the number h of blocks, and the number of values dealt to them in turn."""

    modulus: int
    base: Integers
    blocks: int
    values: int
    quick: ClassVar[bool] = False

    @property
    def _longest(self) -> int:
        """Values per block; the last blocks may have one less."""
        return -(-self.values // self.blocks)

    @cached_property
    def _padded(self) -> tuple[int, Any]:
        """A length for which transforms are fast, and the set's transform at that length.

        b may be a large prime. A value moved by an element stays below b + longest - 1, so that nothing wraps around.
        """
        with needed():
            from scipy.fft import next_fast_len, rfft

        length = int(next_fast_len(self.modulus + self._longest - 1, real=True))
        row = np.zeros(length)
        row[self.base] = 1.0
        return length, rfft(row)

    def gather(self, scores: Numbers) -> Floats:
        """sum_(d in D) scores[B, v + d], for every value."""
        with needed():
            from scipy.fft import irfft, rfft

        rows = scores.reshape(self.blocks, self.modulus)
        length, members = self._padded
        around = np.zeros((self.blocks, length))
        around[:, : self.modulus] = rows
        beyond = self._longest - 1  # the rows are continued cyclically, as far as v + d may reach
        around[:, self.modulus : self.modulus + beyond] = rows[:, :beyond]
        spectra = rfft(around, axis=1)
        spectra *= np.conj(members)
        sums = irfft(spectra, length, axis=1, overwrite_x=True)[:, : self._longest]
        return np.ascontiguousarray(sums.T).reshape(-1)[: self.values]

    def scatter(self, weights: Floats) -> Floats:
        """sum_(d in D) weights[B, y - d], for every (B, y): the transpose of `gather`."""
        with needed():
            from scipy.fft import irfft, rfft

        length, members = self._padded
        dealt = np.zeros(self._longest * self.blocks)
        dealt[: self.values] = weights
        spectra = rfft(np.ascontiguousarray(dealt.reshape(-1, self.blocks).T), length, axis=1)
        spectra *= members
        sums = irfft(spectra, length, axis=1, overwrite_x=True)
        out = np.ascontiguousarray(sums[:, : self.modulus])
        beyond = self._longest - 1  # a sum y = v + d >= b wraps around to y - b
        out[:, :beyond] += sums[:, self.modulus : self.modulus + beyond]
        return out

    def support(self, counts: Counts) -> Counts:
        """For each value, the exact number of reports that support it."""
        if counts.max() >= _EXACT:
            return self.support(counts % _EXACT) + _EXACT * self.support(counts // _EXACT)
        return np.rint(self.gather(counts)).astype(np.int64)

    def neighbours(self, counts: Counts) -> Counts:
        """For each value, the number of reports in its block."""
        totals = counts.reshape(self.blocks, self.modulus).sum(axis=1)
        return dealt(totals, self.values)

    def supported(self, values: Indices, reports: Indices) -> Mask:
        """Whether B is the value's block and y - v lies in D, for reports (B, y) and one row per value."""
        numbers, own = np.divmod(values[:, np.newaxis], self.blocks)
        blocks, shifted = np.divmod(reports, self.modulus)
        members = np.zeros(self.modulus, np.bool_)
        members[self.base] = True
        return np.asarray((own == blocks) & members[(shifted - numbers) % self.modulus])
