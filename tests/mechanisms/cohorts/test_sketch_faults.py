"""Faults planted in Bloom filters and sketches on purpose: each must be caught by the check named beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.mechanisms.cohorts.bloom_response import BloomResponse
from deniable.mechanisms.cohorts.hadamard_sketch import HadamardSketch
from deniable.mechanisms.cohorts.sketches import CountMeanSketch
from deniable.mechanisms.unary.unary_encoding import COIN_BITS, least_flip
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults

SEED = 5


@dataclass(frozen=True)
class FlipsTooRarely(BloomResponse):
    """One step below the threshold."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        found = super()._thresholds(bound, modulus)
        return {**found, "flip": found["flip"] - max(1, modulus >> COIN_BITS)}


@dataclass(frozen=True)
class ForgetsHashes(BloomResponse):
    """Sets the threshold as if filters had one bit."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        unit = max(1, modulus >> COIN_BITS)
        found = super()._thresholds(bound, modulus)
        return {**found, "flip": least_flip(bound, modulus // unit, 2) * unit}


@dataclass(frozen=True)
class HashesCancel(BloomResponse):
    """Two hashes that agree clear the bit instead of setting it once."""

    def randomize_one(self, index: int, choices: Any) -> tuple[int, ...]:
        return _with_filter(self, choices, lambda c: _folded(self, index, c, lambda a, b: a ^ b))


@dataclass(frozen=True)
class OneCohortForAll(BloomResponse):
    """The device hashes in every cohort as in the first."""

    def randomize_one(self, index: int, choices: Any) -> tuple[int, ...]:
        return _with_filter(self, choices, lambda _: self.filter(index, 0))


@dataclass(frozen=True)
class SetsInsteadOfFlipping(BloomResponse):
    """Coins set bits, and never clear one of the value's."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        again = super().randomize(indices, words, out)
        for i, index in enumerate(indices.tolist()):
            out[i, 1] |= np.uint64(self.filter(index, int(out[i, 0])))
        return again


@dataclass(frozen=True)
class IdealFlips(BloomResponse):
    """Estimates with the ideal chance of a flip."""

    def shares(self, summary: dn.Summary) -> Any:
        rows = self.layout.by_cohort(summary.counts)
        root = float(exponential_below(self.epsilon)) ** (1 / (2 * self.hashes))
        ideal = 1 / (1 + root)
        sizes = rows[:, :1]
        return (rows[:, 1:] - ideal * sizes) / (summary.n * (1 - 2 * ideal)), sizes[:, 0] / summary.n


@dataclass(frozen=True)
class CohortsAddNothing(BloomResponse):
    """A variance of flips alone."""

    def second_moments(self, _design: Any, weights: Any, _constant: Any) -> Any:
        flips = self._flip_noise * (weights**2).sum((1, 2)) / self.cohorts
        return np.broadcast_to(flips, (self.k, self.k)) + np.eye(self.k)


@dataclass(frozen=True)
class SimulatesNoClearedBits(BloomResponse):
    """Simulates users whose own bits are never cleared."""

    def _noisy_counts(self, users: Any, sizes: Any, generator: Any) -> Any:
        bits = users + generator.binomial(sizes[:, np.newaxis] - users, float(self.flip))
        return np.column_stack([sizes, bits]).reshape(-1)


def _folded(m: BloomResponse, index: int, cohort: int, join: Callable[[int, int], int]) -> int:
    bits = 0
    for place in range(m.hashes):
        bits = join(bits, 1 << m.functions.bucket(index, cohort, place))
    return bits


def _with_filter(m: BloomResponse, choices: Any, of: Callable[[int], int]) -> tuple[int, ...]:
    cohort = choices.below(m.cohorts, m.thresholds["rejection_cohort"])
    tossed = choices.coins(m.thresholds["flip"], m.layout.slices, COIN_BITS)
    flips = int.from_bytes(tossed.tobytes(), "little")
    return m.layout.row(cohort, (of(cohort) ^ flips) & (2**m.buckets - 1))


@dataclass(frozen=True)
class UnbiasedIsTheSketch(CountMeanSketch):
    """Calls the published estimate unbiased, which it is over the hash functions only."""

    def unbiased(self, summary: dn.Summary) -> Any:
        return self.whole_design.sketched(self.shares(summary)[0])


@dataclass(frozen=True)
class PermutesOnTheServer(CountMeanSketch):
    """Looks values up under other functions than devices hash with."""

    @property
    def whole_design(self) -> Any:
        right = CountMeanSketch.whole_design.func(self)  # type: ignore[attr-defined]
        return replace(right, table=np.roll(right.table, 1, axis=0))


@dataclass(frozen=True)
class NoCoinForZero(HadamardSketch):
    """Reads its coin only if the true sign is -."""

    def randomize_one(self, index: int, choices: Any) -> int:
        pair = choices.below(self._pairs, self.thresholds["rejection_pair"])
        odd = self.odd(pair, index)
        return 2 * pair + (odd ^ (not choices.coin(self.thresholds["truth"])) if odd else 0)


@dataclass(frozen=True)
class CoordinatesFromZero(HadamardSketch):
    """Numbers coordinates from 0, whose signs are all alike."""

    def odd(self, pair: int, index: int) -> int:
        cohort, coordinate = divmod(pair, self.coordinates)
        return (coordinate & self.functions.bucket(index, cohort)).bit_count() % 2


@dataclass(frozen=True)
class PublishedScale(HadamardSketch):
    """Weighs signs as if coordinate 0 were sent, too."""

    def shares(self, summary: dn.Summary) -> Any:
        shares, sizes = super().shares(summary)
        even = sizes[:, np.newaxis] / self.buckets
        return even + (shares - even) * self.buckets / self.coordinates, sizes


@dataclass(frozen=True)
class IdealSigns(HadamardSketch):
    """Estimates with the ideal chance of a turned sign."""

    def shares(self, summary: dn.Summary) -> Any:
        shares, sizes = super().shares(summary)
        e, even = float(exponential_below(self.epsilon)), sizes[:, np.newaxis] / self.buckets
        return even + (shares - even) * float(self.gain) * (e + 1) / (e - 1), sizes


TWO_HASHES = BloomResponse(dn.Domain.of(5), 4.0, cohorts=3, buckets=3, hashes=2, seed=4)
ONE_HASH = BloomResponse(dn.Domain.of(4), 3.0, cohorts=3, buckets=3)
SKETCH = CountMeanSketch(dn.Domain.of(4), 2.0, cohorts=3, buckets=3)
SIGNS = HadamardSketch(dn.Domain.of(4), 1.0, cohorts=3, buckets=4)

CohortsNotRejected = faults.dropped_rejection(BloomResponse, "rejection_cohort", "CohortsNotRejected")
WordsDependOnValue = faults.words_depend_on_value(BloomResponse)
StrayBits = faults.stray_bits(BloomResponse, "buckets")
DividesByCohortSizes = faults.divides_by_cohort_sizes(BloomResponse)
TurnsTooRarely = faults.more_truth(HadamardSketch, "TurnsTooRarely")
PairsNotRejected = faults.dropped_rejection(HadamardSketch, "rejection_pair", "PairsNotRejected")
ForgetsConstant = faults.forgets_constant(HadamardSketch)
SignsSeenByAll = faults.every_report_covers(HadamardSketch, "SignsSeenByAll")

kernel, plain_path, coarse_unbiased = faults.kernel(2), faults.plain_path(2), faults.coarse_unbiased(5)
kernel_of_signs, plain_path_of_signs = faults.kernel(4), faults.plain_path(4)

FAULTS: list[tuple[Any, type[Any], faults.Check]] = [
    (ONE_HASH, FlipsTooRarely, contract.check_largest_ratio_is_within_epsilon),
    (TWO_HASHES, ForgetsHashes, contract.check_largest_ratio_is_within_epsilon),
    (ONE_HASH, CohortsNotRejected, kernel),
    (ONE_HASH, CohortsNotRejected, plain_path),
    (TWO_HASHES, HashesCancel, plain_path),
    (ONE_HASH, OneCohortForAll, plain_path),
    (ONE_HASH, WordsDependOnValue, plain_path),
    (ONE_HASH, SetsInsteadOfFlipping, kernel),
    (ONE_HASH, StrayBits, kernel),
    (ONE_HASH, IdealFlips, coarse_unbiased),
    (ONE_HASH, DividesByCohortSizes, faults.mean_over_reports(SEED)),
    (ONE_HASH, CohortsAddNothing, contract.check_unbiased_and_variance),
    (TWO_HASHES, SimulatesNoClearedBits, faults.simulation(SEED)),
    (SKETCH, UnbiasedIsTheSketch, contract.check_unbiased_and_variance),
    (SKETCH, PermutesOnTheServer, contract.check_unbiased_and_variance),
    (SIGNS, TurnsTooRarely, contract.check_largest_ratio_is_within_epsilon),
    (SIGNS, PairsNotRejected, kernel_of_signs),
    (SIGNS, PairsNotRejected, plain_path_of_signs),
    (SIGNS, NoCoinForZero, plain_path_of_signs),
    (SIGNS, CoordinatesFromZero, contract.check_unbiased_and_variance),
    (SIGNS, CoordinatesFromZero, kernel_of_signs),
    (SIGNS, PublishedScale, contract.check_unbiased_and_variance),
    (SIGNS, IdealSigns, coarse_unbiased),
    (SIGNS, ForgetsConstant, contract.check_unbiased_and_variance),
    (SIGNS, SignsSeenByAll, contract.check_reconstruction_rate),
]


@faults.planted(FAULTS, ("good", "fault", "check"))
def test_a_planted_fault_is_caught(good: Any, fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, replace(good), fault(good.domain, **good.spec.parameters))
