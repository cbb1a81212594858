"""Faults planted in Cyclotomic Subset Response: each must be caught by the check named beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.designs.cyclotomy import Cyclotomy
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.designs.test_cyclotomic import SEED, response


@dataclass(frozen=True)
class _Fault(dn.CyclotomicSubsetResponse):
    name = "csr"


@dataclass(frozen=True)
class OneSetForAllCohorts(_Fault):
    """The client forgets the cohort's multiplier."""

    def randomize_one(self, index: int, choices: Any) -> int:
        t, (cohorts, inside, outside) = self.thresholds, self._bounds
        truthful = choices.coin(t["truth"])
        cohort = choices.below(cohorts, t["rejection_cohort"])
        places = choices.below(inside, t["rejection_inside"]), inside + choices.below(outside, t["rejection_outside"])
        return cohort * self.sets.modulus + (index + int(self.sets.element(places[not truthful]))) % self.sets.modulus


@dataclass(frozen=True)
class PartTakenForWhole(_Fault):
    """Uses the estimator of a balanced family for a part of one."""

    @property
    def channel(self) -> Any:
        w = self.sets.set_size
        overlap = Fraction(w * (w - 1), self.sets.modulus - 1)
        return self.two_level.pure(self.cohorts * w, self.cohorts * overlap)


@dataclass(frozen=True)
class MirroredDecoder(_Fault):
    """Looks for x - y instead of y - x in the set."""

    def support_counts(self, summary: Any) -> Any:
        rows = summary.counts.reshape(-1, self.sets.modulus)
        return self.family.support(np.roll(rows[:, ::-1], 1, axis=1).reshape(-1))[
            (-np.arange(self.k)) % self.sets.modulus
        ]


def ideal(m: dn.CyclotomicSubsetResponse) -> PureChannel:
    e, w, overlap = math.exp(m.epsilon), m.sets.set_size, m.sets.set_size * (m.sets.set_size - 1) / (m.sets.modulus - 1)
    total = w * e + m.sets.modulus - w
    return PureChannel(Fraction(w * e / total), Fraction((overlap * e + w - overlap) / total))


ThresholdTooHigh = faults.more_truth(_Fault, "ThresholdTooHigh")
NoRejection = faults.dropped_rejection(_Fault, "rejection_outside", "NoRejection")
WordsDependOnCoin = faults.place_only_if_needed(_Fault)
IdealEstimator = faults.ideal_probabilities(_Fault, ideal)
GapsForgotten = faults.every_report_covers(_Fault, "GapsForgotten")

FAULTS: list[tuple[type[Any], dict[str, Any], faults.Check]] = [
    (ThresholdTooHigh, {}, contract.check_largest_ratio_is_within_epsilon),
    (NoRejection, {}, faults.kernel(4)),
    (OneSetForAllCohorts, {}, faults.batch(SEED)),
    (OneSetForAllCohorts, {}, faults.plain_path(3)),
    (WordsDependOnCoin, {}, faults.plain_path(3)),
    (IdealEstimator, {}, faults.coarse_unbiased(5)),
    (PartTakenForWhole, {"cohorts": (0, 1)}, contract.check_unbiased_and_variance),
    (MirroredDecoder, {"classes": 2, "cohorts": (0,)}, contract.check_unbiased_and_variance),
    (GapsForgotten, {"k": 2}, contract.check_reconstruction_rate),
]


@faults.planted(FAULTS, ("fault", "setting", "check"))
def test_a_planted_fault_is_caught(fault: type[Any], setting: dict[str, Any], check: faults.Check) -> None:
    sets = Cyclotomy(7, setting.get("classes", 3), (0,), False, setting.get("cohorts", (0, 1, 2)), 3)
    k = setting.get("k", 7)
    faults.assert_caught(check, response(k, 1.0, sets), fault(k, 1.0, sets=sets))
