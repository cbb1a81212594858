"""Loops give the same results in plain Python, by NumPy and compiled, and are compiled when it pays."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deniable import kernels
from deniable.kernels import Kernel, cohorts, hadamard, hashing, histograms, residues, response, unary
from deniable.kernels.cohort_hashes import fill_hashed, fill_permuted, gather, scatter, through_cells

R = np.random.default_rng(7)
COUNTS = R.integers(0, 50, 40)
BITS = R.integers(0, 2**63, (37, 2)).astype(np.uint64)
TABLE = R.integers(0, 4, (6, 30)).astype(np.uint32)

CASES: list[tuple[Any, Callable[[], list[Any]]]] = [
    (response.count_into, lambda: [R.integers(0, 40, 99).astype(np.uint32), COUNTS.copy()]),
    (unary.count_bits, lambda: [BITS, np.zeros(100, np.int64)]),
    (unary.add_levels, lambda: [R.integers(0, 9, (20, 7)).astype(np.uint8), np.zeros(7, np.int64)]),
    (cohorts.count_filters, lambda: [BITS, np.array([3, 3, 37]), np.zeros((3, 101), np.int64)]),
    (histograms.total_at_least, lambda: [COUNTS, 20]),
    (histograms.keep_at_least, lambda: [COUNTS, 20, np.zeros(41, np.int64)]),
    (histograms.keep_above, lambda: [COUNTS / 7, 3.0, np.zeros(41)]),
    (histograms.lower, lambda: [COUNTS / 7, 3.0, np.zeros(40)]),
    (histograms.share_out, lambda: [COUNTS, 9, 3, 4.0, 0.3, 0.1, 0.2, 0.01, np.zeros(40)]),
    (histograms.total_gain, lambda: [COUNTS, 999, 12, 0.3, 0.0123, 0.4]),
    (histograms.gains, lambda: [COUNTS, 999, 12, 0.3, 0.0123, -0.4, np.zeros(40)]),
    (hadamard.transform, lambda: [R.normal(size=(3, 64))]),
    (
        hashing.fold,
        lambda: [R.integers(0, 9, (4, 3)), np.array([0, 1, 2, 4, 5]), np.array([0, 1, 2]), np.zeros((2, 3))],
    ),
    (residues.fold, lambda: [R.normal(size=30), np.array([7, 11]), np.zeros(18)]),
    (
        residues.solve_gram,
        lambda: [R.normal(size=30), np.array([7, 11]), np.array([0.3, 0.7]), 0.5, 1e-9, 0.0, 50, np.zeros(30)],
    ),
    (
        fill_hashed,
        lambda: [np.arange(30), R.integers(1, 2**60, (6, 2)).astype(np.uint64), 9, np.zeros((6, 30), np.uint32)],
    ),
    (
        fill_permuted,
        lambda: [np.arange(30), R.integers(0, 2**32, (2, 6)).astype(np.uint32), 30, 9, np.zeros((2, 30), np.uint32)],
    ),
    (gather, lambda: [TABLE, 2, R.normal(size=(3, 5)), np.zeros(30)]),
    (scatter, lambda: [TABLE, 2, R.normal(size=30), np.zeros((3, 5))]),
    (through_cells, lambda: [TABLE, 0.5, R.normal(size=30), np.zeros((4, 5)), np.zeros(30)]),
]


@pytest.fixture(autouse=True)
def _plain_first(_compiled_loops: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels._Plain, "over", False)


@pytest.mark.parametrize(("kernel", "arguments"), CASES, ids=lambda each: getattr(each, "__name__", ""))
def test_plain_and_compiled_results_are_the_same(kernel: Kernel, arguments: Callable[[], list[Any]]) -> None:
    first = arguments()
    second, third = ([np.copy(each) if isinstance(each, np.ndarray) else each for each in first] for _ in range(2))
    plain = Kernel(kernel.py_func, kernel._plain, 2**40)
    loop = Kernel(kernel.py_func, kernel.py_func, 2**40)
    results = plain(*first), loop(*second), kernel.dispatcher(*third)
    assert results[0] == results[1] == results[2]
    for one, two, three in zip(first, second, third, strict=True):
        assert np.array_equal(one, two)
        assert np.array_equal(two, three)


def test_a_loop_is_compiled_once_it_has_seen_enough() -> None:
    kernel = Kernel(lambda a: a.sum(), lambda _: "plain", 100)
    assert kernel(np.ones(60)) == "plain"
    assert kernel(np.ones(60)) == 60
    assert kernel(np.ones(2)) == 2  # it is compiled now


def test_a_process_loads_the_compiler_when_plain_python_would_take_longer() -> None:
    program = """
import numpy as np, sys, deniable as dn
m = dn.mechanism("grr", k=100, epsilon=1.0)
values = np.arange(10_000) % 100
m.estimate(m.summarize(m.privatize(values)))
assert "numba" not in sys.modules
for _ in range(9):
    m.privatize(values)
assert "numba" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_small_summaries_are_estimated_without_the_compiler() -> None:
    program = """
import sys, deniable as dn
for name in ("grr", "oue", "ss", "hr", "rhr", "she", "mss", "csr", "clh", "olh", "pgr", "orappor"):
    m = dn.mechanism(name, k=20, epsilon=1.0)
    m.estimate(m.summarize(m.privatize([i % 20 for i in range(200)]))).interval()
    assert "numba" not in sys.modules, name
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True)


def test_without_a_compiler_plain_python_is_all_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "loaded", lambda: False)
    monkeypatch.setattr(kernels.importlib.util, "find_spec", lambda _: None)
    assert not kernels.pay_for(10**12)
