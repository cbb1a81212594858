"""Signs of Hadamard transforms of buckets: the values that a sign supports, and counts transformed to buckets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deniable.core.arrays import Floats, Indices, Mask, Numbers
from deniable.estimation.cohorts.design import CohortDesign


def to_buckets(signed: Numbers) -> Floats:
    """[cohort, bucket]: the sum over coordinates l > 0 of signed[cohort, l - 1] times the bucket's sign there."""
    from deniable.kernels.hadamard import transform

    rows = np.pad(signed.astype(np.float64), ((0, 0), (1, 0)))
    transform(rows)
    return rows


def to_coordinates(cells: Floats) -> Floats:
    """[cohort, l - 1]: the sum over buckets of cells[cohort, bucket] times the sign of coordinate l > 0 there."""
    from deniable.kernels.hadamard import transform

    rows = np.array(cells)
    transform(rows)
    return rows[:, 1:]


@dataclass(frozen=True, eq=False)
class CohortSigns:
    """Reports (c, l, s) support the values whose bucket in cohort c has the sign s in coordinate l + 1."""

    design: CohortDesign

    @cached_property
    def _plain(self) -> CohortDesign:
        return replace(self.design, centre=0.0, complete=False)

    def scatter(self, weights: Floats) -> Floats:
        signed, total = to_coordinates(self._plain.scatter(weights)), weights.sum()
        return np.stack([total + signed, total - signed], axis=-1) / 2

    def gather(self, scores: Floats) -> Floats:
        pairs = scores.reshape(self.design.cohorts, self.design.buckets - 1, 2)
        signed = self._plain.gather(to_buckets(pairs[:, :, 0] - pairs[:, :, 1]))
        return np.asarray((scores.sum() + signed) / 2)

    def supported(self, values: Indices, reports: Indices) -> Mask:
        places, signs = np.divmod(reports, 2)
        cohorts, coordinates = np.divmod(places, self.design.buckets - 1)
        own = self.design.table[cohorts, values[:, np.newaxis]].astype(np.int64)
        return np.asarray(np.bitwise_count(own & (coordinates + 1)) % 2 == signs)
