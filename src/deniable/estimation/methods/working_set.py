"""A channel restricted to a few values: where most frequencies are zero, products need not touch the rest.

The most likely distribution of n reports over many more values has few nonzero frequencies. While these are searched
for, all products are with the rows of C of a working set of values, and only for the reports that were made. If the
channel can list its entries, products are with the list (listed_channel.py); else, or where the list would be long,
with the channel itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.estimation.channel import Listing, Operator, Sparing
from deniable.estimation.methods.listed_channel import Dense, Sparse

_LEAST_ADMITTED = 50
_SHARE_ADMITTED = 4  # admit at most one new value per this many already in the set
# most entries per value and cell of the channel; with more, its own products cost less
_LOOKED_AT, _IF_QUICK = 128, 16  # entries
_SMALL = 32  # entries of a list whose products cost far less
_LARGE = 2**18  # values and cells of a channel whose own products take long
_STORED = 4  # entries of a sparse list
_SPARSE = 0.125  # share of entries that are not the constant, up to which a sparse list is shorter
_ROOM = 2**28  # bytes of a dense list
_SAMPLE = 16  # values from which the share is estimated
_FEW = 16  # cells per report that was made, from which the others are left out: to pick and place reports takes longer


class WorkingSet(Protocol):
    """The rows of some values and the columns of the reports that were made, by products."""

    @property
    def values(self) -> Indices:
        """The values, in the order of the weights."""
        ...

    @property
    def listed(self) -> bool:
        """Whether products are with a list of entries."""
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
        if _FEW * len(self.seen) <= self.cells and isinstance(self.operator, Sparing):
            return self.operator.adjoint_of(self.seen, scores)
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

    @property
    def large(self) -> bool:
        """Whether products with the whole channel take long."""
        return self.cells + self.total >= _LARGE

    def dwarfs(self, part: WorkingSet) -> bool:
        """Whether a gradient for all values takes as long as many products with a working set."""
        return part.listed and self.affords(len(part.values))

    def affords(self, values: int) -> bool:
        """Whether a list of so many values is far shorter than a product with the whole channel takes."""
        return self.large and values * len(self.seen) <= _SMALL * (self.cells + self.total)

    def _listed(self, values: Indices) -> WorkingSet | None:
        operator, entries, size = self.operator, len(values) * len(self.seen), self.cells + self.total
        if not isinstance(operator, Listing):
            return None
        if not 0 < entries <= (_IF_QUICK if operator.quick else _LOOKED_AT) * size:
            return None
        share = float((operator.codes(values[:: -(-len(values) // _SAMPLE)], self.seen) > 0).mean())
        if share <= _SPARSE:
            return Sparse.of(operator, values, self.seen) if share * entries <= _STORED * size else None
        return Dense.of(operator, values, self.seen) if entries <= _ROOM else None


@dataclass(frozen=True, eq=False)
class _Embedded:
    """A working set by products with the whole channel, in which the other values have weight zero."""

    channel: SeenChannel
    values: Indices
    listed: ClassVar[bool] = False

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


def admitted(gradient: Floats, inside: Indices) -> Indices:
    """The values outside the set that would gain most from being nonzero: at most a share of the number inside."""
    outside = gradient.copy()
    outside[inside] = 0.0
    gaining = np.flatnonzero(outside > 1)
    most = max(_LEAST_ADMITTED, len(inside) // _SHARE_ADMITTED)
    if len(gaining) > most:
        gaining = gaining[np.argpartition(outside[gaining], -most)[-most:]]
    return gaining


def foremost(numbers: Floats, inside: Indices) -> Indices:
    """As many values outside the set as inside, or some more, with the largest numbers."""
    outside = numbers.copy()
    outside[inside] = -np.inf
    most = min(max(_LEAST_ADMITTED, len(inside)), len(numbers) - len(inside))
    return np.sort(np.argpartition(outside, len(outside) - most)[len(outside) - most :]) if most else inside[:0]
