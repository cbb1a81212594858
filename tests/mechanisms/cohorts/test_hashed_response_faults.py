"""Faults planted in hashed randomised response on purpose: each must be caught by the check named beside it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import deniable as dn
from deniable.randomness.bounds import exponential_below
from tests.contract import checks as contract
from tests.contract import faults
from tests.mechanisms.cohorts.test_hashed_response import SEED, hashed


@dataclass(frozen=True)
class WordsDependOnCoin(dn.HashedResponse):
    """Draws a bucket only where one is needed."""

    def randomize_one(self, index: int, choices: Any) -> int:
        t = self.thresholds
        cohort = choices.below(self.cohorts, t["rejection_cohort"])
        if choices.coin(t["truth"]):
            return cohort * self.buckets + self.functions.bucket(index, cohort)
        return cohort * self.buckets + choices.below(self.buckets, t["rejection_bucket"])


@dataclass(frozen=True)
class OneFunctionForAll(dn.HashedResponse):
    """The device hashes in every cohort as in the first."""

    def randomize_one(self, index: int, choices: Any) -> int:
        t = self.thresholds
        cohort = choices.below(self.cohorts, t["rejection_cohort"])
        truthful = choices.coin(t["truth"])
        other = choices.below(self.buckets, t["rejection_bucket"])
        return cohort * self.buckets + (self.functions.bucket(index, 0) if truthful else other)


@dataclass(frozen=True)
class OtherSeedInBatches(dn.HashedResponse):
    """The batch hashes under another seed than single devices and the server."""

    def randomize(self, indices: Any, words: Any, out: Any) -> Any:
        other = dn.HashedResponse(self.domain, self.epsilon, self.cohorts, self.buckets, seed=self.seed + 1)
        object.__setattr__(other, "thresholds", self.thresholds)
        return other.randomize(indices, words, out)


@dataclass(frozen=True)
class NeverTheOwnBucket(dn.HashedResponse):
    """Replaces by another bucket only, with the thresholds of one that may be the same."""

    def randomize_one(self, index: int, choices: Any) -> int:
        t = self.thresholds
        cohort = choices.below(self.cohorts, t["rejection_cohort"])
        truthful = choices.coin(t["truth"])
        own, drawn = self.functions.bucket(index, cohort), choices.below(self.buckets, t["rejection_bucket"])
        return cohort * self.buckets + (own if truthful else (drawn + (drawn == own)) % self.buckets)


@dataclass(frozen=True)
class IdealEstimator(dn.HashedResponse):
    """Estimates with the probabilities of e^epsilon instead of those of the integers that run."""

    def shares(self, summary: dn.Summary) -> Any:
        e = float(exponential_below(self.epsilon))
        counts = summary.counts.reshape(self.cohorts, self.buckets)
        sizes = counts.sum(1)
        other, gain = 1 / (e + self.buckets - 1), (e - 1) / (e + self.buckets - 1)
        return (counts - other * sizes[:, np.newaxis]) / (gain * summary.n), sizes / summary.n


@dataclass(frozen=True)
class ChancesGivenTheCohort(dn.HashedResponse):
    """Adds up chances given the cohort, as if they were those of reports, in the rate of reconstruction."""

    def reconstruction_rate(self) -> Fraction:
        return self.cohorts * self.symbols * self.two_level.high / self.k


MoreTruth = faults.more_truth(dn.HashedResponse)
CohortsNotRejected = faults.dropped_rejection(dn.HashedResponse, "rejection_cohort", "CohortsNotRejected")
BucketsNotRejected = faults.dropped_rejection(dn.HashedResponse, "rejection_bucket", "BucketsNotRejected")
DividesByCohortSizes = faults.divides_by_cohort_sizes(dn.HashedResponse)
ForgetsConstant = faults.forgets_constant(dn.HashedResponse)

kernel, plain_path, coarse_unbiased = faults.kernel(5), faults.plain_path(4), faults.coarse_unbiased(8)

FAULTS: list[tuple[type[Any], faults.Check]] = [
    (MoreTruth, contract.check_largest_ratio_is_within_epsilon),
    (CohortsNotRejected, kernel),
    (CohortsNotRejected, plain_path),
    (BucketsNotRejected, kernel),
    (BucketsNotRejected, plain_path),
    (WordsDependOnCoin, plain_path),
    (OneFunctionForAll, plain_path),
    (OtherSeedInBatches, kernel),
    (NeverTheOwnBucket, plain_path),
    (IdealEstimator, coarse_unbiased),
    (DividesByCohortSizes, faults.mean_over_reports(SEED)),
    (ForgetsConstant, contract.check_unbiased_and_variance),
    (ChancesGivenTheCohort, contract.check_reconstruction_rate),
]


@faults.planted(FAULTS)
def test_a_planted_fault_is_caught(fault: type[Any], check: faults.Check) -> None:
    faults.assert_caught(check, hashed(5, 5, 3, epsilon=1.0), fault(dn.Domain.of(5), 1.0, cohorts=5, buckets=3))
