"""Faults planted in Hybrid Projective Geometry Response: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import deniable as dn
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.designs.test_hybrid_geometry import hybrid


@dataclass(frozen=True)
class WordsDependOnCoin(dn.HybridProjectiveGeometryResponse):
    """Draws only the place that is needed."""

    def randomize_one(self, index: int, choices: Any) -> int:
        t, (inside, outside) = self.thresholds, self._bounds
        if choices.coin(t["truth"]):
            place = choices.below(inside, t["rejection_inside"])
        else:
            place = inside + choices.below(outside, t["rejection_outside"])
        blocks_on, place = divmod(place, self.block_size)
        moved = (index // self.h + int(self.elements[place])) % self.block_size
        return (index + blocks_on) % self.h * self.block_size + moved


@dataclass(frozen=True)
class StaysInItsBlock(dn.HybridProjectiveGeometryResponse):
    """Never leaves the block of its value, in the batch only."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        out[:] = indices % self.h * self.block_size + out % self.block_size
        return again


@dataclass(frozen=True)
class ConsecutiveBlocks(dn.HybridProjectiveGeometryResponse):
    """Splits the domain into blocks of consecutive values on the device, but not on the server."""

    def randomize_one(self, index: int, choices: Any) -> int:
        block, number = divmod(index, self.block_size)
        return super().randomize_one(number * self.h + block, choices)


@dataclass(frozen=True)
class NoBlockTerm(dn.HybridProjectiveGeometryResponse):
    """Takes the overlap of two values from the whole alphabet, as if all blocks were one design."""

    @property
    def _weights(self) -> Any:
        w, overlap = self.set_size, Fraction(self.set_size * (self.set_size - 1), self.symbols - 1)
        q = overlap * self.two_level.high + (w - overlap) * self.two_level.low
        alpha = 1 / (w * self.two_level.high - q)
        return alpha, Fraction(0), -alpha * q


@dataclass(frozen=True)
class IdealEstimator(dn.HybridProjectiveGeometryResponse):
    """Estimates with the probabilities of e^epsilon instead of those of the integers that run."""

    @property
    def _weights(self) -> Any:
        e, w, overlap = exponential_below(self.epsilon), self.set_size, self.overlap
        total = self.symbols + (e - 1) * w
        alpha = total / ((e - 1) * (w - overlap))
        beta = -alpha * overlap / w
        return alpha, beta, -(alpha * w + beta * self.block_size) / total


@dataclass(frozen=True)
class BlocksOfOneSize(dn.HybridProjectiveGeometryResponse):
    """Takes it that another value shares the block with probability 1/h."""

    @property
    def _noise(self) -> Any:
        own, near, far = self.user_variances
        others = near / self.h + (1 - Fraction(1, self.h)) * far
        return float(others), float(own - others)


MoreTruth = faults.more_truth(dn.HybridProjectiveGeometryResponse)
DroppedRejection = faults.dropped_rejection(dn.HybridProjectiveGeometryResponse, "rejection_outside")
WrongSet = faults.wrong_set(dn.HybridProjectiveGeometryResponse)
EveryReportCovers = faults.every_report_covers(dn.HybridProjectiveGeometryResponse)

kernel, plain_path, coarse_unbiased = faults.kernel(5), faults.plain_path(4), faults.coarse_unbiased(8)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (MoreTruth, contract.check_largest_ratio_is_within_epsilon),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (WordsDependOnCoin, plain_path),
    (StaysInItsBlock, kernel),
    (ConsecutiveBlocks, plain_path),
    (WrongSet, contract.check_unbiased_and_variance),
    (NoBlockTerm, contract.check_unbiased_and_variance),
    (IdealEstimator, coarse_unbiased),
    (BlocksOfOneSize, contract.check_unbiased_and_variance),
    (EveryReportCovers, contract.check_reconstruction_rate),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    k = 3 if fault is EveryReportCovers else 9
    faults.assert_caught(check, hybrid(k, 2, 3, 2, 1.0), fault(k, 1.0, q=2, t=3, h=2))
