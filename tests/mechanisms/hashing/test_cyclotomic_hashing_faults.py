"""Faults planted in Cyclotomic Local Hashing: each must be caught by the check named beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.designs.cyclotomy import class_table
from deniable.randomness.keystream import Keystream
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.hashing.test_cyclotomic_hashing import SEED, hashing


@dataclass(frozen=True)
class OwnNumberTold(dn.CyclotomicLocalHashing):
    """Sends class 0 where the value is y."""

    def _payload_of(self, index: int, truthful: bool, replacement: int, public: int) -> int:
        own = self.class_of((index - public) % self.modulus) % self.classes
        return public * self.classes + (replacement, own)[truthful]


@dataclass(frozen=True)
class UniformClassForgotten(dn.CyclotomicLocalHashing):
    """Leaves the 1/(N K) of x = y out of q."""

    @property
    def channel(self) -> PureChannel:
        right = dn.CyclotomicLocalHashing.channel.func(self)  # type: ignore[attr-defined]
        return PureChannel(right.p, right.q - Fraction(1, self.symbols))


@dataclass(frozen=True)
class MirroredClasses(dn.CyclotomicLocalHashing):
    """Takes the class of y - x in the decoder."""

    def support_counts(self, summary: Any) -> Any:
        rows = summary.counts.reshape(self.modulus, self.classes)
        table = class_table(self.modulus, self.classes)
        difference = (np.arange(self.modulus)[:, np.newaxis] - np.arange(self.k)) % self.modulus
        found = [[rows[y, table[d]] if d else 0 for d in row] for y, row in enumerate(difference)]
        return np.array(found).sum(axis=0)


@dataclass(frozen=True)
class OverflowRestartsWithEachChunk(dn.CyclotomicLocalHashing):
    """The overflow of a report is that of its place in the chunk."""

    def payloads(self, indices: Any, keystream: Any) -> Any:
        chunk = 2**17 // self.stride

        class Restarting(Keystream):
            def overflow(self, report: int) -> Any:
                return super().overflow(report % chunk)

        return super().payloads(indices, Restarting(keystream.key, keystream.simulated))


def ideal(m: dn.CyclotomicLocalHashing) -> PureChannel:
    e, w = Fraction(math.exp(m.epsilon)), (m.modulus - 1) // m.classes
    total = m.modulus * (e + m.classes - 1)
    q = ((w - 1) * e + m.modulus - 1 - w) / total + Fraction(1, m.symbols)
    return PureChannel((m.modulus - 1) * e / total, q)


ThresholdTooHigh = faults.more_truth(dn.CyclotomicLocalHashing, "ThresholdTooHigh")
NoRejection = faults.dropped_rejection(dn.CyclotomicLocalHashing, "rejection_public", "NoRejection")
WordsDependOnCoin = faults.class_only_if_needed(dn.CyclotomicLocalHashing)
IdealEstimator = faults.ideal_probabilities(dn.CyclotomicLocalHashing, ideal)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (ThresholdTooHigh, contract.check_largest_ratio_is_within_epsilon),
    (NoRejection, faults.kernel(5)),
    (OwnNumberTold, faults.plain_path(4)),
    (OwnNumberTold, faults.batch(SEED)),
    (WordsDependOnCoin, faults.plain_path(4)),
    (UniformClassForgotten, contract.check_unbiased_and_variance),
    (IdealEstimator, faults.coarse_unbiased(7)),
    (MirroredClasses, contract.check_unbiased_and_variance),
    (
        OverflowRestartsWithEachChunk,
        lambda m: contract.check_overflow_is_indexed_by_report_beyond_the_first_chunk(m, SEED),
    ),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, hashing(7, 1.0, 7, 2), fault(7, 1.0, 7, 2))
