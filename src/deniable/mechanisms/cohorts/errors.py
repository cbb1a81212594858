"""The errors of least squares on the cells of cohorts, in a closed domain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.evidence import Evidence
from deniable.estimation.methods.simplex import nearest_distribution

if TYPE_CHECKING:
    from deniable.mechanisms.cohorts.base import CohortMechanism

_EXACT = 2**28  # products up to which the errors of all pairs of values are computed exactly


def user_variances(made: CohortMechanism) -> Floats | None:
    """[x, s]: variance that a user with value x adds to the estimate of s; None if the table is too large."""
    design, k = made.whole_design, made.k
    if k**2 * design.cohorts * design.buckets > _EXACT:
        return None
    even = np.full(k, 1 / k)
    constant = even - design.inverse @ design.gather(design.scatter(even))
    weights = design.cohorts * (design.inverse @ design.matrix).reshape(k, design.cohorts, design.buckets)
    return made.second_moments(design, weights, constant) - np.eye(k)


def average_noise(made: CohortMechanism, exact: Floats | None) -> tuple[float, float]:
    """n Var of the estimate of an absent value, averaged over values, and the extra n Var of its own users."""
    if exact is None:
        others = float(made.unit() * made.cohorts * made.whole_design.inverse_sums[0].mean())
        return others, float(made.own_noise(others))
    own = float(np.trace(exact)) / made.k
    others = (float(exact.sum()) / made.k - own) / (made.k - 1)
    return others, own - others


def given(made: CohortMechanism, exact: Floats | None, evidence: Evidence) -> tuple[Any, Any]:
    """The same for each value, by the estimated frequencies of the others."""
    shares = nearest_distribution(evidence.unbiased)
    if exact is None:
        cells = made.cohort_cells(evidence.summary, made.whole_design)
        others = replace(cells, uneven=made.fitted_variances(shares)).report_noise(shares)
        return others, made.own_noise(others)
    own = np.diag(exact)
    others = (shares @ exact - shares * own) / np.maximum(1 - shares, 1e-12)
    return others, own - others


def of_weights(made: CohortMechanism, weights: Floats) -> Floats:
    """n Var of the weighted sum of the estimate, if all users had one value; one entry per value."""
    on_cells, constant = cell_weights(made, weights)
    moments = made.second_moments(made.whole_design, on_cells[np.newaxis], np.array([constant]))[:, 0]
    return np.maximum(moments - weights**2, 0.0)


def cell_weights(made: CohortMechanism, weights: Floats) -> tuple[Floats, float]:
    """What a report adds to n times the weighted sum of the estimate: weights of its cells, and a constant."""
    design, even = made.whole_design, np.full(made.k, 1 / made.k)
    solved = design.solve(weights)[0]
    constant = float(weights @ even - solved @ design.gather(design.scatter(even)))
    return design.cohorts * design.scatter(solved), constant
