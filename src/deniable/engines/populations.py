"""The values of simulated users: drawn from a distribution in a few nanoseconds each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats, Indices, Numbers
from deniable.core.domain import Domain, Label
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.validate import between, whole
from deniable.randomness.keystream import Stream

STRINGS = 1000
MOST_STRINGS = 2**22
_SMALL, _LARGE = 16, 24  # bits of a draw, for few and for many values
_FEW = 2**12


@dataclass(frozen=True, eq=False)
class Population:
    """A distribution over values, by their rank, whose shares are multiples of 1 / (length of its table).

    The table has each rank as often as its share says, and a uniform entry of it is a draw. `indices` are the indices
    of the values where those are not the ranks themselves, in an open domain.
    """

    labels: list[Label]
    table: Numbers
    indices: Indices | None = None

    @staticmethod
    def zipf(domain: Domain, power: float, strings: int | None = None) -> Population:
        """Shares that fall as 1/rank to this power; values rank in the order of the domain."""
        power = between(0, 10, zipf=power)
        if not isinstance(domain, Open):
            if strings is not None:
                raise InvalidArgument("strings", "be left out", strings, "This domain lists its values.")
            labels, indices = domain.all_labels(), None
        else:
            number = whole(1, MOST_STRINGS, strings=STRINGS if strings is None else strings)
            labels = [f"string-{rank}" for rank in range(1, number + 1)]
            indices = domain.indices(labels)
        bits = _SMALL if len(labels) <= _FEW else _LARGE
        shares = np.arange(1, len(labels) + 1, dtype=np.float64) ** -power
        ranks = np.arange(len(labels), dtype=np.int32)  # narrow, so that the table stays in the processor's cache
        return Population(labels, np.repeat(ranks, _apportioned(shares, 2**bits)), indices)

    def __len__(self) -> int:
        return len(self.labels)

    def draw(self, stream: Stream, users: int) -> Indices:
        """The ranks of the values of so many users."""
        small = len(self.table) == 2**_SMALL
        words = stream.words(-(-users // 4) if small else -(-users // 2)).astype("<u8", copy=False)
        places = words.view("<u2")[:users] if small else words.view("<u4")[:users] >> (32 - _LARGE)
        return np.asarray(self.table[places], np.int64)


def _apportioned(shares: Floats, entries: int) -> Indices:
    """Divide the entries of a table by these shares: rounded down, the rest to those with the largest remainders."""
    exact = shares / shares.sum() * entries
    whole_part: Indices = np.floor(exact).astype(np.int64)
    rest = entries - int(whole_part.sum())
    whole_part[np.argsort(whole_part - exact, kind="stable")[:rest]] += 1
    return whole_part
