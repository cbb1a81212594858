"""Faults planted in Recursive Hadamard Response: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.mechanisms.hadamard.blocks import Agreement
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.hadamard.test_recursive_hadamard import SEED, response


@dataclass(frozen=True)
class RowsFromZero(dn.RecursiveHadamardResponse):
    """Reads the signs of row r - 1 on the device, the constant one among them."""

    def _payload_of(self, index: int, truthful: bool, replacement: int, public: int) -> int:
        own = 2 * (index % self.blocks) + (index // self.blocks & public).bit_count() % 2
        return public * self.classes + (replacement, own)[truthful]


@dataclass(frozen=True)
class RowDependsOnValue(dn.RecursiveHadamardResponse):
    """Always takes a row in which the value's sign is -, in the batch: the public number tells."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        out[:] = np.where(indices >= self.blocks, out % self.classes, out)
        return again


@dataclass(frozen=True)
class BlockTermForgotten(dn.RecursiveHadamardResponse):
    """Takes the signs of different values for uncorrelated, which they are over all rows, but not without row 0."""

    @property
    def agreement(self) -> Agreement:
        right = dn.RecursiveHadamardResponse.agreement.func(self)  # type: ignore[attr-defined]
        near = sum(right.near) / 2
        return Agreement(right.own, (near, near), right.far, right.blocks)


@dataclass(frozen=True)
class IdealEstimator(dn.RecursiveHadamardResponse):
    """Estimates with the probabilities of e^epsilon instead of those of the integers that run."""

    @property
    def _truth(self) -> Fraction:
        gain = exponential_below(self.epsilon) - 1
        return gain / (gain + self.classes)


MoreTruth = faults.more_truth(dn.RecursiveHadamardResponse)
DroppedRejection = faults.dropped_rejection(dn.RecursiveHadamardResponse, "rejection_public")
WordsDependOnCoin = faults.class_only_if_needed(dn.RecursiveHadamardResponse)
EveryClassIsSomeone = faults.every_report_covers(dn.RecursiveHadamardResponse, "EveryClassIsSomeone")

kernel, plain_path, coarse_unbiased = faults.kernel(5), faults.plain_path(4), faults.coarse_unbiased(8)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (MoreTruth, contract.check_largest_ratio_is_within_epsilon),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (WordsDependOnCoin, plain_path),
    (RowsFromZero, plain_path),
    (RowsFromZero, faults.batch(SEED)),
    (RowDependsOnValue, kernel),
    (BlockTermForgotten, contract.check_unbiased_and_variance),
    (IdealEstimator, coarse_unbiased),
    (EveryClassIsSomeone, contract.check_reconstruction_rate),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, response(5, 2, 1.0), fault(5, 1.0, bits=2))
