"""Matrices, and code that takes its words: what is found, and what is refused."""

from __future__ import annotations

import random
import sys
from fractions import Fraction
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import deniable as dn
from deniable.auditing.exact import matrices
from deniable.auditing.exact.channel import Witness
from deniable.randomness.choices import Choices
from deniable.testing.checks.words import coarse


def test_a_matrix_is_audited_in_fractions() -> None:
    found = dn.audit([["1/2", "1/2"], ["1/3", "2/3"]], promised=1.0)
    assert found.exact is not None
    assert found.exact.ratio == Fraction(3, 2)
    assert found.exact.channel.rate == Fraction(7, 12)
    assert found.passed
    assert not dn.audit(np.array([[0.5, 0.5], [0.25, 0.75]]), promised=0.5).passed


def test_a_zero_beside_a_probability_gives_a_value_away() -> None:
    found = dn.audit([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25]], promised=9.0)
    assert found.exact is not None
    assert (found.exact.ratio, found.exact.spent, found.exit_code) == (None, None, 1)
    assert "infinite" in str(found)
    assert found.exact.channel.worst.witness == Witness(1, 0, 2)
    assert not dn.audit([[1, 0], [0, 1]]).passed


def test_a_ratio_too_large_for_a_float_is_told_all_the_same() -> None:
    found = dn.audit([["1e-400", "1"], ["1/2", "1/2"]], promised=9.0)
    assert (found.exit_code, found.exact is not None) == (1, True)
    assert "5.00000e+399 times as likely from '1' as from '0'" in str(found)


def test_a_report_that_nobody_sends_says_nothing() -> None:
    found = dn.audit([[0.5, 0.5, 0], [0.25, 0.75, 0]])
    assert found.exact is not None
    assert found.exact.ratio == 2
    assert found.passed


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], r"row 2 must sum to 1, got 0.9"),
        ([[0.5, 0.5]], "a row for each of two values"),
        ([0.5, 0.5], "must be a spec, a mechanism, a matrix"),
        ([[0.5, 0.5], [1.0]], "row 2 must have 2 probabilities"),
        ([[1.5, -0.5], [0.5, 0.5]], "row 1, column 1 must lie from 0 to 1"),
        ([["a", "b"], ["c", "d"]], "row 1, column 1 must be a probability"),
        ([[float("nan"), 1], [0.5, 0.5]], "row 1, column 1 must be a probability"),
        ([["1/0", 1], [0.5, 0.5]], "row 1, column 1 must be a probability"),
        (7, "must be a spec, a mechanism, a matrix"),
    ],
)
def test_matrices_that_are_none_are_refused(rows: Any, reason: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=reason):
        dn.audit(rows)


def test_files_of_matrices_may_name_values_and_reports(tmp_path: Path) -> None:
    plain, named, headed = (tmp_path / f"{name}.csv" for name in ("plain", "named", "headed"))
    plain.write_text("0.5,0.5\n\n1/4,3/4\n")
    named.write_text("\ufeffvalue,yes,no\nlow,0.5,0.5\nhigh,0.25,0.75\n", encoding="utf-8")
    headed.write_text("yes,no\n0.5,0.5\n0.25,0.75\n")
    rows = ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 4), Fraction(3, 4)))
    assert [matrices.from_csv(path).rows for path in (plain, named, headed)] == [rows] * 3
    assert matrices.from_csv(named).labels == ("low", "high")
    assert matrices.from_csv(headed).reports == matrices.from_csv(named).reports == ("yes", "no")
    table = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"value": ["low", "high"], "yes": [0.5, 0.25], "no": [0.5, 0.75]}), table)
    assert matrices.from_parquet(table).rows == rows
    assert "from 'low' as from 'high'" in str(dn.audit(table))
    with pytest.raises(dn.InvalidArgument, match="end in"):
        dn.audit(tmp_path / "t.txt")


def test_labels_may_be_numbers_in_parquet_as_in_csv(tmp_path: Path) -> None:
    path, table = tmp_path / "m.csv", tmp_path / "m.parquet"
    path.write_text("value,yes,no\n0,0.5,0.5\n1,0.25,0.75\n")
    parquet.write_table(pa.table({"value": [0, 1], "yes": [0.5, 0.25], "no": [0.5, 0.75]}), table)
    assert matrices.from_parquet(table) == matrices.from_csv(path)
    assert matrices.from_parquet(table).labels == ("0", "1")


def keeping(value: int, words: tuple[int, ...]) -> int:
    return value if words[0] < 12 else words[1] % 4


def test_code_that_takes_its_words_is_tried_with_all_of_them() -> None:
    found = dn.audit(keeping, values=4, words=2, bits=4, promised=2.6)
    assert found.exact is not None
    # 12/16 + 4/16 * 1/4 against 4/16 * 1/4
    assert (found.exact.ratio, found.passed) == (Fraction(13), True)
    assert not dn.audit(keeping, values=4, words=2, bits=4, promised=2.5).passed
    assert log(13) < 2.6


@pytest.mark.parametrize("name", ["grr", "olh", "csr", "hr", "orr"])
def test_our_own_code_on_words_of_few_bits_keeps_its_promise(name: str) -> None:
    m = dn.mechanism(name, k=3 if name != "orr" else 5, epsilon=1.0)
    bits = 12 // m.stride
    small = coarse(m, bits)

    def code(value: int, words: tuple[int, ...]) -> Any:
        try:
            return small.randomize_one(value, Choices([word << (64 - bits) for word in words], iter(())))
        except StopIteration:
            return None  # a rejected draw

    found = dn.audit(code, values=m.k, words=m.stride, bits=bits, promised=1.0)
    assert found.passed, str(found)


def test_rejections_that_depend_on_the_value_are_a_fault() -> None:
    found = dn.audit(lambda value, words: None if words[0] < value else 0, values=2, words=1, bits=3)
    assert found.exact is not None
    assert found.exit_code == 1
    assert "how often words are rejected depends on the value" in found.exact.faults[0]


class Counting:
    """Code that keeps state."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, value: int, words: tuple[int, ...]) -> int:
        self.calls += 1
        return (value + self.calls + words[0]) % 5


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (Counting(), "keeps state, or draws by itself"),
        (lambda _, __: random.random() < 0.5, "keeps state, or draws by itself"),
        (lambda value, words: value + words[0] / 16, "last bits of a float"),
        (lambda value, _: (value, 0.5), "last bits of a float"),
        (lambda value, _: np.float64(value), "last bits of a float"),
        (lambda value, _: {value}, "be whole numbers, strings"),
        (lambda _, __: None, "accept some words for every value"),
    ],
)
def test_code_that_cannot_be_audited_exactly_is_refused(code: Any, reason: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=reason):
        dn.audit(code, values=2, words=1, bits=4)


def test_code_needs_sizes_that_can_be_tried() -> None:
    with pytest.raises(dn.InvalidArgument, match="be given for a function"):
        dn.audit(keeping, values=2)
    with pytest.raises(dn.InvalidArgument, match="calls"):
        dn.audit(keeping, values=4, words=4, bits=8)
    assert dn.audit(lambda _, words: [np.int64(words[0] % 2), "a", b"b"], values=2, words=1, bits=2).passed


def test_what_code_remembers_of_other_values_is_looked_for_by_order_alone_where_it_has_no_file() -> None:
    def late(value: int, words: tuple[int, ...], last: list[int] = [0]) -> int:  # noqa: B006
        said, last[0] = last[0], value
        return said + words[0]

    with pytest.raises(dn.InvalidArgument, match="keeps state"):
        dn.audit(late, values=3, words=1, bits=2)
    assert "by order only" in str(dn.audit(keeping, values=4, words=2, bits=2))


def test_one_and_true_are_different_reports() -> None:
    found = dn.audit(lambda value, words: (True if value else 1) if words[0] else 0, values=2, words=1, bits=4)
    assert found.exact is not None
    assert (found.exact.ratio, found.exit_code) == (None, 1)
    nested = dn.audit(lambda value, _: ("a", (True,) if value else (1,)), values=2, words=1, bits=1)
    assert nested.exact is not None
    assert nested.exact.ratio is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (lambda *_: sys.exit(0), r"run to its end, got sys.exit\(0\)"),
        (lambda *_: sys.exit(), r"run to its end, got sys.exit\(\)"),
        (lambda *_: {}["x"], r"got KeyError \('x'\)"),
    ],
)
def test_code_that_fails_or_ends_the_process_is_refused(code: Any, said: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=said):
        dn.audit(code, values=2, words=1, bits=1)
