"""The rows of a channel for some values and reports, as a list of entries: one constant, and what is above it.

Most entries of a private channel have one of two levels. If few have the higher one they are kept as a sparse matrix,
else as one byte per entry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from deniable.core.arrays import Codes, Floats, Indices
from deniable.core.extras import needed
from deniable.estimation.channel import Listing, Paired

_PIECE = 2**22  # entries listed at once


class _Matrix(Protocol):
    def __matmul__(self, scores: Floats) -> Floats: ...
    def __rmatmul__(self, weights: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class _Listed(ABC):
    """The codes of values' entries, by row, and of the reports that were made, by column."""

    operator: Listing
    values: Indices
    seen: Indices
    codes: Any
    listed: ClassVar[bool] = True

    @classmethod
    def of(cls, operator: Listing, values: Indices, seen: Indices) -> Self:
        """List the entries of these values and reports."""
        codes = cls._stacked([], cls._pieces(operator, values, seen), len(values), len(seen))
        return cls(operator, values, seen, codes)

    def extended(self, more: Indices) -> Self:
        """The same with more values, which come last."""
        if not len(more):
            return self
        values, pieces = np.append(self.values, more), self._pieces(self.operator, more, self.seen)
        codes = self._stacked([self.codes], pieces, len(values), len(self.seen))
        return type(self)(self.operator, values, self.seen, codes)

    @staticmethod
    def _pieces(operator: Listing, values: Indices, seen: Indices) -> Iterator[Any]:
        """The codes of some values at a time."""
        each = max(1, _PIECE // len(seen))
        return (operator.codes(values[start : start + each], seen) for start in range(0, len(values), each))

    @classmethod
    @abstractmethod
    def _stacked(cls, known: list[Any], pieces: Iterator[Any], rows: int, columns: int) -> Any:
        """What is known and new pieces, one above the other."""

    @abstractmethod
    def _above(self, steps: Floats) -> _Matrix:
        """The matrix of what each entry is above the constant, given the step from it to each level."""

    @cached_property
    def _plain(self) -> _Matrix:
        return self._above(self._steps)

    @property
    def _constant(self) -> float:
        return self.operator.levels[0]

    @property
    def _steps(self) -> Floats:
        return np.array(self.operator.levels) - self._constant

    def forward(self, weights: Floats) -> Floats:
        return np.asarray(self._constant * weights.sum() + weights @ self._plain)

    def adjoint(self, scores: Floats) -> Floats:
        return np.asarray(self._constant * scores.sum() + self._plain @ scores)

    def adjoint_squared(self, scores: Floats) -> Floats:
        # (constant + step)^2 = constant^2 + step (step + 2 constant)
        above = self._above(self._steps * (self._steps + 2 * self._constant))
        return np.asarray(self._constant**2 * scores.sum() + above @ scores)


class Sparse(_Listed):
    """A list of the entries above the constant. `codes` is a matrix of scipy.sparse."""

    @staticmethod
    def _pieces(operator: Listing, values: Indices, seen: Indices) -> Iterator[Any]:
        with needed():
            from scipy.sparse import coo_array

        found = operator.above(values, seen) if isinstance(operator, Paired) else None
        if found is None:
            yield from map(_sparse, _Listed._pieces(operator, values, seen))
            return
        rows, columns, codes = found
        yield coo_array((codes, (rows, columns)), (len(values), len(seen))).tocsr()

    @classmethod
    def _stacked(cls, known: list[Any], pieces: Iterator[Any], rows: int, columns: int) -> Any:
        del rows, columns
        with needed():
            from scipy.sparse import vstack

        return vstack([*known, *pieces], format="csr")

    def _above(self, steps: Floats) -> _Matrix:
        matrix: _Matrix = _in_place_of_codes(self.codes, steps)
        return matrix


class Dense(_Listed):
    """One byte per entry, 1 at the second level, and a sparse matrix of the rare codes above it: `codes` is both."""

    @classmethod
    def _stacked(cls, known: list[Any], pieces: Iterator[Codes], rows: int, columns: int) -> Any:
        mask, start = np.empty((rows, columns), np.uint8), 0
        rare = []
        for old, old_rare in known:
            mask[: len(old)], start = old, len(old)
            rare.append(old_rare)
        for codes in pieces:
            np.equal(codes, 1, out=mask[start : start + len(codes)].view(np.bool_))
            rare.append(_sparse(np.where(codes > 1, codes, 0)))
            start += len(codes)
        with needed():
            from scipy.sparse import vstack

        return mask, vstack(rare, format="csr")

    def _above(self, steps: Floats) -> _Matrix:
        mask, rare = self.codes
        return _Bytes(mask, steps[1], _in_place_of_codes(rare, steps))


@dataclass(frozen=True, eq=False)
class _Bytes:
    """One number where a byte is 1, and a sparse matrix elsewhere."""

    __array_ufunc__ = None  # so that NumPy leaves `weights @ this` to us
    mask: Codes
    step: float
    rare: Any

    def __matmul__(self, scores: Floats) -> Floats:
        from deniable.kernels.incidence import row_sums

        out = np.empty(len(self.mask))
        row_sums(self.mask, scores, out)
        return np.asarray(self.step * out + self.rare @ scores)

    def __rmatmul__(self, weights: Floats) -> Floats:
        from deniable.kernels.incidence import column_sums

        out = np.empty(self.mask.shape[1])
        column_sums(self.mask, weights, out)
        return np.asarray(self.step * out + weights @ self.rare)


def _sparse(codes: Codes) -> Any:
    """The codes above 0 as a sparse matrix."""
    with needed():
        from scipy.sparse import csr_array

    places = np.flatnonzero(codes)
    rows, columns = np.divmod(places, codes.shape[1])
    starts = np.searchsorted(rows, np.arange(len(codes) + 1))
    return csr_array((codes.reshape(-1)[places], columns, starts), codes.shape)


def _in_place_of_codes(codes: Any, steps: Floats) -> Any:
    """A sparse matrix with the step to a level in place of the level's code."""
    with needed():
        from scipy.sparse import csr_array

    return csr_array((steps[codes.data], codes.indices, codes.indptr), codes.shape)
