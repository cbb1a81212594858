"""Faults planted in Hadamard Response: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.hadamard.test_hadamard_response import SEED, response


@dataclass(frozen=True)
class WordsDependOnCoin(dn.HadamardResponse):
    """Draws only the place that is needed."""

    def randomize_one(self, index: int, choices: Any) -> int:
        if choices.coin(self.thresholds["truth"]):
            return self.report_at(index, choices.below(self.set_size, self.thresholds["rejection_inside"]))
        outside = choices.below(self._outside, self.thresholds["rejection_outside"])
        return self.report_at(index, self.set_size + outside)


@dataclass(frozen=True)
class NumbersFromZero(dn.HadamardResponse):
    """Gives the first value of each block the number 0, with which every parity is even."""

    def report_at(self, index: int, place: int) -> int:
        return super().report_at(index - self.blocks, place) if index >= self.blocks else place


@dataclass(frozen=True)
class ParityForgotten(dn.HadamardResponse):
    """Clears the bit that makes the parity, in the batch only."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        number = indices // self.blocks + 1
        block, u = np.divmod(out, self.block_size - 1)
        u = (u + 1) & ~(number & -number)
        out[:] = block * (self.block_size - 1) + np.maximum(u, 1) - 1
        return again


@dataclass(frozen=True)
class ConsecutiveBlocks(dn.HadamardResponse):
    """Splits the domain into blocks of consecutive values on the device, but not on the server."""

    def randomize_one(self, index: int, choices: Any) -> int:
        block, number = divmod(index, -(-self.k // self.blocks))
        return super().randomize_one(number * self.blocks + block, choices)


@dataclass(frozen=True)
class OneDesign(dn.HadamardResponse):
    """Estimates as if all blocks were one design, in which every pair of values is alike."""

    def unbiased(self, summary: Any) -> Any:
        support = (self.signed_counts(summary) + self.block_counts(summary)) // 2
        overlap = self.set_size * Fraction(self.set_size - 1, self.symbols - 1)
        p, q = (
            self.set_size * self.two_level.high,
            overlap * self.two_level.high + (self.set_size - overlap) * self.two_level.low,
        )
        return (support / summary.n - float(q)) / float(p - q)


@dataclass(frozen=True)
class IdealEstimator(dn.HadamardResponse):
    """Estimates with the probabilities of e^epsilon instead of those of the integers that run."""

    @property
    def _truth(self) -> Fraction:
        inside = self.set_size * exponential_below(self.epsilon)
        return inside / (inside + self._outside)


@dataclass(frozen=True)
class AllPairsApart(dn.HadamardResponse):
    """Forgets that users of the same block add more to the error."""

    def noise(self, target: str) -> tuple[float, float, float]:
        own, _, far = map(float, self.agreement.variances)
        return (far, own - far, 0.0) if target == "users" else (far, own - far + 1, -1.0)


MoreTruth = faults.more_truth(dn.HadamardResponse)
DroppedRejection = faults.dropped_rejection(dn.HadamardResponse, "rejection_outside")
EveryReportCovers = faults.every_report_covers(dn.HadamardResponse)

kernel, plain_path, coarse_unbiased = faults.kernel(5), faults.plain_path(4), faults.coarse_unbiased(8)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (MoreTruth, contract.check_largest_ratio_is_within_epsilon),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (WordsDependOnCoin, plain_path),
    (NumbersFromZero, plain_path),
    (ParityForgotten, kernel),
    (ParityForgotten, faults.batch(SEED)),
    (ConsecutiveBlocks, plain_path),
    (OneDesign, contract.check_unbiased_and_variance),
    (IdealEstimator, coarse_unbiased),
    (AllPairsApart, contract.check_unbiased_and_variance),
    (EveryReportCovers, contract.check_reconstruction_rate),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    k = 9 if fault in (OneDesign, AllPairsApart) else 5  # of 5 values all pairs are alike; of 9 none is left uncovered
    faults.assert_caught(check, response(k, 2, 1.0), fault(k, 1.0, blocks=2))
