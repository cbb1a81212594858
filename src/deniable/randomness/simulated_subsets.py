"""Counts of each value in many simulated subsets, at a cost that does not grow with the number of subsets.

Go through the values in order. A subset that still lacks r elements, with `remaining` values to come, takes the next
value with probability r/remaining, regardless of what it took before. So only the number of subsets that lack r must be
known for each r, and the number of those that take the value is binomial. There are few different r, because all
subsets lack nearly the same number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts

_AT_ONCE = 5 * 10**8  # NumPy draws without replacement from fewer than 10^9


def subset_counts(with_value: Counts, free: int, size: int, source: np.random.Generator) -> Counts:
    """The number of subsets that hold each value: `free` uniform subsets of `size` values, and with_value[v] others.

    Each of the latter holds v and a uniform subset of size - 1 of the other values.
    """
    parts = 1 + int(with_value.sum()) // _AT_ONCE
    share, rest = np.divmod(with_value, parts)
    counts = _one_part(share + (rest > 0), free, size, source)
    for part in range(1, parts):
        counts += _one_part(share + (rest > part), 0, size, source)
    return counts


@dataclass
class _Lacking:
    """The number of subsets that lack `least`, least + 1, ... elements."""

    least: int
    number: Counts

    def take(self, remaining: int, source: np.random.Generator) -> int:
        """Let each subset take the next of the remaining values, or not; return the number that did."""
        if not self.number.size:
            return 0
        lacking = np.arange(self.least, self.least + len(self.number))
        taking = source.binomial(self.number, lacking / remaining)
        number = np.append(0, self.number - taking)
        number[:-1] += taking
        self._keep(self.least - 1, number)
        return int(taking.sum())

    def move(self, many: int, other: _Lacking, source: np.random.Generator) -> None:
        """Move `many` subsets to `other`, drawn at random without replacement."""
        if many:
            moved = source.multivariate_hypergeometric(self.number, many, method="marginals")
            other.add(self.least, moved)
            self._keep(self.least, self.number - moved)

    def add(self, least: int, number: Counts) -> None:
        """Add subsets that lack `least`, least + 1, ... elements."""
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
    for value, holding in enumerate(with_value.tolist()):
        # the subsets given this value are a random sample of those whose value is still ahead: all were treated alike
        now = _Lacking(0, np.zeros(0, np.int64))
        ahead.move(holding, now, source)
        remaining = k - value
        counts[value] = holding + passed.take(remaining, source) + ahead.take(remaining - 1, source)
        if holding:
            passed.add(now.least, now.number)
    return counts
