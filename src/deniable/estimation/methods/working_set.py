"""A channel restricted to a few values: where most frequencies are zero, products need not touch the rest.

The most likely distribution of n reports over many more values has few nonzero frequencies. While these are searched
for, all products are with the rows of C of a working set of values, and only for the reports that were made. If the
channel can list its entries, they are kept as a sparse matrix and a constant (most entries of a private channel are
equally low); else, or where the list would be long, the channel's own products are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.core.extras import needed
from deniable.estimation.channel import Listing, Operator

_LEAST_ADMITTED = 50
_SHARE_ADMITTED = 4  # admit at most one new value per this many already in the set
# most entries per value and cell of the channel; with more, its own products cost less
_LOOKED_AT = 64  # entries
_STORED = 4  # entries that are not the constant
_PIECE = 2**22  # entries listed at once
_SAMPLE = 16  # values from which the number of stored entries is estimated


class WorkingSet(Protocol):
    """The rows of some values and the columns of the reports that were made, by products."""

    @property
    def values(self) -> Indices:
        """The values, in the order of the weights."""
        ...

    def forward(self, weights: Floats) -> Floats:
        """C^T weights for the reports that were made."""
        ...

    def adjoint(self, scores: Floats) -> Floats:
        """C scores for the values of the set, from scores of the reports that were made."""
        ...

    def adjoint_squared(self, scores: Floats) -> Floats:
        """C scores as `adjoint` has them, with every entry of C squared."""
        ...

    def extended(self, more: Indices) -> WorkingSet:
        """The set with more values, which come last."""
        ...


@dataclass(frozen=True, eq=False)
class SeenChannel:
    """A channel and the reports that were made."""

    operator: Operator
    seen: Indices
    cells: int
    total: int  # values of the channel

    def gradient(self, scores: Floats) -> Floats:
        """C scores for all values."""
        return self.operator.adjoint(self.embed(scores))

    def embed(self, scores: Floats) -> Floats:
        """Scores of all reports: zero except for the reports that were made."""
        if len(self.seen) == self.cells:
            return scores
        everywhere = np.zeros(self.cells)
        everywhere[self.seen] = scores
        return everywhere

    def pick(self, shares: Floats) -> Floats:
        """The entries of the reports that were made."""
        return shares if len(self.seen) == self.cells else shares[self.seen]

    def restricted(self, values: Indices) -> WorkingSet:
        """The working set of these values, as a list of entries where the list is short."""
        listed = self._listed(values)
        return _Embedded(self, values) if listed is None else listed

    def _listed(self, values: Indices) -> WorkingSet | None:
        operator, entries, size = self.operator, len(values) * len(self.seen), self.cells + self.total
        if not isinstance(operator, Listing) or not 0 < entries <= _LOOKED_AT * size:
            return None
        sample = operator.entries(values[:: -(-len(values) // _SAMPLE)], self.seen)
        base = float(sample.min())
        if float((sample != base).mean()) * entries > _STORED * size:
            return None
        return _Listed(self, values[:0], base, None).extended(values)


@dataclass(frozen=True, eq=False)
class _Embedded:
    """A working set by products with the whole channel, in which the other values have weight zero."""

    channel: SeenChannel
    values: Indices

    def forward(self, weights: Floats) -> Floats:
        everything = np.zeros(self.channel.total)
        everything[self.values] = weights
        return self.channel.pick(self.channel.operator.forward(everything))

    def adjoint(self, scores: Floats) -> Floats:
        return self.channel.gradient(scores)[self.values]

    def adjoint_squared(self, scores: Floats) -> Floats:
        return self.channel.operator.adjoint_squared(self.channel.embed(scores))[self.values]

    def extended(self, more: Indices) -> WorkingSet:
        return _Embedded(self.channel, np.append(self.values, more)) if len(more) else self


@dataclass(frozen=True, eq=False)
class _Listed:
    """A working set by its entries: one constant, and the sparse differences from it."""

    channel: SeenChannel
    values: Indices
    base: float
    above: Any  # scipy.sparse, one row per value; None for no values

    def forward(self, weights: Floats) -> Floats:
        return np.asarray(self.base * weights.sum() + weights @ self.above)

    def adjoint(self, scores: Floats) -> Floats:
        return np.asarray(self.base * scores.sum() + self.above @ scores)

    def adjoint_squared(self, scores: Floats) -> Floats:
        # (base + above)^2
        squares = self.above.power(2) @ scores + 2 * self.base * (self.above @ scores)
        return np.asarray(self.base**2 * scores.sum() + squares)

    def extended(self, more: Indices) -> WorkingSet:
        with needed():
            from scipy.sparse import vstack

        if not len(more):
            return self
        pieces = np.array_split(more, min(len(more), -(-len(more) * len(self.channel.seen) // _PIECE)))
        rows = [self._rows(piece) for piece in pieces]
        above = vstack(rows if self.above is None else [self.above, *rows], format="csr")
        return _Listed(self.channel, np.append(self.values, more), self.base, above)

    def _rows(self, values: Indices) -> Any:
        with needed():
            from scipy.sparse import csr_array

        operator, seen = self.channel.operator, self.channel.seen
        assert isinstance(operator, Listing)
        entries = operator.entries(values, seen)
        places = np.flatnonzero(entries != self.base)
        rows, columns = np.divmod(places, len(seen))
        starts = np.searchsorted(rows, np.arange(len(values) + 1))
        return csr_array((entries.reshape(-1)[places] - self.base, columns, starts), entries.shape)


def admitted(gradient: Floats, inside: Indices) -> Indices:
    """The values outside the set that would gain most from being nonzero: at most a share of the number inside."""
    outside = gradient.copy()
    outside[inside] = 0.0
    gaining = np.flatnonzero(outside > 1)
    most = max(_LEAST_ADMITTED, len(inside) // _SHARE_ADMITTED)
    if len(gaining) > most:
        gaining = gaining[np.argpartition(outside[gaining], -most)[-most:]]
    return gaining
