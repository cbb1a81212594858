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
_TOLERANCE = 1e-9
_NEGLIGIBLE = 1e-2  # standard errors, of any weighted sum of frequencies: a step that moves none further is the last
_LEAST = 1e-12  # of the largest mu: keeps the weights finite for channels with zeros, which no private one has


@dataclass(frozen=True)
class Weighted:
    """The estimate, the solution of least squares before projection, and the steps of conjugate gradients."""

    frequencies: Floats
    solution: Floats
    steps: int


def weighted(counts: Counts, operator: Operator, pilot: Floats, precondition: Linear | None = None) -> Weighted:
    """Minimise sum_j (phi_j - (C^T f)_j)^2 / mu_j from the pilot's mu, then take the nearest distribution. Biased.

    Formula: C W C^T f = C W phi with W = diag(1/mu), by conjugate gradients started at the pilot, which is the
    solution for equal weights; `precondition` applies an approximate inverse of C W C^T, by default that of its
    diagonal. C W C^T is the information of one report, so that n times a squared error in its norm is in squared
    standard errors.
    If C is square and invertible, as for randomised response, every weighting gives the unbiased estimate, and
    this is its projection.
    Cost: two products with the channel per step, 3 to 20 steps.
    """
    n = int(counts.sum())
    mu = operator.forward(nearest_distribution(pilot))
    weights = 1.0 / np.maximum(mu, _LEAST * mu.max())

    def product(vector: Floats) -> Floats:
        shares = operator.forward(vector)
        shares *= weights
        return operator.adjoint(shares)

    if precondition is None:
        scale = 1.0 / operator.adjoint_squared(weights)
        precondition = scale.__mul__
    apart = counts / n - operator.forward(pilot)  # the pilot's residual: what is solved for is the way from the pilot
    apart *= weights
    way, steps = solve(
        product,
        operator.adjoint(apart),
        None,
        precondition,
        rounds=_ROUNDS,
        tolerance=_TOLERANCE,
        negligible=_NEGLIGIBLE**2 / n,
    )
    solution = pilot + way
    return Weighted(nearest_distribution(solution), solution, steps)
