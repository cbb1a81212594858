"""Hadamard count mean sketch: one bit, a random sign of the Hadamard transform of the bit of a value's bucket.

A report names a cohort, which is a hash function, and a coordinate l of its m buckets; its one bit is the entry
H[l, bucket of the value] of the Hadamard matrix, flipped with probability 1/(1 + e^epsilon).

The published l is uniform over 0..m-1. Row 0 of H has the same sign in every column, so a report with l = 0 carries no
information. Here l is uniform over 1..m-1: the estimate is still unbiased, and its variance is (m - 1)/m times the
published one.

Reference: Apple Differential Privacy Team 2017, "Learning with privacy at scale" (HCMS).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Words
from deniable.core.summary import Summary
from deniable.estimation.channel import Operator, TwoLevel, choice_threshold
from deniable.estimation.cohorts.channel import CohortSigns, WithUnlisted, to_buckets, to_coordinates
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.operators.two_level import ListingTwoLevelOperator, two_level_operator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.errors import cell_weights
from deniable.mechanisms.cohorts.sizes import BucketRule
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

_SIMULATED_AT_ONCE = 2**22


@dataclass(frozen=True)
class HadamardSketch(CohortMechanism):
    """Hadamard count mean sketch, "hcms": `cohorts` hash functions to `buckets` buckets each, a power of two.

    Guarantee: largest ratio T/(M - T) <= e^epsilon, with M = 2^64 and T the truth threshold.
    Cost: two random words per report; one bit beside log2(cohorts (buckets - 1)) random ones; a count per symbol.

    >>> from deniable import Domain
    >>> HadamardSketch(Domain.open(), epsilon=4.0, cohorts=128, buckets=256).report_bits
    16
    """

    name: ClassVar[str] = "hcms"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"
    permutes: ClassVar[bool] = False
    has_likelihood: ClassVar[bool] = True
    bucket_rule: ClassVar[BucketRule] = BucketRule(free=256, powers=True)  # more cohorts rather than more buckets

    @staticmethod
    def cells_of(cohorts: int, buckets: int) -> int:
        return 2 * cohorts * (buckets - 1)

    @staticmethod
    def cell_noise(bound: float, buckets: int, _hashes: int = 1) -> float:
        # ((e + 1)/(e - 1))^2 (m - 1)/m
        return ((bound + 1) / (bound - 1)) ** 2 * (1 - 1 / buckets)

    @staticmethod
    def plain_noise(bound: float, values: int) -> float:
        return HadamardSketch.cell_noise(bound, values)

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        # T = floor(M E/(E + 1))
        truth = choice_threshold(bound, modulus, 1, 2)
        self.require_coin(2 * truth > modulus)
        return {"truth": truth, "rejection_pair": rejection_bound(self._pairs, modulus)}

    @cached_property
    def two_level(self) -> TwoLevel:
        return TwoLevel.by_choice(self.thresholds["truth"], 1, 1, repeats=self._pairs)

    def supports(self, payload: Payload, index: int) -> bool:
        assert isinstance(payload, int | np.integer)
        pair, sent = divmod(int(payload), 2)
        return self.odd(pair, index) == sent

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        pairs, sent = np.divmod(data.astype(np.int64), 2)
        cohorts, coordinates = np.divmod(pairs, self.coordinates)
        signs = np.bitwise_count(self.functions.table(indices)[cohorts] & (coordinates + 1)[:, np.newaxis]) & 1
        return np.asarray(signs == sent[:, np.newaxis])

    def public_part(self, data: Payloads) -> Indices:
        return data.astype(np.int64) // 2  # the cohort and the coordinate

    @property
    def coordinates(self) -> int:
        """m - 1: the rows of the Hadamard matrix that carry information."""
        return self.buckets - 1

    @property
    def _pairs(self) -> int:
        return self.cohorts * self.coordinates

    @property
    def truth(self) -> Fraction:
        """The chance that the sign is not flipped."""
        return Fraction(self.thresholds["truth"], MODULUS)

    @property
    def gain(self) -> Fraction:
        """The mean of a report's sign times the true sign."""
        return 2 * self.truth - 1

    @property
    def stride(self) -> int:
        return 2  # the cohort and its coordinate, and the coin

    @property
    def symbols(self) -> int:
        """Number of different reports."""
        return 2 * self._pairs

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.symbols)

    def odd(self, pair: int, index: int) -> int:
        """1 if the value has the sign - in this cohort and coordinate, else 0."""
        cohort, coordinate = divmod(pair, self.coordinates)
        # by NumPy: the time of Python's integers tells zeros from others
        both = np.uint64(coordinate + 1) & np.uint64(self.functions.bucket(index, cohort))
        return int(np.bitwise_count(both) & np.uint8(1))

    def randomize_one(self, index: int, choices: Choices) -> int:
        pair = choices.below(self._pairs, self.thresholds["rejection_pair"])
        truthful, odd = choices.coin(self.thresholds["truth"]), self.odd(pair, index)
        return 2 * pair + (odd ^ 1, odd)[truthful]

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.cohorts import send_bucket_sign

        rejection, truth = np.uint64(self.thresholds["rejection_pair"]), np.uint64(self.thresholds["truth"])
        numbers = self.functions.maps, np.uint64(self.buckets), rejection, truth
        return randomized(send_bucket_sign, indices, words, *numbers, out=out)

    def reconstruction_rate(self) -> Fraction:
        self.check_closed()
        # where values of both signs occur, some value makes a report of either sign likely with `truth`
        used = np.zeros((self.cohorts, self.buckets))
        for cohort, row in enumerate(self.whole_design.table):
            used[cohort, row] = 1.0
        both = int((np.abs(to_coordinates(used)) < used.sum(1, keepdims=True) - 0.5).sum())
        return (2 * self.truth * both + self._pairs - both) / (self._pairs * self.k)

    def shares(self, summary: Summary) -> tuple[Floats, Floats]:
        counts = summary.counts.reshape(self.cohorts, self.coordinates, 2)
        sizes = counts.sum((1, 2)) / summary.n
        # the mean over l > 0 of H[l, b] H[l, own bucket] is (m [b = own] - 1)/(m - 1)
        scale = self.coordinates / (self.buckets * float(self.gain) * summary.n)
        centred = scale * to_buckets(counts[:, :, 0] - counts[:, :, 1])
        return centred + sizes[:, np.newaxis] / self.buckets, sizes

    def unit(self) -> float:
        return float((1 - Fraction(1, self.buckets)) / self.gain**2)

    def own_noise(self, others: Any) -> Any:
        # every report has the same square, and the mean is 1 for a user who has the value, else 0
        return 0 * others - 1

    def steps(self, squares: Any) -> tuple[Any, Any]:
        # every report adds about as much, up or down
        step = np.sqrt(squares * self.unit())
        return step, 1 + step

    def second_moments(self, design: CohortDesign, weights: Floats, constant: Floats) -> Floats:
        # a report adds +-G[c, l], G = (m - 1)/(m gain) sum_b weight [c, b] H[l, b], and a constant k: the mean
        # square over c and l is G^2 + 2 k (mean of +-G) + k^2, where sum_l G^2 needs no transform (Parseval)
        sums = weights.sum(2)
        squares = self.buckets * (weights**2).sum((1, 2)) - (sums**2).sum(1)
        scale = self.coordinates / (self.buckets * float(self.gain))
        means = -np.broadcast_to(sums.sum(1) / self.buckets, (design.values, len(constant)))
        for cohort, row in enumerate(design.table):
            means = means + weights[:, cohort, row].T
        found: Floats = scale**2 * squares / self._pairs + 2 * constant * means / self.cohorts + constant**2
        return found

    def scores(self, weights: Floats) -> Floats:
        on_cells, constant = cell_weights(self, weights)
        # the share of a report's cohort is 1/m in each of its buckets, less the centre
        fixed = constant + on_cells.sum(1) * (1 / self.buckets - self.functions.centre)
        scale = self.coordinates / (self.buckets * float(self.gain))
        signed = scale * to_coordinates(on_cells)
        adds = np.stack([fixed[:, np.newaxis] + signed, fixed[:, np.newaxis] - signed], axis=2)
        return np.asarray(adds.reshape(-1))

    def _noisy_counts(self, users: Counts, sizes: Counts, generator: np.random.Generator) -> Counts:
        true = np.zeros((self.cohorts, self.coordinates, 2), np.int64)
        if int(sizes.sum()) <= self.cohorts * self.buckets**2:
            self._add_each(users, true, generator)
        else:
            self._add_cells(users, true, generator)
        kept = generator.binomial(true, float(self.truth))
        found: Counts = kept + (true - kept)[:, :, ::-1]
        return found.reshape(-1)

    def _add_each(self, users: Counts, true: Counts, generator: np.random.Generator) -> None:
        """Count the true signs of these users, each in a random coordinate, one by one."""
        ends = np.cumsum(users.reshape(-1))
        for start in range(0, int(ends[-1]), _SIMULATED_AT_ONCE):
            some = np.arange(start, min(start + _SIMULATED_AT_ONCE, int(ends[-1])))
            cohorts, buckets = np.divmod(np.searchsorted(ends, some, side="right"), self.buckets)
            drawn = generator.integers(0, self.coordinates, len(some))
            odd = np.bitwise_count(drawn + 1 & buckets) & 1
            places = (cohorts * self.coordinates + drawn) * 2 + odd
            true += np.bincount(places, minlength=self.symbols).reshape(true.shape)

    def _add_cells(self, users: Counts, true: Counts, generator: np.random.Generator) -> None:
        """Count the true signs of these users, all users of a bucket at once."""
        even = np.full(self.coordinates, 1 / self.coordinates)
        odd = np.bitwise_count(np.arange(self.buckets)[:, np.newaxis] & np.arange(1, self.buckets)) & 1 == 1
        for cohort, own in enumerate(users):
            drawn = generator.multinomial(own, even)
            true[cohort, :, 0] += np.where(odd, 0, drawn).sum(0)
            true[cohort, :, 1] += np.where(odd, drawn, 0).sum(0)

    def channel_of(self, design: CohortDesign, *, unlisted: bool = False) -> Operator:
        operator = two_level_operator(CohortSigns(design), self.two_level.high, self.two_level.low)
        assert isinstance(operator, ListingTwoLevelOperator)
        return WithUnlisted(operator, design.values, self.symbols) if unlisted else operator
