"""The linear estimate from a matrix of probabilities, and its error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.caches import FieldsOnly
from deniable.estimation.channel import Noise, for_target
from deniable.estimation.tails import Steps

_CLOSE = 1e-7  # how far the inverse may miss before it is no use


@dataclass(frozen=True, eq=False)
class LinearInverse(FieldsOnly):
    """The unbiased estimate of least variance for users spread evenly, among all that are linear in the counts.

    Formula: with C the matrix, s its column means and A = C diag(s)^-1/2, what a report y adds to the estimates is
    row y of D = diag(s)^-1/2 A^+, so that C D = I. For a square matrix D is its inverse.
    Reference: Aitken 1935 (generalised least squares).
    """

    matrix: Floats

    @cached_property
    def adds(self) -> Floats:
        """D: what a report adds to n times the estimate of each value, one row per report."""
        root = np.sqrt(self.matrix.mean(axis=0))
        inverse = np.linalg.pinv(self.matrix / root) / root[:, np.newaxis]
        # one step of Newton's method, which squares what is missing
        return np.asarray(inverse @ (2 * np.eye(len(self.matrix)) - self.matrix @ inverse))

    @property
    def exists(self) -> bool:
        """Whether the values can be told apart: no row is a mixture, with any weights, of others."""
        values, reports = self.matrix.shape
        if values > reports:  # more rows than the rank can be, which may be too many to invert
            return False
        return bool(np.abs(self.matrix @ self.adds - np.eye(values)).max() <= _CLOSE)

    @cached_property
    def spread(self) -> Floats:
        """[value, estimated value]: the variance that a user adds to n times each estimate."""
        return np.asarray(np.maximum(self.matrix @ self.adds**2 - np.eye(len(self.matrix)), 0.0))

    @cached_property
    def _others(self) -> Floats:
        """The spread without the users' own values."""
        return np.where(np.eye(len(self.matrix), dtype=np.bool_), 0.0, self.spread)

    def average(self, target: str) -> tuple[float, float, float]:
        """Coefficients of n Var, averaged over values (channel.py)."""
        k = len(self.matrix)
        own, others = float(np.diag(self.spread).mean()), float(self._others.sum()) / (k * (k - 1))
        v0, v1, v2 = for_target(others, own - others, target)
        return float(v0), float(v1), v2

    def given(self, shares: Floats, target: str) -> Noise:
        """Coefficients of n Var per value, for these shares of all values: users differ in what they add."""
        rest = 1 - shares
        evenly = self._others.sum(axis=0) / (len(shares) - 1)
        # of the users who do not have the value, or of all values where there are none
        others = np.where(rest > 0, shares @ self._others / np.where(rest > 0, rest, 1.0), evenly)
        return for_target(others, np.diag(self.spread) - others, target)

    def steps(self, target: str) -> Steps:
        """The largest steps of each estimate; its variance is least if all others have the value that adds least."""
        least = np.where(np.eye(len(self.matrix), dtype=np.bool_), np.inf, self.spread).min(axis=0)
        noise = for_target(least, np.diag(self.spread) - least, target)
        return Steps(self.adds.max(axis=0), 1 - self.adds.min(axis=0), noise)
