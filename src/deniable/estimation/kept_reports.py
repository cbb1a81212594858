"""The channel of kept reports that mark sets of values, each report a cell of its own.

Where a summary does not carry the likelihood (subset selection, unary encoding), the reports themselves
do: Pr[report | value] is, up to a factor that depends on the report alone, `ratio` if the report marks the
value and 1 if not. The factor does not move the maximum of the likelihood, so it is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MarkOperator:
    """Bitmaps of n reports over k values, as an operator from values to these n reports."""

    rows: npt.NDArray[np.uint64]
    values: int
    ratio: float

    def forward(self, weights: Floats) -> Floats:
        from deniable.kernels.marks import sum_marked

        marked = np.empty(len(self.rows))
        sum_marked(self.rows, weights, marked)
        return np.asarray(weights.sum() + (self.ratio - 1) * marked)

    def adjoint(self, scores: Floats) -> Floats:
        return np.asarray(scores.sum() + (self.ratio - 1) * self._marked(scores))

    def adjoint_squared(self, scores: Floats) -> Floats:
        return np.asarray(scores.sum() + (self.ratio**2 - 1) * self._marked(scores))

    def _marked(self, scores: Floats) -> Floats:
        from deniable.kernels.marks import add_marked

        total = np.zeros(self.values)
        add_marked(self.rows, scores, total)
        return total
