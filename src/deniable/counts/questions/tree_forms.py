"""Reading decision trees in their two usual forms: nested dicts, and fitted scikit-learn trees.

A node of a dict is {"column": name or number, "threshold": t, "yes": node, "no": node}, where "yes" means that the
count is at most t. A leaf is a number, or {"value": number}.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole

_MEMBERS = {"column", "threshold", "yes", "no"}


@dataclass(frozen=True)
class Leaf:
    """A leaf, with the value of the tree there."""

    value: float


@dataclass(frozen=True)
class Node:
    """A test, x[column] <= threshold, and the subtree for either outcome."""

    column: int
    threshold: float
    yes: Node | Leaf
    no: Node | Leaf


Tree = Node | Leaf


def read_tree(tree: Any, width: int, columns: Sequence[str] | None = None, output: int = 0) -> Tree:
    """Read a tree over `width` counts whose names are `columns`; a tree that tests a missing column is refused."""
    names = None if columns is None else list(columns)
    if names is not None and (len(names) != width or len(set(names)) != width):
        raise InvalidArgument("columns", f"be {width} different names, one per count", columns)
    if hasattr(tree, "tree_"):
        return _from_fitted(tree, width, names, output)
    return _from_dict(tree, width, names)


def _from_dict(tree: Any, width: int, names: list[str] | None) -> Tree:
    if not isinstance(tree, Mapping):
        return Leaf(_number(tree, "a leaf of the tree"))
    if set(tree) == {"value"}:
        return Leaf(_number(tree["value"], "a leaf of the tree"))
    if set(tree) != _MEMBERS:
        raise InvalidArgument("tree", "have nodes with column, threshold, yes and no, or value", sorted(map(str, tree)))
    place = _column(tree["column"], width, names)
    threshold = _number(tree["threshold"], "a threshold of the tree")
    return Node(place, threshold, *(_from_dict(tree[answer], width, names) for answer in ("yes", "no")))


def _column(column: Any, width: int, names: list[str] | None) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            hint = "Name the columns with columns=." if names is None else f"The columns are {', '.join(names)}."
            raise InvalidArgument("tree", "test columns of the release only", column, hint)
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)) or not 0 <= column < width:
        hint = f"The columns are 0 to {width - 1}."
        raise InvalidArgument("tree", "test columns of the release only", column, hint)
    return int(column)


def _from_fitted(fitted: Any, width: int, names: list[str] | None, output: int) -> Tree:
    """Read a fitted scikit-learn tree: left if the count is at most the threshold; classes by their probabilities."""
    found = fitted.tree_
    left, right = (np.asarray(part) for part in (found.children_left, found.children_right))
    features, thresholds, values = (np.asarray(part) for part in (found.feature, found.threshold, found.value))
    fitted_names = getattr(fitted, "feature_names_in_", None)
    fitted_names = None if fitted_names is None or names is None else [str(name) for name in fitted_names]
    tables = values.reshape(len(left), -1)
    classes = len(getattr(fitted, "classes_", ()))
    if classes:
        tables = tables[:, :classes] / tables[:, :classes].sum(axis=1, keepdims=True)
    output = whole(0, tables.shape[1] - 1, output=output)

    def node(i: int) -> Tree:
        if left[i] == right[i]:
            return Leaf(float(tables[i, output]))
        feature = int(features[i])
        place = _column(feature if fitted_names is None else fitted_names[feature], width, names)
        return Node(place, float(thresholds[i]), node(int(left[i])), node(int(right[i])))

    return node(0)


def _number(given: Any, name: str) -> float:
    if isinstance(given, (bool, str)) or not np.isscalar(given) or not math.isfinite(float(given)):  # type: ignore[arg-type]
        raise InvalidArgument(name, "be a finite number", given)
    return float(given)  # type: ignore[arg-type]
