"""The variance of a decision tree's answer at given counts, exactly: a sum over pairs of leaves.

The answer is a sum over leaves of value times volume, and a volume is a product over counts. So the expected square is
a sum over pairs of leaves, of products over counts of E[w_l(y + Z) w_m(y + Z)], where w_l = L 1[count in the leaf's
range] is 0 or 1 except next to a threshold. For any g and h, E[L g L h] - g h is the expectation of
a^2 D2 g D2 h + a (up g up h + down g down h): only the points next to thresholds count.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.errors import InvalidArgument
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.questions.tree_forms import Leaf, Tree

MAX_LEAVES = 2**11  # a matrix of all pairs then takes 32 MB


class Rectangle(NamedTuple):
    """A leaf: its value, and for each count that was tested on the way the open lower and closed upper end."""

    value: float
    ends: dict[int, tuple[float, float]]


def rectangles(tree: Tree, ends: dict[int, tuple[float, float]] | None = None) -> Iterator[Rectangle]:
    """All leaves with their ranges; those that no count can reach are omitted."""
    ends = ends or {}
    if isinstance(tree, Leaf):
        yield Rectangle(tree.value, ends)
        return
    low, high = ends.get(tree.column, (-math.inf, math.inf))
    at = math.floor(tree.threshold) if math.isfinite(tree.threshold) else tree.threshold
    if min(at, high) > low:
        yield from rectangles(tree.yes, {**ends, tree.column: (low, min(at, high))})
    if max(at, low) < high:
        yield from rectangles(tree.no, {**ends, tree.column: (max(at, low), high)})


def exact_variance(leaves: Sequence[Rectangle], counts: Sequence[int], here: float, noise: DiscreteLaplace) -> float:
    """The variance of the unbiased answer if these counts were the true ones; `here` is the tree's value there.

    Cost: the square of the number of leaves, times the number of counts that are tested.
    """
    if len(leaves) > MAX_LEAVES:
        raise InvalidArgument("tree", f"have at most {MAX_LEAVES:,} leaves for an exact variance", len(leaves))
    values = np.array([leaf.value - here for leaf in leaves])  # so that the mean of the answer is 0
    product = np.ones((len(leaves), len(leaves)))
    for column in sorted({column for leaf in leaves for column in leaf.ends}):
        everything = (-math.inf, math.inf)
        low, high = np.array([leaf.ends.get(column, everything) for leaf in leaves]).T
        product *= _expected(low, high, counts[column], noise)
    return float(values @ product @ values)


def _expected(low: Floats, high: Floats, count: int, noise: DiscreteLaplace) -> Floats:
    """E[w_l w_m] at one count, for all pairs of ranges (low, high]."""
    a, q = float(noise.a), float(noise.q)

    def inside(points: Floats) -> Floats:
        return ((points[:, np.newaxis] > low) & (points[:, np.newaxis] <= high)).astype(np.float64)

    ends = np.unique(np.concatenate([low, high]))
    ends = ends[np.isfinite(ends)]
    points = np.unique(np.concatenate([ends, ends + 1]))
    chance = (1 - q) / (1 + q) * q ** np.abs(points - count)
    at = inside(points)
    up, down = inside(points + 1) - at, inside(points - 1) - at
    own = inside(np.array([float(count)]))[0]
    parts = ((up + down, a * a), (up, a), (down, a))
    expected: Floats = np.outer(own, own)
    for part, weight in parts:
        expected += (part.T * (weight * chance)) @ part
    return expected
