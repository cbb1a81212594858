"""Faults planted in subset selection on purpose: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.randomness.bounds import exponential_below
from deniable.randomness.simulated_subsets import subset_counts
from tests.contract import checks as contract
from tests.contract import faults
from tests.naive import subsets as naive

SEED = 20260114


class _Fault(dn.SubsetSelection):
    """Subset selection whose batch kernel is written out, so that a line of it can be wrong."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        subsets, again = self.select(indices.tolist(), words.tolist())
        out[:] = [naive.bitmap(chosen, self.k) for chosen in subsets]
        return np.flatnonzero(again)

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        return naive.select(values, words, self.thresholds["truth"], self.k, self.w, self.rejections.tolist())


@dataclass(frozen=True)
class ReplacesFloydsLast(_Fault):
    """One Floyd subset of w others, its last element replaced by the value: not uniform."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        subsets, k, w = [], self.k, self.w
        for i, value in enumerate(values):
            coin, *draws = words[i * (w + 1) : (i + 1) * (w + 1)]
            chosen: list[int] = []
            for newest, word in zip(range(k - 1 - w, k - 1), draws, strict=True):
                drawn = word * (newest + 1) >> 64
                chosen.append(newest if drawn in chosen else drawn)
            if coin < self.thresholds["truth"]:
                chosen[-1] = k - 1
            subsets.append(naive.renamed(set(chosen), value, k - 1))
        return subsets, [False] * len(values)


@dataclass(frozen=True)
class RejectionForTheFirstDrawOnly(_Fault):
    """One of the draws is not tested."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        rejections = [int(self.rejections[0]), *[0] * (self.w - 1)]
        return naive.select(values, words, self.thresholds["truth"], self.k, self.w, rejections)


@dataclass(frozen=True)
class WordsDependOnCoin(dn.SubsetSelection):
    """Draws the spare value only if the sender's own is not sent."""

    def randomize_one(self, index: int, choices: Any) -> Any:
        if choices.coin(self.thresholds["truth"]):
            others = choices.subset(self.k - 1, self.w - 1)
            return self.layout.words(sum(1 << (v + (v >= index)) for v in others) | 1 << index)
        return self.layout.words(sum(1 << (v + (v >= index)) for v in choices.subset(self.k - 1, self.w)))


@dataclass(frozen=True)
class ForgetsTheSpareValue(_Fault):
    """Takes the value 0 for k - 2, where the spare one was put out of the way."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        subsets, again = super().select(values, words)
        for chosen in subsets:
            if self.k - 2 in chosen and 0 not in chosen:
                chosen.remove(self.k - 2)
                chosen.add(0)
        return subsets, again


@dataclass(frozen=True)
class NeverExchangesTheValue(_Fault):
    """Sends every value as if it were the last one."""

    def select(self, values: list[int], words: list[int]) -> tuple[list[set[int]], list[bool]]:
        return super().select([self.k - 1] * len(values), words)


@dataclass(frozen=True)
class WrongThreshold(dn.SubsetSelection):
    """e^epsilon/(e^epsilon + k - 1), as for one value, however many the set has."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        super()._thresholds(bound, modulus)
        return {"truth": int(modulus * bound * self.w / (bound + self.k - 1))}


@dataclass(frozen=True)
class OthersAsIfAlwaysTold(dn.SubsetSelection):
    """q = (w - 1)/(k - 1), as if every set held its sender's value."""

    @property
    def channel(self) -> PureChannel:
        p = dn.SubsetSelection.channel.func(self).p  # type: ignore[attr-defined]
        return PureChannel(p, Fraction(self.w - 1, self.k - 1) + Fraction(1, 2**40))


@dataclass(frozen=True)
class GuessFromTheWholeSet(dn.SubsetSelection):
    """States how often the set holds the value, not how often a guess from it is right."""

    def reconstruction_rate(self) -> Fraction:
        return self.channel.p


@dataclass(frozen=True)
class SimulatesTooLittleTruth(dn.SubsetSelection):
    """Lets p - q of the sets hold the value for certain, where (p - w/k)/(1 - w/k) is right."""

    def simulated_counts(self, true_counts: Any, generator: Any) -> Any:
        certain = generator.binomial(true_counts, float(self.channel.gain))
        return subset_counts(certain, int((true_counts - certain).sum()), self.w, generator)


def ideal(m: dn.SubsetSelection) -> PureChannel:
    e, k, w = exponential_below(m.epsilon), m.k, m.w
    p = w * e / (w * e + k - w)
    return PureChannel(p, (p * (w - 1) + (1 - p) * w) / (k - 1))


DroppedRejection = faults.dropped_rejections(dn.SubsetSelection)
WordsDependOnValue = faults.words_depend_on_value(dn.SubsetSelection)
ThresholdRoundedUp = faults.more_truth(dn.SubsetSelection, "ThresholdRoundedUp")
IdealProbabilities = faults.ideal_probabilities(dn.SubsetSelection, ideal, "IdealProbabilities")
ReadsAnyCode = faults.reads_any_bytes(dn.SubsetSelection, "ReadsAnyCode")

kernel, plain_path, batch = faults.kernel(4), faults.plain_path(4), faults.batch(SEED)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (ReplacesFloydsLast, kernel),
    (DroppedRejection, kernel),
    (DroppedRejection, plain_path),
    (RejectionForTheFirstDrawOnly, kernel),
    (WordsDependOnCoin, plain_path),
    (WordsDependOnValue, plain_path),
    (ForgetsTheSpareValue, kernel),
    (ForgetsTheSpareValue, batch),
    (NeverExchangesTheValue, kernel),
    (NeverExchangesTheValue, batch),
    (ThresholdRoundedUp, contract.check_largest_ratio_is_within_epsilon),
    (WrongThreshold, contract.check_largest_ratio_is_within_epsilon),
    (IdealProbabilities, faults.coarse_unbiased(8)),
    (OthersAsIfAlwaysTold, contract.check_unbiased_and_variance),
    (ReadsAnyCode, faults.decoding(b"\x01")),
    (GuessFromTheWholeSet, contract.check_reconstruction_rate),
    (SimulatesTooLittleTruth, faults.simulation(SEED)),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, dn.SubsetSelection(7, 1.0), fault(7, 1.0))


def test_the_written_out_kernel_itself_is_sound() -> None:
    kernel(_Fault(7, 1.0))
    batch(_Fault(7, 1.0))
