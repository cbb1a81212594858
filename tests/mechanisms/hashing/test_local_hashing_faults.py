"""The kernels of local hashing against their slow twins, and faults planted in it that the contract must catch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable.estimation.channel import PureChannel
from deniable.estimation.operators.hashing import LinearHashes
from deniable.kernels.hashing import fold, hash_or_replace, unfold
from deniable.mechanisms.hashing.primes import division, hash_channel
from tests.contract import checks as contract
from tests.contract import faults
from tests.naive import hashing as naive_hashes

SEED = 77
SIZES = st.sampled_from([(2, 1), (2, 4), (2, 9), (3, 1), (3, 2), (3, 5), (5, 3), (7, 2), (31, 2), (127, 1), (2039, 1)])


@pytest.mark.twin
@given(SIZES, st.booleans(), st.integers(0, 2**64 - 1), st.integers(0, 2**32))
@settings(max_examples=60)
def test_hashing_equals_its_slow_twin(size: tuple[int, int], lines: bool, truth: int, seed: int) -> None:
    (base, count), rng = size, np.random.default_rng(seed)
    k = max(2, base**count)
    m = (dn.FastLocalHashing if lines else dn.OptimizedLocalHashing)(k, 1.0, base)
    known = naive_hashes.seeds(base, count, lines)
    values = rng.integers(0, k, 8)
    drawn = rng.integers(0, 2**64, 3 * len(values), dtype=np.uint64)
    drawn[rng.random(len(drawn)) < 0.1] = rng.choice(np.array([0, 1, 2**63, 2**64 - 1], np.uint64))
    rejections = rng.choice(np.array([0, 5, 2**61], np.uint64), 2)
    out, again = np.empty(len(values), np.uint32), np.empty(len(values), np.bool_)
    firsts, parts = np.array(m._firsts, np.uint64), np.array(m._parts, np.uint64)
    bounds = np.array([base, len(known)], np.uint64)
    found = hash_or_replace(values, drawn, np.uint64(truth), bounds, rejections, firsts, parts, m._products, again, out)
    rejected = rejections.tolist()
    wanted = naive_hashes.hash_or_replace(values.tolist(), drawn.tolist(), truth, base, rejected, count, known)
    assert (out.tolist(), again.tolist()) == wanted
    assert found == sum(wanted[1])


@pytest.mark.twin
@pytest.mark.parametrize(("base", "count"), [(2, 3), (3, 1), (3, 3), (5, 2), (7, 2)])
def test_folding_equals_its_slow_twin(base: int, count: int) -> None:
    hashes, rng = LinearHashes(base, count, base**count, lines=True), np.random.default_rng(SEED)
    lines = (base**count - 1) // (base - 1)
    counts, sums = rng.integers(0, 100, (base**count - 1, base)), rng.integers(0, 100, (lines, base))
    folded, unfolded = np.zeros_like(sums), np.zeros_like(counts)
    fold(counts, hashes.line_cells, hashes.inverses, folded)
    unfold(sums, hashes.line_cells, hashes.inverses, unfolded)
    assert folded.tolist() == naive_hashes.fold(counts.tolist(), base, count)
    assert unfolded.tolist() == naive_hashes.unfold(sums.tolist(), base, count)


@given(st.integers(2, 2**31 - 1), st.integers(0, 2**31 - 1))
@settings(max_examples=500)
def test_division_by_multiplication_is_exact(base: int, number: int) -> None:
    multiplier, shift = division(base)
    for x in (number, number // base * base, number // base * base - 1, 2**31 - 1):
        x = max(x, 0)
        assert x * multiplier < 2**64
        assert (x * multiplier) >> shift == x // base


@dataclass(frozen=True)
class SeedReadFromTheOtherEnd(dn.OptimizedLocalHashing):
    """Pairs the first digit of the value with the last one of the seed, on one of the two paths."""

    def _class_under(self, index: int, public: int) -> int:
        digits = naive_hashes.digits(self.seed(public), self.g, self.digits)[::-1]
        return super()._class_under(index, sum(digit * self.g**place for place, digit in enumerate(digits)) - 1)


@dataclass(frozen=True)
class SeedMayBeZero(dn.OptimizedLocalHashing):
    """Lets place 0 stand for the vector 0, which hashes all values alike."""

    def seed(self, public: int) -> int:
        return public


@dataclass(frozen=True)
class CollisionsOfAnIdealHash(dn.OptimizedLocalHashing):
    """Takes 1/g for seeds that have no 0 among them."""

    @property
    def channel(self) -> PureChannel:
        return PureChannel(dn.OptimizedLocalHashing.channel.func(self).p, Fraction(1, self.g))  # type: ignore[attr-defined]


@dataclass(frozen=True)
class FirstCellNotCounted(dn.OptimizedLocalHashing):
    """Leaves the reports of the first seed and class 0 out of the sums."""

    def support_counts(self, summary: Any) -> Any:
        return super().support_counts(summary) - summary.counts[0]


@dataclass(frozen=True)
class ClassesMirrored(dn.OptimizedLocalHashing):
    """Takes class -y for y in the decoder."""

    def support_counts(self, summary: Any) -> Any:
        rows = summary.counts.reshape(-1, self.g)
        return self.incidence.support(rows[:, -np.arange(self.g) % self.g].reshape(-1))


def ideal(m: dn.OptimizedLocalHashing) -> PureChannel:
    e = Fraction(math.exp(m.epsilon))
    return hash_channel(e / (e + m.g - 1), m.g, m.digits)


ThresholdTooHigh = faults.more_truth(dn.OptimizedLocalHashing, "ThresholdTooHigh")
NoRejection = faults.dropped_rejection(dn.OptimizedLocalHashing, "rejection_class", "NoRejection")
WordsDependOnCoin = faults.class_only_if_needed(dn.OptimizedLocalHashing)
IdealEstimator = faults.ideal_probabilities(dn.OptimizedLocalHashing, ideal)
kernel = faults.kernel(5)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (ThresholdTooHigh, contract.check_largest_ratio_is_within_epsilon),
    (NoRejection, kernel),
    (WordsDependOnCoin, faults.plain_path(4)),
    (SeedReadFromTheOtherEnd, faults.batch(SEED)),
    (SeedReadFromTheOtherEnd, kernel),
    (SeedMayBeZero, kernel),
    (SeedMayBeZero, contract.check_unbiased_and_variance),
    (IdealEstimator, faults.coarse_unbiased(7)),
    (CollisionsOfAnIdealHash, contract.check_unbiased_and_variance),
    (FirstCellNotCounted, contract.check_unbiased_and_variance),
    (ClassesMirrored, contract.check_unbiased_and_variance),
    (ClassesMirrored, faults.counts(SEED)),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, fault.__mro__[1](9, 1.0, 3), fault(9, 1.0, 3))
