"""Channels of cohorts: the cells or the Hadamard signs that support a value, and one more for all unlisted strings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable.core.arrays import Codes, Floats, Indices, Mask, Numbers, Table
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.operators.two_level import ListingTwoLevelOperator


@dataclass(frozen=True, eq=False)
class _Hashed:
    design: CohortDesign
    quick: ClassVar[bool] = False

    @cached_property
    def _plain(self) -> CohortDesign:
        return replace(self.design, centre=0.0, complete=False)

    def _own(self, values: Indices) -> Table:
        """The buckets of values, a row each: next to each other, and in as few bytes as the table has."""
        return np.ascontiguousarray(self.design.table[:, values].T)


@dataclass(frozen=True, eq=False)
class CohortBuckets(_Hashed):
    """A cell, a bucket of a cohort, supports the values that the cohort hashes to it."""

    def scatter(self, weights: Floats) -> Floats:
        return self._plain.scatter(weights)

    def gather(self, scores: Floats) -> Floats:
        return self._plain.gather(scores.reshape(self.design.cohorts, self.design.buckets))

    def supported(self, values: Indices, reports: Indices) -> Mask:
        cohorts, buckets = np.divmod(reports, self.design.buckets)
        own = self._own(values)
        return np.asarray(own[:, cohorts] == buckets.astype(own.dtype))


@dataclass(frozen=True, eq=False)
class CohortSigns(_Hashed):
    """Reports (c, l, s) support the values whose bucket in cohort c has the sign s in coordinate l + 1."""

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
        own = self._own(values)
        odd = np.bitwise_count(own[:, cohorts] & (coordinates + 1).astype(own.dtype)) & np.uint8(1)
        return np.asarray(odd == signs.astype(np.uint8))


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

    @property
    def quick(self) -> bool:
        return self.listed.quick

    @property
    def levels(self) -> tuple[float, ...]:
        return *self.listed.levels, self._even

    def codes(self, values: Indices, reports: Indices) -> Codes:
        found = self.listed.codes(np.minimum(values, self.values - 1), reports)
        found[values == self.values] = 2
        return found


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
