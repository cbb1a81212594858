"""The table of questions: each can be asked by its name, with its parameters, and a wrong one is refused."""

from __future__ import annotations

import inspect
import json
import math

import numpy as np
import pytest

import deniable as dn
from tests import ROOT
from tests.naive import questions as twins


def test_every_question_of_the_table_can_be_asked_with_its_parameters() -> None:
    noisy = dn.DiscreteLaplace(2.0).release([30, 41, 55, 12], seed=1)
    given = {
        "k": 2, "other": noisy, "values": [1, 2, 3, 4], "beta": 0.1, "edges": 60, "coefficients": [0, 1],
        "tree": json.loads(json.dumps(twins.TREE)),
    }  # fmt: skip
    names = [question.name for question in dn.ask.QUESTIONS]
    assert len(set(names)) == len(names)
    for question in dn.ask.QUESTIONS:
        known = inspect.signature(question.function).parameters
        assert [each.name for each in question.parameters if each.name not in known] == []
        required = {each.name: given[each.name] for each in question.parameters if each.required}
        missing = [name for name, each in list(known.items())[1:] if each.default is each.empty]
        assert missing == list(required)
        answer = question.function(noisy, **required)
        assert (np.ndim(answer.value) == 1) == question.many
        assert question.help
        assert all(
            each.kind in ("whole", "number", "share", "flag", "numbers", "json", "release")
            for each in question.parameters
        )
        assert dn.ask.question(question.name) is question
        json.dumps(answer.to_dict())
    with pytest.raises(dn.InvalidArgument, match="question must be one of total, moment"):
        dn.ask.question("nothing")


def test_the_names_of_the_module_are_sorted_and_on_the_page() -> None:

    page = (ROOT / "docs" / "questions.md").read_text()
    functions = [name for name in dn.ask.__all__ if inspect.isfunction(getattr(dn.ask, name)) and name != "question"]
    assert functions == sorted(functions)
    for name in functions:
        assert f"| `{name}(" in page
    assert page.count("\n| `") == len(functions)


def test_noisy_counts_of_others_are_answered_with_their_epsilon() -> None:
    values = [3, 80, 15]
    own = dn.ask.entropy(dn.Release(np.array(values), dn.DiscreteLaplace(1.0, 2)))
    assert dn.ask.entropy(values, epsilon=1.0, sensitivity=2).value == own.value


def test_counts_beyond_64_bits_have_extremes_and_order() -> None:
    noisy = dn.DiscreteLaplace(1.0).release([2**70, 5, 2**80], seed=1)
    assert dn.ask.maximum(noisy).value == pytest.approx(2.0**80)
    assert dn.ask.order_statistics(noisy).value[1] == pytest.approx(2.0**70)
    assert dn.ask.threshold(noisy, 2**71).value == 1


ROWS = np.array([[3, 5, 9], [4, 4, 0]])
WRONG = [
    (lambda r: dn.ask.order_statistic(r, 0), "k must be a whole number from 1 to 3, got 0"),
    (lambda r: dn.ask.quantile(r, 1.5), "share must be a number from 0 to 1"),
    (lambda r: dn.ask.median(r, tolerance=0), "tolerance must be positive"),
    (lambda r: dn.ask.threshold(r, 1.5), "at must be a whole number, got 1.5"),
    (lambda r: dn.ask.profile(r, -1), "most must be a whole number from 0"),
    (lambda r: dn.ask.moment(r, -1), "power must be a whole number from 0 to 64"),
    (lambda r: dn.ask.moment(r, 2, reduce="none"), "reduce must be one of mean, sum"),
    (lambda r: dn.ask.moment(r, axis=3), "axis must be an axis of counts"),
    (lambda r: dn.ask.stars(r, 0), "k must be a whole number from 1 to 64"),
    (lambda r: dn.ask.degree_polynomial(r, []), "coefficients must be 1 to 64 numbers"),
    (lambda r: dn.ask.degree_polynomial(r, ["x"]), "coefficients must be finite numbers"),
    (lambda r: dn.ask.partition(r, float("nan")), "beta must be a list of finite numbers"),
    (lambda r: dn.ask.entropy(r, total=0), "total must be a whole number, at least 1, got 0"),
    (lambda r: dn.ask.entropy(r, total=17.5), "total must be a whole number"),
    (lambda r: dn.ask.entropy(r, base=1), "base must be above 1"),
    (lambda _: dn.ask.entropy(ROWS, [8, 9, 9], epsilon=1.0), "total must be a whole number, at least 1, or 2 of them"),
    (lambda r: dn.ask.simpson(r, 1, replacement=False), "total must be at least 2"),
    (lambda r: dn.ask.divergence(r, r[:2]), "other must be a vector of 3 counts, as many as the first"),
    (lambda r: dn.ask.divergence(r, r, 17), "other_total must be given if and only if total is"),
    (lambda r: dn.ask.mean(r, [1, 2]), "values must be 3 numbers, one per count"),
    (lambda r: dn.ask.mean(r, "abc"), "values must be finite numbers"),
    (lambda r: dn.ask.triangles(r, 0), "edges must be a whole number, at least 1"),
    (lambda r: dn.ask.power_of_sum(r, lambda x: x, 9), "power must be a whole number from 1 to 8"),
    (lambda r: dn.ask.polynomial(r, {}), "terms must map powers to coefficients"),
    (lambda r: dn.ask.polynomial(r, {(1, 2): 1.0}), "terms must have 3 powers each"),
    (lambda r: dn.ask.polynomial(r, {(1, 2, -1): 1.0}), "terms must have 3 powers each"),
    (lambda r: dn.ask.polynomial(r, {(1, 2, 1): math.inf}), "coefficients of terms must be a list of finite numbers"),
    (lambda r: dn.ask.separable([np.abs], r), "functions must be 3 functions, one per count"),
    (lambda r: dn.ask.separable(5, r), "functions must be 3 functions, one per count, got 5"),
    (lambda _: dn.ask.entropy(np.ones((2, 2, 2), int), epsilon=1.0), "data must be a vector or a matrix of counts"),
    (lambda r: dn.ask.product(np.abs, r), "functions must be 3 functions, one per count"),
    (lambda r: dn.ask.product([np.exp] * 3, r), "f must grow more slowly"),
    (lambda _: dn.ask.median([], epsilon=1.0), "values must hold at least one count"),
    (lambda _: dn.ask.median([1.5], epsilon=1.0), "must be whole numbers"),
    (lambda _: dn.ask.median([1, 2]), "epsilon must be given"),
    (lambda _: dn.ask.median([1, 2], epsilon=-1.0), "epsilon must be positive"),
    (lambda _: dn.ask.median([1, 2], epsilon=1.0, sensitivity=-2), "sensitivity must be a whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "says"), WRONG, ids=[says[:50] for _, says in WRONG])
def test_a_wrong_question_gives_one_clear_line(call: object, says: str) -> None:
    noisy = dn.DiscreteLaplace(1.0).release([3, 5, 9], seed=1)
    with pytest.raises(dn.DeniableError) as caught:
        call(noisy)  # type: ignore[operator]
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
