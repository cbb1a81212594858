"""Black boxes: what a search finds in code that is known only by two functions."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deniable as dn
from benchmarks.audits import faulty
from deniable.auditing.empirical import scores
from deniable.auditing.empirical.adapters import Adapter, load
from deniable.auditing.empirical.samples import MOST_VALUES, Samples
from deniable.auditing.empirical.search import _pairs, audit_black_box

SEED, K = 8, 6
RNG = np.random.default_rng(SEED)


def unary(value: int, n: int, kept: bool = False) -> Any:
    bits = RNG.random((n, K)) < 1 / (np.e + 1)
    own = RNG.random(n) < 0.5
    bits[:, value] = bits[:, value] | own if kept else own
    return bits


def telling(value: int, n: int) -> Any:
    return np.full(n, 3) if value == 3 else RNG.integers(K, size=n)


def hashed(value: int, n: int) -> Any:
    """The class of the value under a random function of many, as columns (seed, class)."""
    seeds = RNG.integers(2**40, size=n)
    own = seeds * (2 * value + 1) >> 20 & 1
    lie = RNG.random(n) > np.e / (np.e + 1)
    return np.stack([seeds, own ^ lie], axis=1)


def hint(rows: Any, value: int) -> Any:
    return (rows[:, 0] * (2 * value + 1) >> 20 & 1) == rows[:, 1]


def audited(sample: Any, trials: int = 300_000, epsilon: float = 1.0, **more: Any) -> Any:
    rng = np.random.default_rng(SEED)
    return audit_black_box(Adapter(sample, K, epsilon=epsilon, **more), trials, generator=rng)


def test_a_sound_black_box_is_not_accused_and_nearly_all_is_found() -> None:
    found = audited(unary)
    assert 0.9 < found.bound < 1.0
    assert not found.exceeds


def test_the_published_fault_of_unary_encoding_is_found() -> None:
    found = audited(lambda value, n: unary(value, n, kept=True))  # which spends log((1-q)/q (1-(1-q)/2)/...) = 1.551
    assert 1.45 < found.bound < 1.551
    assert found.verdict == "EXCEEDS what was promised"


def test_four_million_reports_certify_nearly_all_of_the_published_fault() -> None:
    found = faulty(seed=SEED)
    assert 1.53 <= found["bound"] < found["truth"] == 1.5514


def test_a_value_that_is_told_is_found_whatever_the_others_do() -> None:
    found = audited(telling)
    assert found.bound > 1.0
    assert "and 3 " in found.how or "values 3 " in found.how


def test_hashes_need_a_hint() -> None:
    blind, seeing = audited(hashed), audited(hashed, supports=hint)
    assert blind.bound < 0.1
    assert 0.9 < seeing.bound < 1.0


def test_a_box_that_tells_nothing_gives_no_bound() -> None:
    found = audited(lambda _, n: np.zeros(n, np.int64))
    assert (found.bound, found.guesses) == (0.0, 0)
    assert "nothing that tells two values apart" in str(found)


def test_a_report_whose_length_depends_on_the_value_gives_it_away() -> None:
    found = audited(lambda value, n: np.zeros((n, 2 + (value == 4)), np.uint8), trials=5000)
    assert found.exceeds
    assert found.faults == ("the length of a report depends on the value",)
    assert found.how == "values 0 and 4 told apart by the length of a report: 2 and 3 numbers"
    seen = audited(
        lambda value, n: np.zeros((n, 1 + value % 2), int), 2000, 50.0, supports=lambda rows, _: rows[:, 0] > 0
    )
    assert (seen.exceeds, seen.verdict) == (False, "FAULTY")


def test_many_values_are_searched_by_neighbours_and_random_pairs() -> None:
    pairs = _pairs(1000, np.random.default_rng(SEED), MOST_VALUES)
    assert len(pairs) < 2016
    assert any(other == one + 1 for one, other in pairs)
    assert len(_pairs(64, RNG, MOST_VALUES)) == 2016
    assert _pairs(2, RNG, 2) == [(0, 1)]
    assert all(len(_pairs(3, RNG, 2)) >= 1 for _ in range(9))


def test_the_memory_of_a_search_does_not_grow_with_the_number_of_values_or_the_width() -> None:
    asked: set[int] = set()

    def hint(rows: Any, value: int) -> Any:
        asked.add(value)
        return rows[:, 0] % 5000 == value

    tracemalloc.start()
    many = Adapter(lambda _, n: RNG.integers(2**40, size=n), 5000, supports=hint, epsilon=1.0)
    audit_black_box(many, 20_000, generator=np.random.default_rng(SEED))
    assert len(asked) <= 64
    wide = Adapter(lambda _, n: RNG.integers(2, size=(n, 8000), dtype=np.uint8), 3, epsilon=1.0)
    audit_black_box(wide, 2000, generator=np.random.default_rng(SEED))
    assert tracemalloc.get_traced_memory()[1] < 2**30
    tracemalloc.stop()
    assert Samples(wide, (0, 1)).held(300_000, 2) * 2 * 8000 * 8 <= 2**28


def test_rows_are_hashed_to_one_number_each() -> None:
    rows = RNG.integers(3, size=(500, 4))
    keys = scores.keys_of(rows)
    assert len(np.unique(keys)) == len(np.unique(rows, axis=0))


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (lambda _, n: np.zeros(n), "Floats can be audited by their bits"),
        (lambda _, n: np.zeros(n + 1, int), "rows of whole numbers"),
        (lambda _, n: ["a"] * n, "rows of whole numbers"),
        (lambda _, n: np.zeros((n, 2, 2), int), "rows of whole numbers"),
        (lambda _, n: np.zeros((n, 0), int), "rows of whole numbers"),
        (lambda _, n: np.zeros((n, RNG.integers(1, 3)), int), "rows of one width for value 0, got \\(1, 2\\)"),
        (lambda _, n: np.zeros((n, 1 + (n > 99)), int), "rows of one width for value 0, got \\(1, 2\\)"),
        (lambda _, n: np.zeros((n, 2**20), np.uint8), "rows of at most 16,775 numbers, got 1048576"),
    ],
)
def test_samples_that_are_no_rows_are_refused(made: Any, reason: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=reason):
        audited(made)


def test_a_promise_is_needed() -> None:
    with pytest.raises(dn.InvalidArgument, match="promised must be given"):
        dn.audit(Adapter(unary, K))


ADAPTER = """
import numpy as np

VALUES, EPSILON, NAME = 3, 1.0, "three answers"


def sample(value, n):
    return np.where(np.random.default_rng(value).random(n) < 0.5, value, np.random.default_rng(9).integers(3, size=n))
"""


def test_an_adapter_is_a_file_with_two_functions(tmp_path: Path) -> None:
    path = tmp_path / "three.py"
    path.write_text(ADAPTER)
    found = load(path)
    assert (found.values, found.epsilon, found.name, found.supports) == (3, 1.0, "three answers", None)
    assert dn.audit(path, trials=20_000).empirical is not None
    path.write_text("VALUES = 3")
    with pytest.raises(dn.InvalidArgument, match="have a function sample"):
        load(path)
    path.write_text("def sample(value, n): ...")
    with pytest.raises(dn.InvalidArgument, match="VALUES of the adapter"):
        load(path)
    with pytest.raises(dn.InvalidArgument, match="be a Python file"):
        load(tmp_path / "none.py")
