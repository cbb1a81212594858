"""What only the paper needs of modular subset selection: its ridge, its attack rate, and condition numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.summary import Summary
from deniable.core.validate import between
from deniable.estimation.operators.residues import DENSE, ResidueSystem
from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection

_LANCZOS_STEPS = 120


def reconstruction_bound(mechanism: ModularSubsetSelection) -> Fraction:
    """Equation 7, (1/l) sum p_j / (w_j ceil(k/m_j)): the attack rate if every m_j divided k, else below it."""
    pairs = zip(mechanism.channels, mechanism.layout.pairs, strict=True)
    return sum((c.p / (w * -(-mechanism.k // m)) for c, (m, w) in pairs), Fraction(0)) / mechanism.cohorts


def regularized(mechanism: ModularSubsetSelection, summary: Summary, ridge: float) -> Floats:
    """Least squares with a penalty of `ridge` (relative to the diagonal of the system) on squares: biased."""
    mechanism.check_summary(summary)
    penalty = between(0, np.inf, ridge=ridge) * sum(mechanism.system.weights)
    return mechanism.system.least_squares(mechanism.residue_frequencies(summary), penalty)[0]


def system_condition(system: ResidueSystem) -> float:
    """Largest over smallest eigenvalue of G, exact for small k, else from below, by Lanczos' method."""
    if system.k <= DENSE:
        values = np.linalg.eigvalsh(system.matrix())
        return float(values[-1] / values[0])
    from scipy.linalg import eigh_tridiagonal

    basis = np.zeros((_LANCZOS_STEPS + 1, system.k))
    start = np.random.default_rng(0).standard_normal(system.k)
    basis[0] = start / np.linalg.norm(start)
    diagonal, beside = np.zeros(_LANCZOS_STEPS), np.zeros(_LANCZOS_STEPS)
    for step in range(_LANCZOS_STEPS):
        image = system.gram(basis[step])
        diagonal[step] = basis[step] @ image
        image -= basis[: step + 1].T @ (basis[: step + 1] @ image)
        image -= basis[: step + 1].T @ (basis[: step + 1] @ image)  # twice: orthogonal to rounding
        beside[step] = np.linalg.norm(image)
        basis[step + 1] = image / beside[step]
    values = eigh_tridiagonal(diagonal, beside[:-1], eigvals_only=True)
    return float(values[-1] / values[0])
