"""Decision trees in the two forms people have: nested dicts, and fitted scikit-learn trees; read into one.

A node of a dict is {"column": name or number, "threshold": t, "yes": node, "no": node}: "yes" where the count is at
most t. A leaf is a number, or {"value": number}.
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
    """A leaf: the value of the tree there."""

    value: float


@dataclass(frozen=True)
class Node:
    """A question, x[column] <= threshold, and where to go with either answer."""

    column: int
    threshold: float
    yes: Node | Leaf
    no: Node | Leaf


Tree = Node | Leaf


def read_tree(tree: Any, width: int, columns: Sequence[str] | None = None, output: int = 0) -> Tree:
    """The tree over `width` counts whose names are `columns`; one that tests a missing column is refused."""
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
            there = "none are named" if names is None else ", ".join(names)
            raise InvalidArgument("tree", f"test columns of the release only ({there})", column)
        return names.index(column)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)) or not 0 <= column < width:
        raise InvalidArgument("tree", f"test columns of the release only (0 to {width - 1})", column)
    return int(column)


def _from_fitted(fitted: Any, width: int, names: list[str] | None, output: int) -> Tree:
    """A fitted tree of scikit-learn: left where the count is at most the threshold; classes as their probabilities."""
    found = fitted.tree_
    left, right = (np.asarray(part) for part in (found.children_left, found.children_right))
    features, thresholds, values = (np.asarray(part) for part in (found.feature, found.threshold, found.value))
    own = getattr(fitted, "feature_names_in_", None)
    own = None if own is None or names is None else [str(name) for name in own]
    tables = values.reshape(len(left), -1)
    classes = len(getattr(fitted, "classes_", ()))
    if classes:
        tables = tables[:, :classes] / tables[:, :classes].sum(axis=1, keepdims=True)
    output = whole(0, tables.shape[1] - 1, output=output)

    def node(i: int) -> Tree:
        if left[i] == right[i]:
            return Leaf(float(tables[i, output]))
        feature = int(features[i])
        place = _column(feature if own is None else own[feature], width, names)
        return Node(place, float(thresholds[i]), node(int(left[i])), node(int(right[i])))

    return node(0)


def _number(given: Any, name: str) -> float:
    if isinstance(given, (bool, str)) or not np.isscalar(given) or not math.isfinite(float(given)):  # type: ignore[arg-type]
        raise InvalidArgument(name, "be a finite number", given)
    return float(given)  # type: ignore[arg-type]
