"""The channel of cyclotomic local hashing as an operator: a shift family, and a third level where x = y."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.estimation.operators.designs import ShiftFamily
from deniable.estimation.operators.two_level import ListingTwoLevelOperator


@dataclass(frozen=True, eq=False)
class ClassOperator:
    """Reports (y, a) in the order y N + a: `high` or `low` of the shifts, but `middle` where the value is y."""

    shifts: ListingTwoLevelOperator
    middle: float

    @property
    def family(self) -> ShiftFamily:
        """The classes as sets in the integers modulo K."""
        assert isinstance(self.shifts.incidence, ShiftFamily)
        return self.shifts.incidence

    def forward(self, weights: Floats) -> Floats:
        rows = self.shifts.forward(weights).reshape(self.family.cohorts, -1)
        rows[:, : self.family.values] += (self.middle - self.shifts.low) * weights
        return np.ascontiguousarray(rows.T).reshape(-1)

    def adjoint(self, scores: Floats) -> Floats:
        rows = self._by_class(scores)
        return self.shifts.adjoint(rows.reshape(-1)) + (self.middle - self.shifts.low) * self._own(rows)

    def adjoint_squared(self, scores: Floats) -> Floats:
        rows = self._by_class(scores)
        extra = self.middle**2 - self.shifts.low**2
        return self.shifts.adjoint_squared(rows.reshape(-1)) + extra * self._own(rows)

    def entries(self, values: Indices, reports: Indices) -> Floats:
        own, classes = np.divmod(reports, self.family.cohorts)
        shifted = self.shifts.entries(values, classes * self.family.modulus + own)
        return np.where(values[:, np.newaxis] == own, self.middle, shifted)

    def _by_class(self, scores: Floats) -> Floats:
        return np.ascontiguousarray(scores.reshape(-1, self.family.cohorts).T)

    def _own(self, rows: Floats) -> Floats:
        """The scores of all reports whose y is the value itself."""
        total: Floats = rows[:, : self.family.values].sum(axis=0)
        return total
