"""Conjugate gradients: quadratic forms of the inverse, and ends by the error that is left."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.core.arrays import Floats
from deniable.estimation.methods.systems import inverse_form, solve


def matrix(load: float, rng: np.random.Generator, values: int = 400) -> Floats:
    """A Gram matrix with the spectrum of random hashes."""
    rows = rng.normal(size=(values, int(values / load)))
    return np.asarray(rows @ rows.T / rows.shape[1])


@pytest.mark.parametrize("load", [0.1, 0.5, 0.8])
def test_a_form_of_the_inverse_is_extrapolated_from_a_few_steps(load: float, rng: np.random.Generator) -> None:
    a, vector = matrix(load, rng), rng.choice([-1.0, 1.0], 400)
    exact, products = float(vector @ np.linalg.solve(a, vector)), 0

    def product(x: Floats) -> Floats:
        nonlocal products
        products += 1
        return np.asarray(a @ x)

    assert inverse_form(product, vector, 1.0, rounds=1000, left=0.02, ratio=load) == pytest.approx(exact, rel=5e-3)
    assert products <= 1 + np.log(0.02 * (1 - load)) / np.log(load) + 3
    assert inverse_form(product, 0 * vector, 1.0, rounds=1000, left=0.02) == 0.0
    assert inverse_form(lambda x: 2 * x, vector, 1.0, rounds=1000, left=0.0) == pytest.approx(200)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.8])
def test_a_solution_ends_by_the_error_that_is_left(load: float, rng: np.random.Generator) -> None:
    a, wanted = matrix(load, rng), rng.normal(size=400)
    exact = np.linalg.solve(a, wanted)
    for left in (1.0, 1e-3):
        found, steps = solve(
            a.__matmul__, wanted, None, lambda x: x, rounds=1000, tolerance=1e-12, left=left, ratio=load
        )
        error = float((found - exact) @ a @ (found - exact))
        assert 0.01 * left < error < 1.5 * left
        assert 1 < steps < 200
