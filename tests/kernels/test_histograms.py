"""The kernels of estimation against their slow twins, with the compiler and without it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.estimation.methods.power_law import rules
from deniable.kernels import histograms as power_law
from deniable.kernels import histograms as projection

pytestmark = pytest.mark.twin
numbers = st.lists(st.floats(-10, 10), min_size=1, max_size=30)


@given(numbers, st.floats(-10, 10))
@settings(max_examples=100)
def test_keep_above(values: list[float], threshold: float) -> None:
    wanted = [value for value in values if value > threshold]
    array = np.array(values)
    for out in (np.empty(len(values)), array):
        size, total = projection.keep_above(array, threshold, out)
        assert out[:size].tolist() == wanted
        assert total == pytest.approx(math.fsum(wanted), abs=1e-12)


@given(numbers, st.floats(-10, 10))
@settings(max_examples=50)
def test_lower(values: list[float], by: float) -> None:
    out = np.empty(len(values))
    projection.lower(np.array(values), by, out)
    assert out.tolist() == [max(value - by, 0.0) for value in values]


@pytest.mark.parametrize("alpha", [0.0, 1.01, 3.0, 20.0, 64.0])
@pytest.mark.parametrize("spread", [1e-6, 0.7, 30.0, 500.0])
def test_posterior_means(spread: float, alpha: float) -> None:
    n = 5000
    c = np.arange(1.0, n + 1)
    x = np.array([-30 * spread, -spread, 0.0, 1.5, 3 * spread, 6 * spread, 2000.3, n - 0.5, n + 20 * spread])
    reach = spread * math.sqrt(2 * ((alpha + 1) * math.log(n) + 40))
    for longest in (0.0, spread):  # integer by integer, and in blocks
        out = np.empty(len(x))
        power_law.posterior_means(x, float(n), alpha, spread**2, reach, longest, *rules(longest), out)
        for estimate, found in zip(x, out, strict=True):
            logs = -alpha * np.log(c) - (estimate - c) ** 2 / (2 * spread**2)
            terms = np.exp(logs - logs.max())
            assert found == pytest.approx(terms @ c / terms.sum(), rel=1e-11)


def test_the_rules_add_up_polynomials_of_degree_15_exactly() -> None:
    nodes, weights = rules(1000.0)
    assert len(nodes) == 7  # 8, 16, ..., 512
    for row, m in enumerate(8 * 2 ** np.arange(7)):
        integers = (np.arange(m) - (m - 1) / 2) / m
        scaled = (nodes[row] - (m - 1) / 2) / m
        for degree in range(16):
            assert weights[row] @ scaled**degree == pytest.approx(math.fsum(integers**degree), abs=1e-12 * m)
    np.testing.assert_allclose(nodes[0], np.arange(8), atol=1e-12)
    np.testing.assert_allclose(weights[0], 1, atol=1e-12)
