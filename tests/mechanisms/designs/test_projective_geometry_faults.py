"""Faults planted in Projective Geometry Response: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults


@dataclass(frozen=True)
class MovesBackwards(dn.ProjectiveGeometryResponse):
    """Subtracts the element, which is another hyperplane, in the batch only."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(np.zeros_like(indices), words, out)
        out[:] = (indices - out.astype(np.int64)) % self.sets.modulus
        return again


@dataclass(frozen=True)
class DomainSizeForPoints(dn.ProjectiveGeometryResponse):
    """Computes the overlap of two hyperplanes as if there were k points."""

    @property
    def channel(self) -> PureChannel:
        w = self.sets.set_size
        return self.two_level.pure(w, Fraction(w * (w - 1), self.k - 1))


@dataclass(frozen=True)
class FoldsIntoTheDomain(dn.ProjectiveGeometryResponse):
    """Reports modulo k, as if points beyond the domain were not needed."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        out[:] %= np.uint32(self.k)
        return again


def ideal(m: dn.ProjectiveGeometryResponse) -> PureChannel:
    e, w, overlap = (
        exponential_below(m.epsilon),
        m.sets.set_size,
        Fraction(m.sets.set_size * (m.sets.set_size - 1), m.sets.modulus - 1),
    )
    total = w * e + m.sets.modulus - w
    return PureChannel(w * e / total, (overlap * e + w - overlap) / total)


MoreTruth = faults.more_truth(dn.ProjectiveGeometryResponse)
DroppedRejection = faults.dropped_rejection(dn.ProjectiveGeometryResponse, "rejection_inside")
WordsDependOnCoin = faults.place_only_if_needed(dn.ProjectiveGeometryResponse)
WrongSet = faults.wrong_set(dn.ProjectiveGeometryResponse)
IdealEstimator = faults.ideal_estimator(dn.ProjectiveGeometryResponse, ideal)
EveryReportCovers = faults.every_report_covers(dn.ProjectiveGeometryResponse)

kernel, plain_path, coarse_unbiased = faults.kernel(4), faults.plain_path(3), faults.coarse_unbiased(8)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (MoreTruth, contract.check_largest_ratio_is_within_epsilon),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (WordsDependOnCoin, plain_path),
    (MovesBackwards, kernel),
    (WrongSet, contract.check_unbiased_and_variance),
    (DomainSizeForPoints, contract.check_unbiased_and_variance),
    (IdealEstimator, coarse_unbiased),
    (EveryReportCovers, contract.check_reconstruction_rate),
    (FoldsIntoTheDomain, kernel),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    k = 2 if fault is EveryReportCovers else 5
    faults.assert_caught(check, dn.ProjectiveGeometryResponse(k, 1.0, q=2, t=3), fault(k, 1.0, q=2, t=3))
