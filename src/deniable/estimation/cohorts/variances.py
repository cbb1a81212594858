"""Cells that vary more than others: a frequent value makes its cells noisier, for all values that share them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats
from deniable.estimation.cohorts.design import CohortDesign


@dataclass(frozen=True, eq=False)
class CellVariances:
    """n times the variance that reports alone give each cell, estimated from the counts.

    A share f of users adds `per_share` f to the variance of each cell they are in; `least` is the variance of a cell
    without users.
    """

    observed: Floats  # [cohort, bucket]
    per_share: float
    least: float

    def around(self, design: CohortDesign, norms: Floats, shares: Floats) -> Floats:
        """For each value, the mean variance of its cells without its own users, weighted as in its estimate."""
        # sum of X^2 D over |X|^2:  X is 1 - centre in the value's cells, and -centre in all others
        centre, total = design.centre, float(self.observed.sum())
        sums = design.gather(self.observed) + centre * total
        mean = ((1 - 2 * centre) * sums + centre**2 * total) / norms
        own = self.per_share * np.clip(shares, 0.0, 1.0) * (1 - centre) ** 2 * design.cohorts / norms
        return np.asarray(np.maximum(mean - own, self.least))
