"""Faults planted in block designs on purpose: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.designs.examples import FANO
from tests.mechanisms.designs.test_block_design import SEED, fano


@dataclass(frozen=True)
class WordsDependOnCoin(dn.BlockDesign):
    """Draws only the place that is needed."""

    def randomize_one(self, index: int, choices: Any) -> int:
        inside, outside = self._bounds
        if choices.coin(self.thresholds["truth"]):
            return int(self.places[index, choices.below(inside, self.thresholds["rejection_inside"])])
        return int(self.places[index, inside + choices.below(outside, self.thresholds["rejection_outside"])])


@dataclass(frozen=True)
class AnyBlockInstead(dn.BlockDesign):
    """A lie is any block, as in randomised response, instead of one without the value."""

    def randomize_one(self, index: int, choices: Any) -> int:
        truthful = choices.coin(self.thresholds["truth"])
        with_value = choices.below(self.supporting, self.thresholds["rejection_inside"])
        return (choices.below(self.symbols), int(self.places[index, with_value]))[truthful]


@dataclass(frozen=True)
class TableOfOneBlockWrong(dn.BlockDesign):
    """The kernel's table has two blocks of a value exchanged: one with it, one without."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        wrong = self.places.copy()
        wrong[0, [0, -1]] = wrong[0, [-1, 0]]
        self.__dict__["places"] = wrong
        return super().randomize(indices, words, out)


def ideal(m: dn.BlockDesign) -> PureChannel:
    e, r, b, overlap = exponential_below(m.epsilon), m.supporting, m.symbols, m.overlap
    whole = r * e + b - r
    return PureChannel(r * e / whole, (overlap * e + r - overlap) / whole)


@dataclass(frozen=True)
class WrongOverlap(dn.BlockDesign):
    """Takes lambda as if blocks were random: r^2/b."""

    @property
    def overlap(self) -> Fraction:  # type: ignore[override]
        return Fraction(self.supporting**2, self.symbols)


@dataclass(frozen=True)
class SupportByPlace(dn.BlockDesign):
    """Counts the report of the same number instead of the blocks with a value."""

    def support_counts(self, summary: dn.Summary) -> Any:
        return summary.counts[: self.k] * self.supporting


ThresholdRoundedUp = faults.more_truth(dn.BlockDesign, "ThresholdRoundedUp")
DroppedRejection = faults.dropped_rejection(dn.BlockDesign, "rejection_inside")
IdealEstimator = faults.ideal_estimator(dn.BlockDesign, ideal)

kernel, plain_path = faults.kernel(6), faults.plain_path(4)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (ThresholdRoundedUp, contract.check_largest_ratio_is_within_epsilon),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (WordsDependOnCoin, plain_path),
    (AnyBlockInstead, plain_path),
    (AnyBlockInstead, faults.batch(SEED)),
    (TableOfOneBlockWrong, kernel),
    (IdealEstimator, faults.coarse_unbiased(8)),
    (WrongOverlap, contract.check_unbiased_and_variance),
    (SupportByPlace, contract.check_unbiased_and_variance),
    (SupportByPlace, faults.counts(SEED)),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, fano(), fault(7, 1.0, FANO))
