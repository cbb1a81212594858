"""The channel of randomised response on the buckets of cohorts, as an operator."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deniable.core.arrays import Floats, Indices
from deniable.estimation.cohorts.design import CohortDesign


@dataclass(frozen=True, eq=False)
class CohortOperator:
    """Pr[cell | value] = low, and gain more in the value's buckets, one in each cohort.

    With `unlisted` there is one more value at the end: a string whose buckets are not known, so that all cells are
    equally likely.
    """

    design: CohortDesign
    low: float
    gain: float
    unlisted: bool = False

    @cached_property
    def _plain(self) -> CohortDesign:
        return replace(self.design, centre=0.0, complete=False)

    @property
    def _even(self) -> float:
        return 1 / (self.design.cohorts * self.design.buckets)

    def forward(self, weights: Floats) -> Floats:
        listed = weights[:-1] if self.unlisted else weights
        cells = self.low * listed.sum() + self.gain * self._plain.scatter(listed).reshape(-1)
        return np.asarray(cells + self._even * weights[-1] if self.unlisted else cells)

    def adjoint(self, scores: Floats) -> Floats:
        return self._gathered(scores, self.low, self.gain, self._even)

    def adjoint_squared(self, scores: Floats) -> Floats:
        return self._gathered(scores, self.low**2, (self.low + self.gain) ** 2 - self.low**2, self._even**2)

    def entries(self, values: Indices, reports: Indices) -> Floats:
        cohorts, buckets = np.divmod(reports, self.design.buckets)
        listed = np.minimum(values, self.design.values - 1)
        own = self.design.table[cohorts, listed[:, np.newaxis]] == buckets
        found = np.where(own, self.low + self.gain, self.low)
        found[values == self.design.values] = self._even
        return found

    def _gathered(self, scores: Floats, low: float, gain: float, even: float) -> Floats:
        total = scores.sum()
        listed = low * total + gain * self._plain.gather(scores.reshape(self.design.cohorts, self.design.buckets))
        return np.append(listed, even * total) if self.unlisted else np.asarray(listed)
