"""Generalised least squares: nearly as good as maximum likelihood, for a handful of products with the channel.

The linear unbiased estimate weighs the cells of a summary as if all values were equally frequent. Where they
are not, the share phi_j of reports j varies by mu_j (1 - mu_j)/n, mu = C^T f, and the best weights are 1/mu_j.
The weights come from a pilot: the unbiased estimate, moved to the nearest distribution.

Reference: Aitken 1936; the two steps are one step of Fisher's scoring, started at the pilot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.estimation.channel import Operator
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.methods.systems import Linear, solve

_ROUNDS = 200
_TOLERANCE = 1e-9  # far below any standard error
_LEAST = 1e-12  # of the largest mu: keeps the weights finite for channels with zeros, which no private one has


@dataclass(frozen=True)
class Weighted:
    """The estimate, the solution of least squares before projection, and the steps of conjugate gradients."""

    frequencies: Floats
    solution: Floats
    steps: int


def weighted(counts: Counts, operator: Operator, pilot: Floats, precondition: Linear | None = None) -> Weighted:
    """Minimise sum_j (phi_j - (C^T f)_j)^2 / mu_j from the pilot's mu, then take the nearest distribution. Biased.

    Formula: C W C^T f = C W phi with W = diag(1/mu), by conjugate gradients started at the pilot;
    `precondition` applies an approximate inverse of C W C^T, by default that of its diagonal.
    If C is square and invertible, as for randomised response, every weighting gives the unbiased estimate, and
    this is its projection.
    Cost: two products with the channel per step, 10 to 20 steps.
    """
    shares = counts / counts.sum()
    start = nearest_distribution(pilot)
    mu = operator.forward(start)
    weights = 1.0 / np.maximum(mu, _LEAST * mu.max())

    def product(vector: Floats) -> Floats:
        return operator.adjoint(weights * operator.forward(vector))

    if precondition is None:
        scale = 1.0 / operator.adjoint_squared(weights)
        precondition = scale.__mul__
    wanted = operator.adjoint(weights * shares)
    solution, steps = solve(product, wanted, start, precondition, rounds=_ROUNDS, tolerance=_TOLERANCE)
    return Weighted(nearest_distribution(solution), solution, steps)
