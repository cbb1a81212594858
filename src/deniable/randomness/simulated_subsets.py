"""How often each value lies in many simulated subsets, at a cost that does not grow with their number.

Go through the values in order. A subset that still lacks r elements, with `left` values to come, takes the next
one with probability r/left, whatever it took before. So only the number of subsets that lack r has to be known
for each r: how many of them take the value is binomial. There are few different r, because they all lack
nearly the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts

_AT_ONCE = 5 * 10**8  # NumPy draws without replacement from fewer than 10^9


def subset_counts(with_value: Counts, free: int, size: int, source: np.random.Generator) -> Counts:
    """How many subsets hold each value: `free` uniform ones of `size` values, and others that hold a given value.

    with_value[v] subsets hold v and a uniform subset of size - 1 of the other values.
    """
    parts = 1 + int(with_value.sum()) // _AT_ONCE
    share, rest = np.divmod(with_value, parts)
    counts = _one_part(share + (rest > 0), free, size, source)
    for part in range(1, parts):
        counts += _one_part(share + (rest > part), 0, size, source)
    return counts


@dataclass
class _Lacking:
    """How many subsets lack `least`, least + 1, ... elements."""

    least: int
    number: Counts

    def take(self, left: int, source: np.random.Generator) -> int:
        """Let each take the next of `left` values, or not; returns how many did."""
        if not self.number.size:
            return 0
        lacking = np.arange(self.least, self.least + len(self.number))
        taking = source.binomial(self.number, lacking / left)
        number = np.append(0, self.number - taking)
        number[:-1] += taking
        self._keep(self.least - 1, number)
        return int(taking.sum())

    def move(self, many: int, other: _Lacking, source: np.random.Generator) -> None:
        """Hand over that many, drawn at random without replacement."""
        if many:
            moved = source.multivariate_hypergeometric(self.number, many, method="marginals")
            other.add(self.least, moved)
            self._keep(self.least, self.number - moved)

    def add(self, least: int, number: Counts) -> None:
        """Take over subsets that lack `least`, least + 1, ... elements."""
        if not self.number.size:
            self.least = least
        start, stop = min(least, self.least), max(least + len(number), self.least + len(self.number))
        total = np.zeros(stop - start, np.int64)
        total[self.least - start :][: len(self.number)] += self.number
        total[least - start :][: len(number)] += number
        self._keep(start, total)

    def _keep(self, least: int, number: Counts) -> None:
        some = np.flatnonzero(number)
        first, last = (int(some[0]), int(some[-1]) + 1) if some.size else (0, 0)
        self.least, self.number = least + first, number[first:last]


def _one_part(with_value: Counts, free: int, size: int, source: np.random.Generator) -> Counts:
    k = len(with_value)
    passed, ahead = _Lacking(size, np.array([free])), _Lacking(size - 1, with_value.sum(keepdims=True))
    counts = np.empty(k, np.int64)
    for value, own in enumerate(with_value.tolist()):
        # the value's own subsets are a random sample of those whose value is still ahead: all were treated alike
        now = _Lacking(0, np.zeros(0, np.int64))
        ahead.move(own, now, source)
        left = k - value
        counts[value] = own + passed.take(left, source) + ahead.take(left - 1, source)
        if own:
            passed.add(now.least, now.number)
    return counts
