"""Channels made of Hadamard matrices, one per block: everything linear is one Walsh-Hadamard transform per block.

Value x is number x div h of block x mod h, and has the column first + x div h of its block's matrix, whose entry at
(u, c) is +1 if u & c has an even number of ones and -1 if odd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable.core.arrays import Floats, Indices, Mask, Numbers


def dealt(numbers: Numbers, values: int) -> Numbers:
    """The numbers of blocks, repeated for as many values: value x is in block x mod h."""
    return np.tile(numbers, -(-values // len(numbers)))[:values]


@dataclass(frozen=True)
class HadamardBlocks:
    """h blocks of matrices with `length` columns, the first value of a block in column `first`."""

    blocks: int
    length: int
    values: int
    first: int

    @property
    def _columns(self) -> slice:
        """The columns that have a value; the last blocks may have one less."""
        return slice(self.first, self.first - (-self.values // self.blocks))

    def deal(self, weights: Floats) -> Floats:
        """Place the weights of the values at their block and column, zeros elsewhere."""
        rows = np.zeros((self.blocks, self.length))
        full, rest = divmod(self.values, self.blocks)
        rows[:, self.first : self.first + full] = weights[: self.values - rest].reshape(full, self.blocks).T
        rows[:rest, self.first + full : self.first + full + 1] = weights[self.values - rest :, np.newaxis]
        return rows

    def read(self, rows: Numbers) -> Numbers:
        """The numbers at the block and column of each value."""
        return np.ascontiguousarray(rows[:, self._columns].T).reshape(-1)[: self.values]

    def sign_is(self, values: Indices, blocks: Indices, rows: Indices, signs: Indices) -> Mask:
        """Whether a value lies in a block and has a sign, 0 for + and 1 for -, in a matrix row; one row per value."""
        numbers, own = np.divmod(values[:, np.newaxis], self.blocks)
        return np.asarray((own == blocks) & (np.bitwise_count((self.first + numbers) & rows) % 2 == signs))

    def padded(self, cells: Numbers) -> Numbers:
        """Cells (B, u) for u from 1 on as rows of matrices, with zeros for u = 0."""
        rows = np.zeros((self.blocks, self.length), cells.dtype)
        rows[:, 1:] = cells.reshape(self.blocks, -1)
        return rows

    def of_block(self, numbers: Numbers) -> Numbers:
        """For each value, the number of its block."""
        return dealt(numbers, self.values)

    def signed(self, rows: Numbers) -> Numbers:
        """sum over u of +-rows[block, u], for every value. The rows are overwritten."""
        from deniable.kernels.hadamard import transform

        transform(rows)
        return self.read(rows)


@dataclass(frozen=True)
class Parities:
    """Reports (B, u), the cells B (b - 1) + u - 1 for u from 1 on, support the values of block B by the sign +.

    Column 0 must have no value: all its signs are +.
    """

    matrices: HadamardBlocks
    quick: ClassVar[bool] = True

    def scatter(self, weights: Floats) -> Floats:
        from deniable.kernels.hadamard import transform

        rows = self.matrices.deal(weights)
        rows[:, 0] = rows.sum(axis=1)
        transform(rows)  # sum of weight (1 + sign): twice the weight with the sign +
        return np.asarray(rows[:, 1:] / 2)

    def gather(self, scores: Floats) -> Floats:
        rows = self.matrices.padded(scores.astype(np.float64, copy=False))
        totals = rows.sum(axis=1)
        sums = self.matrices.signed(rows)
        sums += totals if len(totals) == 1 else self.matrices.of_block(totals)
        sums /= 2
        return np.asarray(sums)

    def supported(self, values: Indices, reports: Indices) -> Mask:
        blocks, rows = np.divmod(reports, self.matrices.length - 1)
        return self.matrices.sign_is(values, blocks, rows + 1, np.zeros_like(rows))


@dataclass(frozen=True)
class Signs:
    """Reports (r, B, sign), the cells ((r - 1) h + B) 2 + sign for rows r from 1 on, support values by sign.

    These are the values of block B that have this sign in row r.
    """

    matrices: HadamardBlocks
    quick: ClassVar[bool] = True

    def scatter(self, weights: Floats) -> Floats:
        from deniable.kernels.hadamard import transform

        rows = self.matrices.deal(weights)
        transform(rows)
        totals, signed = rows[:, :1].T, rows[:, 1:].T
        return np.stack([totals + signed, totals - signed], axis=-1) / 2

    def gather(self, scores: Floats) -> Floats:
        cells = by_row(scores, self.matrices)
        rows = np.empty((self.matrices.blocks, self.matrices.length))
        rows[:, 0] = block_totals(scores, self.matrices)
        rows[:, 1:] = (cells[:, :, 0] - cells[:, :, 1]).T
        return np.asarray(self.matrices.signed(rows) / 2)

    def supported(self, values: Indices, reports: Indices) -> Mask:
        places, signs = np.divmod(reports, 2)
        rows, blocks = np.divmod(places, self.matrices.blocks)
        return self.matrices.sign_is(values, blocks, rows + 1, signs)


def by_row(cells: Numbers, matrices: HadamardBlocks) -> Numbers:
    """Cells of (r, B, sign) as an array with these axes."""
    return cells.reshape(matrices.length - 1, matrices.blocks, 2)


def block_totals(cells: Numbers, matrices: HadamardBlocks) -> Numbers:
    """For each block, the sum of its cells of (r, B, sign): first over rows, which lie far apart in memory."""
    totals: Numbers = cells.reshape(matrices.length - 1, -1).sum(axis=0).reshape(-1, 2).sum(axis=1)
    return totals
