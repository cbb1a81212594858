"""The operator of a two-level channel whose reports support listed values: products by gathering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats, Symbols


@dataclass(frozen=True, eq=False)
class IncidenceOperator:
    """C[value, report] is `high` where the report supports the value and `low` elsewhere.

    `supports` lists, for each value, the reports that support it, as many for each. Cost: one addition for each entry.
    """

    supports: Symbols
    reports: int
    high: float
    low: float

    def forward(self, weights: Floats) -> Floats:
        each = np.repeat(weights, self.supports.shape[1])
        gathered = np.bincount(self.supports.ravel(), each, minlength=self.reports)
        shares: Floats = self.low * weights.sum() + (self.high - self.low) * gathered
        return shares

    def adjoint(self, scores: Floats) -> Floats:
        return self._spread(scores, self.high, self.low)

    def adjoint_squared(self, scores: Floats) -> Floats:
        return self._spread(scores, self.high**2, self.low**2)

    def _spread(self, scores: Floats, high: float, low: float) -> Floats:
        expected: Floats = low * scores.sum() + (high - low) * scores[self.supports].sum(axis=1)
        return expected
