"""Faults planted in histogram encoding on purpose: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp
from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.estimation.evidence import Solution
from deniable.mechanisms.unary.histogram_summation import level_weights
from tests.contract import checks as contract
from tests.contract import faults
from tests.naive import levels as naive_levels

SEED = 5
BITS = 4

She = dn.SummationHistogramEncoding
The = dn.ThresholdingHistogramEncoding


class _Fault(She):
    """Summed histogram encoding whose batch kernel is written out, so that a line of it can be wrong."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        out[:] = naive_levels.draw_levels(indices.tolist(), words.tolist(), self._starts, self.k)
        return np.empty(0, np.int64)


def start_list(weights: list[int]) -> dict[str, int]:
    return {f"level_{c}": sum(weights[:c]) for c in range(1, len(weights))}


@dataclass(frozen=True)
class ValueLikeTheOthers(_Fault):
    """Forgets to turn the level of the value."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        rows = np.arange(len(out))
        out[rows, indices] = self.levels - 1 - out[rows, indices]
        return again


@dataclass(frozen=True)
class OneStepUpForTheValue(_Fault):
    """Adds one and cuts off again: right inside, wrong at both ends."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        rows = np.arange(len(out))
        level = self.levels - 1 - out[rows, indices].astype(np.int64)
        out[rows, indices] = np.minimum(level + 1, self.levels - 1)
        return again


@dataclass(frozen=True)
class AboveInsteadOfFrom(_Fault):
    """A level begins one word too late."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        unit = 2 ** (64 - self.word_bits)
        late = [start + unit for start in self._starts]
        out[:] = naive_levels.draw_levels(indices.tolist(), words.tolist(), late, self.k)
        return np.empty(0, np.int64)


@dataclass(frozen=True)
class OneWordForTwoValues(_Fault):
    """Every level is right, two of them together are not."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        rows = words.reshape(-1, self.stride).copy()
        rows[:, 1] = rows[:, 0]
        return super().randomize(indices, rows.reshape(-1), out)


@dataclass(frozen=True)
class WordsDependOnValue(_Fault):
    """Stops reading at the value."""

    def randomize_one(self, index: int, choices: Any) -> tuple[int, ...]:
        read = [choices.level(self._starts) for _ in range(index + 1)]
        read[index] = self.levels - 1 - read[index]
        return (*read, *[self.reach] * (self.k - index - 1))


@dataclass(frozen=True)
class WordsDependOnLevel(_Fault):
    """Leaves the last word unread where the first level is the highest."""

    def randomize_one(self, index: int, choices: Any) -> tuple[int, ...]:
        levels = [choices.level(self._starts)]
        more = self.k - 1 - (levels[0] == self.levels - 1)
        levels += [choices.level(self._starts) for _ in range(more)]
        levels += [self.reach] * (self.k - len(levels))
        levels[index] = self.levels - 1 - levels[index]
        return tuple(levels)


@dataclass(frozen=True)
class SensitivityOfOne(_Fault):
    """Noise for one step, though two one-hot vectors are two apart."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        return start_list(level_weights(bound**2, modulus, self.reach))


@dataclass(frozen=True)
class RarestLevelsRoundedDown(_Fault):
    """Takes one word of 2^64 from the rarest level."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        weights = level_weights(bound, modulus, self.reach)
        weights[0], weights[-1] = weights[0] + 1, weights[-1] - 1
        return start_list(weights)


@dataclass(frozen=True)
class TailsCutAway(_Fault):
    """Rounds each weight of the geometric distribution by itself: the ratio is no longer within epsilon."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        del bound
        q = exp(-self.epsilon / 2)
        ideal = [(1 - q) / (1 + q) * q ** abs(j) for j in range(-self.reach, self.reach + 2)]
        weights = [max(1, int(modulus * share)) for share in ideal]
        weights[0] += modulus - sum(weights)
        return start_list(weights)


@dataclass(frozen=True)
class GuaranteeOfOneLevel(_Fault):
    """Forgets that two levels differ between two values."""

    def ratio(self) -> Fraction:
        return max(self._odds)


@dataclass(frozen=True)
class SumTakenAsUnbiased(_Fault):
    """The paper's estimator: the mean of the noisy vectors, as if noise were not cut off."""

    def _methods(self) -> Any:
        return {"unbiased": lambda e: Solution((e.counts - e.n * self.reach) / e.n)}


@dataclass(frozen=True)
class PapersVariance(_Fault):
    """8/epsilon^2, the variance of continuous noise."""

    def noise(self, target: str) -> tuple[float, float, float]:
        base = 8 / self.epsilon**2
        return (base, 0.0, 0.0) if target == "users" else (base, 1.0, -1.0)


def _add_in_bytes(_self: Any, data: Any, counts: Any) -> None:
    counts += data.sum(axis=0, dtype=np.uint8)


SumsInBytes = faults.with_layout(_Fault, "SumsInBytes", count=_add_in_bytes)


@dataclass(frozen=True)
class SimulatesOthersOnly(_Fault):
    """Forgets that the senders' own levels are turned."""

    def simulated_counts(self, true_counts: Any, generator: Any) -> Any:
        none = np.zeros_like(true_counts)
        none[0] = true_counts.sum()
        return np.roll(super().simulated_counts(none, generator), 1)


@dataclass(frozen=True)
class GuessesByOneValue(_Fault):
    """An attack rate that looks at the first level only."""

    def reconstruction_rate(self) -> Fraction:
        return Fraction(max(self.weights), 2**64)


def _cut_off_stray_levels(self: Any, data: bytes) -> tuple[int, ...]:
    number = int.from_bytes(data, "little")
    levels = [number >> v * self.level_bits & 2**self.level_bits - 1 for v in range(self.values)]
    return tuple(min(level, self.levels - 1) for level in levels)


DecodesStrayLevels = faults.with_layout(_Fault, "DecodesStrayLevels", unpack=_cut_off_stray_levels)


@dataclass(frozen=True)
class ThetaOnBothSides(The):
    """Takes theta for the value's coin and 1 - theta for the others."""

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        own, _ = super()._coins(bound, modulus)
        return own, int(modulus * exp(-self.epsilon * (1.5 - self.theta)) / 2)


@dataclass(frozen=True)
class NoiseOfScaleOne(The):
    """Laplace noise of scale 1/epsilon."""

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        del bound
        own = int(modulus * (1 - exp(self.epsilon * (self.theta - 1)) / 2))
        return own, int(modulus * exp(-self.epsilon * self.theta) / 2)


def ideal(m: The) -> PureChannel:
    p = 1 - exp(m.epsilon * (m.theta - 1) / 2) / 2
    return PureChannel(Fraction(p), Fraction(exp(-m.epsilon * m.theta / 2) / 2))


ratio = contract.check_largest_ratio_is_within_epsilon

NeighboursWords = faults.neighbours_word(_Fault, "NeighboursWords")
SaysAllIsSpent = faults.claims_all_of_epsilon(The, "SaysAllIsSpent")
IdealProbabilities = faults.ideal_probabilities(The, ideal, "IdealProbabilities")
IdealEstimator = faults.ideal_estimator(The, ideal)

kernel, plain_path, batch = faults.kernel(BITS), faults.plain_path(BITS), faults.batch(SEED)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (ValueLikeTheOthers, kernel),
    (OneStepUpForTheValue, kernel),
    (AboveInsteadOfFrom, kernel),
    (OneWordForTwoValues, kernel),
    (NeighboursWords, batch),
    (WordsDependOnValue, plain_path),
    (WordsDependOnLevel, plain_path),
    (SensitivityOfOne, ratio),
    (RarestLevelsRoundedDown, ratio),
    (TailsCutAway, ratio),
    (GuaranteeOfOneLevel, ratio),
    (SumTakenAsUnbiased, contract.check_unbiased_and_variance),
    (PapersVariance, contract.check_unbiased_and_variance),
    (SumsInBytes, faults.counts(SEED)),
    (SimulatesOthersOnly, faults.simulation(SEED)),
    (GuessesByOneValue, contract.check_reconstruction_rate),
    (DecodesStrayLevels, faults.decoding(b"\xff\x01")),
    (ThetaOnBothSides, ratio),
    (NoiseOfScaleOne, ratio),
    (SaysAllIsSpent, ratio),
    (IdealProbabilities, faults.kernel(3)),
    (IdealEstimator, faults.coarse_unbiased(8)),
]


def made(cls: type[Any]) -> Any:
    return cls(3, 3.0, reach=2) if issubclass(cls, She) else cls(3, 3.0)


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, made(She if issubclass(fault, She) else The), made(fault))


def test_the_written_out_kernel_itself_is_sound() -> None:
    kernel(made(_Fault))
    batch(made(_Fault))
