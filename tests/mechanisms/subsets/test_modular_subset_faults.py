"""Faults planted in Modular Subset Selection: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.mechanisms.subsets.subset_selection import choose_subset, words_of_marks
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.subsets.test_modular_subset import SEED


@dataclass(frozen=True)
class ThresholdOfTheDomain(dn.ModularSubsetSelection):
    """Coins as for k values instead of m_j residues."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        right = super()._thresholds(bound, modulus)
        wrong = int(modulus * bound * self.k / (bound * self.k + 1))
        return {name: wrong if name.startswith("truth") else number for name, number in right.items()}


@dataclass(frozen=True)
class WordsDependOnCohort(dn.ModularSubsetSelection):
    """Leaves words unread that a cohort does not need."""

    def randomize_one(self, index: int, choices: Any) -> tuple[int, ...]:
        j = choices.below(self.cohorts, self.thresholds["rejection_cohort"])
        m, w, truth = self.moduli[j], self.sizes[j], self.thresholds[f"truth_{j}"]
        chosen = choose_subset(index % m, m, w, truth, self.rejections[j, :w], choices)
        return (j, *words_of_marks(chosen, self.layout.slices))


@dataclass(frozen=True)
class OtherResidue(dn.ModularSubsetSelection):
    """The kernel takes the quotient's residue."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        return super().randomize((indices + 1) % self.k, words, out)


@dataclass(frozen=True)
class EstimatesFromCohortShares(dn.ModularSubsetSelection):
    """Divides by the random size of a cohort instead of n/l."""

    def residue_frequencies(self, summary: dn.Summary) -> Any:
        residues, reports = np.split(summary.counts, [sum(self.moduli)])
        parts = zip(self.system.blocks(residues), reports.tolist(), self.channels, strict=True)
        return np.concatenate([(c / max(n, 1) - float(q.q)) / float(q.gain) for c, n, q in parts])


@dataclass(frozen=True)
class IdealEstimator(dn.ModularSubsetSelection):
    """Estimates with the gain of e^epsilon instead of that of the integers that run."""

    def residue_frequencies(self, summary: dn.Summary) -> Any:
        right = super().residue_frequencies(summary)
        e = exponential_below(self.epsilon)
        parts = []
        for s, m, w, channel in zip(self.system.blocks(right), self.moduli, self.sizes, self.channels, strict=True):
            p = w * e / (w * e + m - w)
            parts.append((s - 1 / m) * float(channel.gain / (p - (w - p) / (m - 1))) + 1 / m)
        return np.concatenate(parts)


@dataclass(frozen=True)
class NoiseWithoutSystem(dn.ModularSubsetSelection):
    """States the variance of a residue as that of a value."""

    def noise(self, target: str) -> tuple[float, float, float]:
        return self.channels[0].noise(target)


@dataclass(frozen=True)
class TruthOfOneCohortOnly(dn.ModularSubsetSelection):
    """The guarantee looks at the first cohort only."""

    def ratio(self) -> Fraction:
        channel, m, w = self.channels[0], self.moduli[0], self.sizes[0]
        return channel.p * (m - w) / ((1 - channel.p) * w)


DroppedRejection = faults.dropped_rejections(dn.ModularSubsetSelection)

kernel, plain_path = faults.kernel(4), faults.plain_path(3)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (ThresholdOfTheDomain, contract.check_largest_ratio_is_within_epsilon),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (WordsDependOnCohort, plain_path),
    (OtherResidue, kernel),
    (OtherResidue, faults.batch(SEED)),
    (EstimatesFromCohortShares, contract.check_unbiased_and_variance),
    (IdealEstimator, faults.coarse_unbiased(6)),
    (NoiseWithoutSystem, contract.check_unbiased_and_variance),
    (TruthOfOneCohortOnly, contract.check_largest_ratio_is_within_epsilon),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    arguments: dict[str, Any] = {"moduli": (3, 4), "sizes": (1, 2)}
    faults.assert_caught(check, dn.ModularSubsetSelection(5, 1.0, **arguments), fault(5, 1.0, **arguments))
