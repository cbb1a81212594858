"""Channels on the cells of cohorts: the cells that support a value, and one more value for all unlisted strings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deniable.core.arrays import Floats, Indices, Mask
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.operators.two_level import ListingTwoLevelOperator


@dataclass(frozen=True, eq=False)
class CohortBuckets:
    """A cell, a bucket of a cohort, supports the values that the cohort hashes to it."""

    design: CohortDesign

    @cached_property
    def _plain(self) -> CohortDesign:
        return replace(self.design, centre=0.0, complete=False)

    def scatter(self, weights: Floats) -> Floats:
        return self._plain.scatter(weights)

    def gather(self, scores: Floats) -> Floats:
        return self._plain.gather(scores.reshape(self.design.cohorts, self.design.buckets))

    def supported(self, values: Indices, reports: Indices) -> Mask:
        cohorts, buckets = np.divmod(reports, self.design.buckets)
        return np.asarray(self.design.table[cohorts, values[:, np.newaxis]] == buckets)


@dataclass(frozen=True, eq=False)
class WithUnlisted:
    """A channel with one more value at the end: a string of unknown buckets, for which all cells are equally likely."""

    listed: ListingTwoLevelOperator
    values: int  # listed
    cells: int

    @property
    def _even(self) -> float:
        return 1 / self.cells

    def forward(self, weights: Floats) -> Floats:
        return np.asarray(self.listed.forward(weights[:-1]) + self._even * weights[-1])

    def adjoint(self, scores: Floats) -> Floats:
        return np.append(self.listed.adjoint(scores), self._even * scores.sum())

    def adjoint_squared(self, scores: Floats) -> Floats:
        return np.append(self.listed.adjoint_squared(scores), self._even**2 * scores.sum())

    def entries(self, values: Indices, reports: Indices) -> Floats:
        found = self.listed.entries(np.minimum(values, self.values - 1), reports)
        found[values == self.values] = self._even
        return found
