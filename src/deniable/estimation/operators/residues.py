"""Histograms from the residues of their values: weighted least squares without a matrix.

A[(j, r), x] is 1 if x has residue r modulo m_j. The Gram matrix G = A^T W A is Toeplitz,
    G[x, x'] = sum of the weights of the moduli that divide x - x',
so its products are folding and tiling, contiguous and O(k l), and conjugate gradients solve G z = A^T W s.

Reference: Arcolezi 2026 (Modular Subset Selection), section 4; Hestenes and Stiefel 1952; Lanczos 1950.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np

from deniable.core.arrays import Floats, Integers, Numbers

_TOLERANCE = 1e-13  # of the residual
_MOVED = 3e-4  # standard errors, on average over the values, that the last step may move
_EXACTLY = 1024  # values up to which least squares are solved to working precision
_ROUNDS = 5000
DENSE = 200  # up to this many values the Gram matrix is written out
_PROBES = 8
_ROUGHLY = 1e-4


def evenly(k: int, number: int) -> Integers:
    """Return `number` of the values 0..k-1, the middles of equal parts."""
    return ((np.arange(number) + 0.5) * k / number).astype(np.int64)


def identifies(k: int, moduli: tuple[int, ...]) -> bool:
    """Whether pairwise coprime moduli determine a histogram of k values: A has rank sum_j (m_j - 1) + 1, at most k."""
    coprime = all(gcd(a, b) == 1 for i, a in enumerate(moduli) for b in moduli[:i])
    return coprime and sum(m - 1 for m in moduli) + 1 >= k


@dataclass(frozen=True)
class ResidueSystem:
    """Values 0..k-1 seen through their residues, each modulus with a weight."""

    k: int
    moduli: tuple[int, ...]
    weights: tuple[float, ...]

    @cached_property
    def _moduli(self) -> Integers:
        return np.array(self.moduli, np.int64)

    @cached_property
    def _weights(self) -> Floats:
        return np.array(self.weights, np.float64)

    @cached_property
    def offsets(self) -> Integers:
        """Where the residues of each modulus begin; the last entry is the number of all residues."""
        return np.concatenate([[0], np.cumsum(self._moduli)])

    def blocks(self, vector: Numbers) -> list[Numbers]:
        """A vector over all residues, cut by modulus."""
        return np.split(vector, self.offsets[1:-1])

    def fold(self, vector: Floats) -> Floats:
        """A vector: sums over values of equal residue."""
        from deniable.kernels.residues import fold

        out = np.empty(int(self.offsets[-1]))
        fold(vector, self._moduli, out)
        return out

    def tile(self, residues: Floats) -> Floats:
        """A^T W residues."""
        from deniable.kernels.residues import tile

        out = np.empty(self.k)
        tile(residues, self._moduli, self._weights, out)
        return out

    def gram(self, vector: Floats, ridge: float = 0.0) -> Floats:
        """(A^T W A + ridge) vector."""
        from deniable.kernels.residues import gram

        out = np.empty(self.k)
        gram(vector, self._moduli, self._weights, ridge, np.empty(max(self.moduli)), out)
        return out

    def solve(
        self, wanted: Floats, ridge: float = 0.0, tolerance: float = _TOLERANCE, negligible: float = 0.0
    ) -> tuple[Floats, int]:
        """z with (G + ridge) z = wanted, and the steps of conjugate gradients (the diagonal of G is constant).

        The last step is one that lowers the squared error e G e by no more than `negligible`.
        """
        from deniable.kernels.residues import solve_gram

        out = np.empty(self.k)
        steps = solve_gram(wanted, self._moduli, self._weights, ridge, tolerance, negligible, _ROUNDS, out)
        return out, steps

    def least_squares(self, residues: Floats, ridge: float = 0.0, variance: float = 0.0) -> tuple[Floats, int]:
        """z with the least sum of w_j (A z - residues)^2 + ridge |z|^2, and the steps it took.

        Of many values it ends within a hundredth of their standard errors, if the covariances of z are at least
        `variance` G^-1.
        """
        # e G e/variance is an error in squared standard errors, of all values together
        enough = _MOVED**2 * self.k * variance if self.k > _EXACTLY else 0.0
        return self.solve(self.tile(residues), ridge, negligible=enough)

    def matrix(self) -> Floats:
        """G written out, for small k."""
        apart = np.abs(np.subtract.outer(np.arange(self.k), np.arange(self.k)))
        terms = (weight * (apart % m == 0) for m, weight in zip(self.moduli, self.weights, strict=True))
        return np.asarray(sum(terms), np.float64)

    def mean_inverse(self) -> float:
        """tr(G^-1)/k, the factor of least squares on the noise; from a few evenly spaced values if k is large.

        The diagonal of G^-1 hardly varies between values, so the sample is more precise than random signs.
        """
        if self.k <= DENSE:
            return float(np.trace(np.linalg.inv(self.matrix()))) / self.k
        values = evenly(self.k, _PROBES).tolist()
        return float(np.mean([self.inverse_row(value, _ROUGHLY)[value] for value in values]))

    def inverse_row(self, value: int, tolerance: float = _TOLERANCE) -> Floats:
        """G^-1 e_value."""
        unit = np.zeros(self.k)
        unit[value] = 1.0
        return self.solve(unit, tolerance=tolerance)[0]
