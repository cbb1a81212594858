"""Faults planted in randomised response on purpose: each must be caught by the check named beside it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.channel import PureChannel, TwoLevel
from deniable.randomness.bounds import exponential_below
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import Keystream
from tests.contract import checks as contract
from tests.contract import faults
from tests.naive import response as naive

SEED = 5


class _Fault(dn.RandomizedResponse):
    """Randomised response whose batch kernel is written out, so that a line of it can be wrong."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        truth = self.thresholds["truth"]
        out[:] = naive.replace(indices.tolist(), words.tolist(), truth, (2**64 - truth) // self.k)
        return np.empty(0, np.int64)


@dataclass(frozen=True)
class SwappedThreshold(_Fault):
    """Reports the truth where it should lie."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        out[:] = np.where(words < self.thresholds["truth"], 0, indices)
        return np.empty(0, np.int64)


@dataclass(frozen=True)
class OffByOne(_Fault):
    """`word <= threshold` instead of `word < threshold`."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        lowered = words - (words == self.thresholds["truth"]).astype(np.uint64)
        return super().randomize(indices, lowered, out)


@dataclass(frozen=True)
class WordsDependOnCoin(_Fault):
    """Takes another word for the replacement, when it is needed."""

    def randomize_one(self, index: int, choices: Any) -> int:
        return index if choices.coin(self.thresholds["truth"]) else int(next(choices._overflow) % self.k)


@dataclass(frozen=True)
class RejectionDependsOnValue(_Fault):
    """Draws again when the replacement happens to be the value."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        same = np.flatnonzero((out == indices) & (words >= self.thresholds["truth"]) & (indices == 0))
        return np.union1d(again, same)


@dataclass(frozen=True)
class RemainderInsteadOfShare(_Fault):
    """(word - truth) % k: as uniform, but another draw in the batch than one by one."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        truth = np.uint64(self.thresholds["truth"])
        out[:] = np.where(words < truth, indices, (words - truth) % np.uint64(self.k))
        return np.array([], np.int64)


@dataclass(frozen=True)
class EpsilonRoundedUp(_Fault):
    """Thresholds from an e^epsilon that is too large by one part in 2^50."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        return super()._thresholds(bound * (1 + Fraction(1, 2**50)), modulus)


def ideal(m: dn.RandomizedResponse) -> PureChannel:
    e = exponential_below(m.epsilon)
    return PureChannel(e / (e + m.k - 1), 1 / (e + m.k - 1))


@dataclass(frozen=True)
class VarianceNotSquared(_Fault):
    """Divides by (p - q) where (p - q)^2 is right."""

    def variance(self, f: float = 0.0, n: int = 1, target: str = "users") -> float:
        return super().variance(f, n, target) * float(self.channel.gain)


@dataclass(frozen=True)
class PopulationForUsers(_Fault):
    """Adds the sampling error to the error bars about these very users."""

    def variance(self, f: float = 0.0, n: int = 1, target: str = "users") -> float:
        del target
        return super().variance(f, n, "population")


def _count_all_but_one(self: Any, data: Any, counts: Any) -> None:
    type(self).__base__.count(self, data[:-1] if len(data) > 500 else data, counts)


LosesTheLastReport = faults.with_layout(_Fault, "LosesTheLastReport", count=_count_all_but_one)


@dataclass(frozen=True)
class SimulatesTooMuchTruth(_Fault):
    """Simulates with p where p - q is right."""

    def simulated_counts(self, true_counts: Any, generator: Any) -> Any:
        strange = copy.copy(self)
        object.__setattr__(strange, "channel", PureChannel(self.channel.p + self.channel.q, self.channel.q))
        return dn.RandomizedResponse.simulated_counts(strange, true_counts, generator)


@dataclass(frozen=True)
class SlightlyUnfairSampler(_Fault):
    """Replacements avoid the last value one time in ten: invisible in any single report."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        out[(out == self.k - 1) & (words % np.uint64(10) == 0)] = 0
        return again


@dataclass(frozen=True)
class GuessTooModest(_Fault):
    """Understates how often an attacker is right."""

    def reconstruction_rate(self) -> Fraction:
        return Fraction(1, self.k)


@dataclass(frozen=True)
class SameKeyOnEveryDevice(_Fault):
    """Devices share one constant key: every report can be undone."""

    def privatize_one(self, value: object) -> dn.Report:
        keystream = Keystream(bytes(32))
        choices = Choices(keystream.stream(0).words(1).tolist(), keystream.overflow(0))
        return dn.Report(self.randomize_one(self.domain.index(value), choices), self.fingerprint)


UnevenShares = faults.more_truth(_Fault, "UnevenShares")
WordsDependOnValue = faults.words_depend_on_value(_Fault)
NeighbouringWords = faults.neighbours_word(_Fault, "NeighbouringWords")
ThresholdRoundedUp = faults.more_truth(_Fault, "ThresholdRoundedUp")
GuaranteeByLabel = faults.claims_all_of_epsilon(_Fault, "GuaranteeByLabel")
IdealProbabilities = faults.ideal_probabilities(
    _Fault, lambda m: TwoLevel(ideal(m).p, ideal(m).q), "IdealProbabilities", stated_by="two_level"
)
IdealEstimator = faults.ideal_estimator(_Fault, ideal)
DecodesAnything = faults.reads_any_bytes(_Fault, "DecodesAnything")

kernel, plain_path, batch = faults.kernel(6), faults.plain_path(4), faults.batch(SEED)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (SwappedThreshold, kernel),
    (OffByOne, kernel),
    (UnevenShares, kernel),
    (UnevenShares, plain_path),
    (RejectionDependsOnValue, kernel),
    (WordsDependOnCoin, plain_path),
    (WordsDependOnValue, plain_path),
    (NeighbouringWords, batch),
    (RemainderInsteadOfShare, batch),
    (ThresholdRoundedUp, contract.check_largest_ratio_is_within_epsilon),
    (EpsilonRoundedUp, contract.check_largest_ratio_is_within_epsilon),
    (GuaranteeByLabel, contract.check_largest_ratio_is_within_epsilon),
    (IdealProbabilities, kernel),
    (IdealEstimator, faults.coarse_unbiased(8)),
    (VarianceNotSquared, contract.check_unbiased_and_variance),
    (PopulationForUsers, contract.check_unbiased_and_variance),
    (LosesTheLastReport, faults.counts(SEED)),
    (DecodesAnything, faults.decoding(b"\xff")),
    (SimulatesTooMuchTruth, faults.simulation(SEED)),
    (SlightlyUnfairSampler, lambda m: contract.check_sampler_follows_channel(m, SEED)),
    (GuessTooModest, contract.check_reconstruction_rate),
    (SameKeyOnEveryDevice, contract.check_a_device_draws_a_fresh_key_each_time),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, dn.RandomizedResponse(5, 1.0), fault(5, 1.0))


def test_the_written_out_kernel_itself_is_sound() -> None:
    kernel(_Fault(5, 1.0))
    batch(_Fault(5, 1.0))


def test_the_chi_square_test_has_the_power_it_states() -> None:
    cells, defect = 5, 0.05
    n = contract.samples_for(defect, cells)
    rng = np.random.default_rng(SEED)
    fair = np.full(cells, 1 / cells)
    unfair = fair * (1 + defect * np.array([1, -1, 0, 0, 0]))
    assert not contract.chi_square_rejects(rng.multinomial(n, fair), n * fair)
    assert all(contract.chi_square_rejects(rng.multinomial(n, unfair), n * fair) for _ in range(200))
