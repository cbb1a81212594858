"""A decision tree on noisy counts: the leaves within one step of the counts, each weighted by its volume.

Only leaves that contain a neighbour of the noisy counts, with every count off by at most one, have a volume. The
descent follows both outcomes of a test only where the neighbours disagree.

Reference: Theorems 12 and 19, Definition 4 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from deniable.core.arrays import Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice
from deniable.counts.answer import Answer, settle
from deniable.counts.certain.joint_error import NEGATIVE, Pair, simulated_moments, variance_of
from deniable.counts.moments import plain
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.operator.separable import ROUNDING
from deniable.counts.questions.tree_errors import exact_variance, rectangles
from deniable.counts.questions.tree_forms import Leaf, Node, Tree, read_tree
from deniable.counts.release import as_release


class Row(NamedTuple):
    """Unbiased and naive value of one row of counts, variance, whether it was estimated, sum of |volume value|."""

    value: float
    naive: float
    variance: float
    estimated: bool
    size: float


def tree(
    data: Any,
    tree: Any,
    *,
    columns: Sequence[str] | None = None,
    output: int = 0,
    reduce: str = "none",
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The value of a decision tree on the true counts, without bias: of a vector of counts, or of each matrix row.

    `tree` is a nested dict {"column": 0, "threshold": 3.5, "yes": ..., "no": ...} whose leaves are numbers ("yes": the
    count is at most the threshold), or a fitted scikit-learn tree; `columns` names the counts, and `output` chooses
    the class of a classifier, whose probability is the answer. `reduce` is "none", "sum" or "mean" over rows.

    Formula: the sum over leaves of value times volume, the volume of a rectangle being the product over counts of
    the total weight of those of y, y - 1, y + 1 that lie in it; the weights are 1 + 2a, -a, -a.
    Cost: the number of leaves within reach times the depth.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0).release([3, 80], seed=1)
    >>> rule = {"column": 1, "threshold": 50, "yes": 0, "no": {"column": 0, "threshold": 5, "yes": 1, "no": 2}}
    >>> dn.ask.tree(noisy, rule).naive
    1.0
    """
    release = as_release(data, epsilon, sensitivity)
    choice(("none", "sum", "mean"), reduce=reduce)
    if release.values.ndim not in (1, 2):
        raise InvalidArgument("data", "be a vector of counts, or a matrix with one vector per row", release.shape)
    matrix = np.atleast_2d(release.values)
    root = read_tree(tree, matrix.shape[1], columns, output)
    a = float(release.noise.a)
    rows = [_row(root, row, a) for row in matrix.tolist()]

    def reduced(parts: Sequence[float], power: int = 1) -> Any:
        """Return one value per row, or their sum or mean (with power 2, for variances)."""
        if reduce == "none":
            return np.array(parts) if release.values.ndim == 2 else parts[0]
        return math.fsum(parts) / (1 if reduce == "sum" else len(parts) ** power)

    def both(values: Numbers) -> tuple[Any, Any]:
        found = [_row(root, row, a) for row in np.atleast_2d(values).tolist()]
        return reduced([row.value for row in found]), reduced([row.naive for row in found])

    value, naive = reduced([row.value for row in rows]), reduced([row.naive for row in rows])
    variance = reduced([row.variance for row in rows], 2)
    size = sum(row.size for row in rows) if reduce == "sum" else max(row.size for row in rows)
    leaves = list(_values(root))
    wide = max(leaves) - min(leaves)
    many = len(rows)
    answer = Answer(
        question="decision tree" + ("" if reduce == "none" else f", {reduce} over {many:,} rows"),
        value=plain(value),
        std_error=plain(np.sqrt(variance)),
        naive=plain(naive),
        width=size * ROUNDING * matrix.shape[1],
        factor=theorem_5_factor(release.noise, len(_tested(root))),
        scale=(wide * (many if reduce == "sum" else 1)) or math.inf,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: simulated_moments(both, release, naive),
        notes=() if all(row.estimated for row in rows) else (NEGATIVE,),
    )

    def known() -> Any:
        """The exact variances at the noisy counts, of the rows that are needed."""
        found = list(rectangles(root))
        wanted = [reduce != "none" or row.variance == 0 for row in rows]
        each = [
            exact_variance(found, counts, row.naive, release.noise) if needed else 0.0
            for counts, row, needed in zip(matrix.tolist(), rows, wanted, strict=True)
        ]
        return reduced(each, 2)

    return settle(answer, best, known)


def _row(root: Tree, counts: list[int], a: float) -> Row:
    naive = _here(root, counts)
    found = list(volumes(root, counts, a))
    # the volumes add up to one, so the naive value may be subtracted from every leaf
    difference = math.fsum(volume * (value - naive) for volume, value in found)
    square = math.fsum(volume * (value - naive) ** 2 for volume, value in found)
    size = math.fsum(abs(volume * value) for volume, value in found)
    return Row(naive + difference, naive, *variance_of(Pair(difference, square)), size)


def volumes(root: Tree, counts: Sequence[int], a: float) -> Iterator[tuple[float, float]]:
    """The volume and the value of every leaf that contains a neighbour of these counts."""
    weights = {-1: -a, 0: 1 + 2 * a, 1: -a}

    def descend(tree: Tree, steps: dict[int, tuple[int, ...]]) -> Iterator[tuple[float, float]]:
        """Descend with `steps`, which maps every count tested so far to the steps (-1, 0, 1) that lead here."""
        if isinstance(tree, Leaf):
            yield math.prod(math.fsum(weights[s] for s in kept) for kept in steps.values()), tree.value
            return
        possible = steps.get(tree.column, (-1, 0, 1))
        yes = tuple(s for s in possible if counts[tree.column] + s <= tree.threshold)
        no = tuple(s for s in possible if s not in yes)
        for kept, child in ((yes, tree.yes), (no, tree.no)):
            if kept:
                yield from descend(child, {**steps, tree.column: kept})

    return descend(root, {})


def _here(tree: Tree, counts: Sequence[int]) -> float:
    while isinstance(tree, Node):
        tree = tree.yes if counts[tree.column] <= tree.threshold else tree.no
    return tree.value


def _values(tree: Tree) -> Iterator[float]:
    if isinstance(tree, Leaf):
        yield tree.value
    else:
        yield from _values(tree.yes)
        yield from _values(tree.no)


def _tested(tree: Tree) -> set[int]:
    return set() if isinstance(tree, Leaf) else {tree.column} | _tested(tree.yes) | _tested(tree.no)
