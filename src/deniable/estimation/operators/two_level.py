"""The operator of every two-level channel, from the incidence of reports that support values.

Entries are `high` where the report supports the value and `low` elsewhere, so that all products follow from two sums
over the incidence: of the reports that support a value, and of the values that a report supports.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np

from deniable.core.arrays import Codes, Floats, Indices, Mask, Symbols


class Incidence(Protocol):
    """The reports that support each value, known by sums over them."""

    def scatter(self, weights: Floats) -> Floats:
        """For each report, the sum of the weights of the values it supports, in any shape."""
        ...

    def gather(self, scores: Floats) -> Floats:
        """For each value, the sum of the scores of the reports that support it."""
        ...


@runtime_checkable
class ListedIncidence(Incidence, Protocol):
    """An incidence that can list single pairs: worth it where few values and few reports matter."""

    @property
    def quick(self) -> bool:
        """Whether sums over all pairs take a few additions per cell."""
        ...

    def supported(self, values: Indices, reports: Indices) -> Mask:
        """Whether reports support values, one row per value."""
        ...


@runtime_checkable
class SparingIncidence(ListedIncidence, Protocol):
    """An incidence that sums the scores of few reports without the zeros of all others."""

    def gather_of(self, reports: Indices, scores: Floats) -> Floats:
        """`gather` of scores that are zero except for these reports."""
        ...


@runtime_checkable
class PairedIncidence(SparingIncidence, Protocol):
    """An incidence that finds the supported pairs without looking at all others."""

    def pairs(self, values: Indices, reports: Indices) -> tuple[Indices, Indices] | None:
        """The places of values and reports that `supported` marks; None where that is quicker."""
        ...


@dataclass(frozen=True, eq=False)
class TwoLevelOperator:
    """The channel of an incidence: `high` for the reports that support a value, `low` for all others.

    Both are probabilities of a whole report, cohort or public number included; `gain` is their difference.
    """

    incidence: Incidence
    high: float
    low: float
    gain: float

    def forward(self, weights: Floats) -> Floats:
        return _line(self.low * weights.sum(), self.gain, self.incidence.scatter(weights), weights)

    def adjoint(self, scores: Floats) -> Floats:
        return _line(self.low * scores.sum(), self.gain, self.incidence.gather(scores), scores)

    def adjoint_squared(self, scores: Floats) -> Floats:
        # high^2 - low^2 = gain (high + low)
        step = self.gain * (self.high + self.low)
        return _line(self.low**2 * scores.sum(), step, self.incidence.gather(scores), scores)


def _line(constant: float, step: float, sums: Floats, given: Floats) -> Floats:
    """constant + step sums, in place unless the sums are what was given: allocating large arrays takes long."""
    shares = np.multiply(sums, step, out=None if np.may_share_memory(sums, given) else sums)
    shares += constant
    return np.asarray(shares.reshape(-1))


@dataclass(frozen=True, eq=False)
class ListingTwoLevelOperator(TwoLevelOperator):
    """A two-level operator that can list entries."""

    incidence: ListedIncidence

    @property
    def quick(self) -> bool:
        return self.incidence.quick

    @property
    def levels(self) -> tuple[float, ...]:
        return self.low, self.high

    def codes(self, values: Indices, reports: Indices) -> Codes:
        return self.incidence.supported(values, reports).view(np.uint8)


@dataclass(frozen=True, eq=False)
class SparingTwoLevelOperator(ListingTwoLevelOperator):
    """A two-level operator that takes the scores of few reports alone."""

    incidence: SparingIncidence

    def adjoint_of(self, reports: Indices, scores: Floats) -> Floats:
        return _line(self.low * scores.sum(), self.gain, self.incidence.gather_of(reports, scores), scores)


@dataclass(frozen=True, eq=False)
class PairedTwoLevelOperator(SparingTwoLevelOperator):
    """A two-level operator that finds the few entries that are high."""

    incidence: PairedIncidence

    def above(self, values: Indices, reports: Indices) -> tuple[Indices, Indices, Codes] | None:
        found = self.incidence.pairs(values, reports)
        return found and (*found, np.ones(len(found[0]), np.uint8))


def two_level_operator(incidence: Incidence, high: Fraction, low: Fraction) -> TwoLevelOperator:
    """The operator of an incidence and two exact probabilities; it lists entries if the incidence does."""
    levels = float(high), float(low), float(high - low)
    if isinstance(incidence, PairedIncidence):
        return PairedTwoLevelOperator(incidence, *levels)
    if isinstance(incidence, SparingIncidence):
        return SparingTwoLevelOperator(incidence, *levels)
    if isinstance(incidence, ListedIncidence):
        return ListingTwoLevelOperator(incidence, *levels)
    return TwoLevelOperator(incidence, *levels)


@dataclass(frozen=True)
class Identity:
    """Each report supports the value of the same number, and no other."""

    def scatter(self, weights: Floats) -> Floats:
        return weights

    def gather(self, scores: Floats) -> Floats:
        return scores


@dataclass(frozen=True, eq=False)
class Listed:
    """Lists of the reports that support each value, all of one length. Cost: one addition per entry."""

    supports: Symbols
    reports: int

    def scatter(self, weights: Floats) -> Floats:
        each = np.repeat(weights, self.supports.shape[1])
        return np.bincount(self.supports.ravel(), each, minlength=self.reports).astype(np.float64, copy=False)

    def gather(self, scores: Floats) -> Floats:
        sums: Floats = scores[self.supports].sum(axis=1)
        return sums
