"""Decision trees on noisy counts: volumes of rectangles, both forms of trees, and trees that do not fit."""

from __future__ import annotations

import math
import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.counts.questions.tree_forms import read_tree
from deniable.counts.questions.trees import volumes
from tests.naive import noise as naive
from tests.naive import questions as twins
from tests.naive.questions import TREE

A = float(dn.DiscreteLaplace(1.0).a)


def fitted(**more: Any) -> Any:
    """What a fitted tree of scikit-learn shows: the tree TREE, in its arrays."""
    found = SimpleNamespace(
        children_left=np.array([1, 2, -1, -1, 5, -1, -1]),
        children_right=np.array([4, 3, -1, -1, 6, -1, -1]),
        feature=np.array([0, 1, -2, -2, 1, -2, -2]),
        threshold=np.array([1.5, 0.5, -2.0, -2.0, 2.5, -2.0, -2.0]),
        value=np.array([0, 0, 4.0, 1.0, 0, 2.0, 8.0]).reshape(7, 1, 1),
    )
    return SimpleNamespace(tree_=found, n_features_in_=2, **more)


def by_hand(x: tuple[int, ...]) -> float:
    if x[0] <= 1.5:
        return 4.0 if x[1] <= 0.5 else 1.0
    return 2.0 if x[1] <= 2.5 else 8.0


@pytest.mark.parametrize("y", [(2, 1, 5), (1, 0, 0), (0, 3, 2), (9, 9, 9), (-3, 2, 1)])
def test_theorem_12_a_tree_is_answered_as_by_all_neighbours(y: tuple[int, ...]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dn.UnreliableAnswer)
        answer = dn.ask.tree(np.array(y), TREE, epsilon=1.0)
    assert answer.value == pytest.approx(naive.operate_many(twins.tree, y, A), rel=1e-12)
    assert answer.naive == twins.tree(y)


def test_theorem_19_the_volumes_are_those_of_the_leaves_rectangles_and_add_up_to_one() -> None:
    y = (2, 1)
    root = read_tree(TREE, 2)
    found = list(volumes(root, y, A))
    assert math.fsum(volume for volume, _ in found) == pytest.approx(1.0, abs=1e-14)
    weights = {-1: -A, 0: 1 + 2 * A, 1: -A}
    for leaf in {value for _, value in found}:
        wanted = math.fsum(
            weights[s] * weights[t] for s in weights for t in weights if twins.tree((y[0] + s, y[1] + t)) == leaf
        )
        assert math.fsum(volume for volume, value in found if value == leaf) == pytest.approx(wanted, abs=1e-14)


def test_theorem_19_only_leaves_within_reach_are_visited() -> None:
    def deep(low: int, high: int, column: int) -> Any:
        if low == high:
            return float(low)
        middle = (low + high) // 2
        return {
            "column": column,
            "threshold": middle,
            "yes": deep(low, middle, column),
            "no": deep(middle + 1, high, column),
        }

    # 4096 leaves, of which three are near a count
    root = read_tree(deep(0, 4095, 1), 2)
    assert len(list(volumes(root, (5, 1000), A))) == 3
    answer = dn.ask.tree(np.array([5, 1000]), deep(0, 4095, 1), epsilon=1.0)
    assert answer.value == pytest.approx(1000.0)  # the tree is x_1 itself
    assert answer.std_error == pytest.approx(math.sqrt(2 * A))


def test_a_fitted_tree_is_read_as_it_is() -> None:
    for y in ((2, 1), (1, 0), (0, 3), (2, 2)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dn.UnreliableAnswer)
            answer = dn.ask.tree(np.array(y), fitted(), epsilon=1.0)
        assert answer.naive == by_hand(y)
        assert answer.value == pytest.approx(naive.operate_many(by_hand, y, A), rel=1e-12)


def test_the_columns_of_a_fitted_tree_are_found_by_name() -> None:
    model = fitted(feature_names_in_=np.array(["visits", "beds"], object))
    answer = dn.ask.tree(np.array([7, 2, 1]), model, columns=["year", "visits", "beds"], epsilon=3.0)
    assert answer.naive == by_hand((2, 1))
    with pytest.raises(
        dn.InvalidArgument,
        match=r"of the release only, got 'visits'\. The columns are year, beds.",
    ):
        dn.ask.tree(np.array([7, 2]), model, columns=["year", "beds"], epsilon=3.0)


def test_a_classifier_answers_with_the_probability_of_a_class() -> None:
    model = fitted(classes_=np.array(["no", "yes"]))
    weights = np.array([[0, 0], [0, 0], [1, 3], [2, 2], [0, 0], [4, 0], [0, 5]], float)
    weights[[0, 1, 4]] = 1.0
    model.tree_.value = weights.reshape(7, 1, 2)
    answers = [dn.ask.tree(np.array([-9, -9]), model, output=output, epsilon=1.0).value for output in (0, 1)]
    assert answers == pytest.approx([0.25, 0.75])
    with pytest.raises(dn.InvalidArgument, match="output must be a whole number from 0 to 1"):
        dn.ask.tree(np.array([1, 2]), model, output=2, epsilon=1.0)


def test_rows_of_a_matrix_are_answered_one_by_one_and_added_up() -> None:
    rows = np.array([[2, 1], [40, 40], [1, 3]])
    noisy = dn.Release(rows, dn.DiscreteLaplace(2.0))
    each = dn.ask.tree(noisy, TREE)
    assert each.value.shape == (3,)
    total, mean = (dn.ask.tree(noisy, TREE, reduce=reduce) for reduce in ("sum", "mean"))
    assert total.value == pytest.approx(each.value.sum())
    assert total.std_error == pytest.approx(math.sqrt((each.std_error**2).sum()))
    assert mean.std_error == pytest.approx(total.std_error / 3)


def test_a_leaf_alone_is_a_constant() -> None:
    answer = dn.ask.tree(np.array([1, 2]), 3.5, epsilon=1.0)
    assert (answer.value, answer.std_error) == (3.5, 0.0)


WRONG = [
    ({"column": 2, "threshold": 1, "yes": 0, "no": 1}, "of the release only, got 2. The columns are 0 to 1."),
    ({"column": "age", "threshold": 1, "yes": 0, "no": 1}, "of the release only, got 'age'. Name the columns"),
    ({"column": 0, "threshold": 1, "yes": 0}, "tree must have nodes with column, threshold, yes and no, or value"),
    ({"column": 0, "threshold": float("nan"), "yes": 0, "no": 1}, "a threshold of the tree must be a finite number"),
    ({"column": 0, "threshold": 1, "yes": "high", "no": 1}, "a leaf of the tree must be a finite number, got 'high'"),
    ([1, 2], "a leaf of the tree must be a finite number"),
]  # fmt: skip


@pytest.mark.parametrize(("tree", "says"), WRONG, ids=[says[:40] for _, says in WRONG])
def test_a_tree_that_does_not_fit_gives_one_clear_line(tree: Any, says: str) -> None:
    with pytest.raises(dn.InvalidArgument) as caught:
        dn.ask.tree(np.array([1, 2]), tree, epsilon=1.0)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_must_fit_the_counts() -> None:
    with pytest.raises(dn.InvalidArgument, match="columns must be 2 different names"):
        dn.ask.tree(np.array([1, 2]), TREE, columns=["a"], epsilon=1.0)
    with pytest.raises(dn.InvalidArgument, match="data must be a vector of counts, or a matrix"):
        dn.ask.tree(np.zeros((2, 2, 2), int), TREE, epsilon=1.0)
