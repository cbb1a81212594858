"""The channel of signs of Hadamard transforms of buckets, as an operator, and its inverse: counts to buckets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deniable.core.arrays import Floats, Indices, Numbers
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
class SketchOperator:
    """Pr[(c, l, s) | value] = (1 + gain)/2 or (1 - gain)/2 of one in C (m - 1), as s is the sign of its bucket or not.

    With `unlisted` there is one more value at the end: a string whose buckets are not known, so that all reports
    are equally likely.
    """

    design: CohortDesign
    gain: float
    unlisted: bool = False

    @cached_property
    def _plain(self) -> CohortDesign:
        return replace(self.design, centre=0.0, complete=False)

    @property
    def _even(self) -> float:
        return 1 / (2 * self.design.cohorts * (self.design.buckets - 1))

    def forward(self, weights: Floats) -> Floats:
        listed = weights[:-1] if self.unlisted else weights
        signed = self.gain * to_coordinates(self._plain.scatter(listed))
        total = weights.sum()
        return np.asarray(self._even * np.stack([total + signed, total - signed], axis=-1).reshape(-1))

    def adjoint(self, scores: Floats) -> Floats:
        pairs = scores.reshape(self.design.cohorts, self.design.buckets - 1, 2)
        total = scores.sum()
        listed = total + self.gain * self._plain.gather(to_buckets(pairs[:, :, 0] - pairs[:, :, 1]))
        return self._even * (np.append(listed, total) if self.unlisted else np.asarray(listed))

    def entries(self, values: Indices, reports: Indices) -> Floats:
        places, signs = np.divmod(reports, 2)
        cohorts, coordinates = np.divmod(places, self.design.buckets - 1)
        listed = np.minimum(values, self.design.values - 1)
        own = self.design.table[cohorts, listed[:, np.newaxis]].astype(np.int64)
        odd = np.bitwise_count(own & (coordinates + 1)) % 2
        found = self._even * np.where(odd == signs, 1 + self.gain, 1 - self.gain)
        found[values == self.design.values] = self._even
        return np.asarray(found)

    def adjoint_squared(self, scores: Floats) -> Floats:
        # (1 + g s)^2 = 2 (1 + g s) - (1 - g^2)
        found = 2 * self._even * self.adjoint(scores)
        listed = slice(-1 if self.unlisted else None)
        found[listed] -= self._even**2 * (1 - self.gain**2) * scores.sum()
        if self.unlisted:
            found[-1] /= 2
        return np.asarray(found)
