"""Cohorts whose reports are Bloom filters with every bit flipped by its own coin, all with the same probability.

The hash functions of the cohort set the bits of a value's filter. Bits are flipped with probability q = t/M by coins
of 32 bits, tossed 64 at a time (kernels/unary.py). With h hash functions per cohort, two filters differ in at most
D = min(2h, m) of m bits, so that ratios are at most ((M - t)/t)^D.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Words
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.cohorts.decoding import CohortCells
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.operators.marks import BucketMarkOperator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.errors import cell_weights
from deniable.mechanisms.cohorts.sizes import BucketRule
from deniable.mechanisms.layouts.bitmaps import WORD, one_bit
from deniable.mechanisms.layouts.filters import FilterLayout
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.unary.unary_encoding import COIN_BITS, MAX_VALUES, best_guesses, least_flip
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

_PAIRS = 2**16  # most pairs of filters compared to find the two that differ most
_GUESSES = 2**22  # most pairs of reports and filters for which best guesses are enumerated


@dataclass(frozen=True)
class FlippedFilters(CohortMechanism):
    """Base of mechanisms with flipped filters: all but the hash functions."""

    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "projected"
    bucket_rule: ClassVar[BucketRule] = BucketRule(free=128)  # each bucket is a bit of a report

    @staticmethod
    def cells_of(cohorts: int, buckets: int) -> int:
        return cohorts * (buckets + 1)

    @staticmethod
    def cell_noise(bound: float, buckets: int, hashes: int) -> float:
        # q (1 - q)/(1 - 2q)^2 = s/(s - 1)^2,  s = (1 - q)/q = e^(epsilon/D)
        gain = math.expm1(math.log(bound) / min(2 * hashes, buckets))
        return (1 + gain) / gain**2 + _between_cohorts(buckets, hashes)

    @staticmethod
    def plain_noise(bound: float, values: int) -> float:
        # as for symmetric unary encoding
        return FlippedFilters.cell_noise(bound, values, 1) - _between_cohorts(values, 1)

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        if self.buckets > MAX_VALUES:
            raise InvalidArgument("buckets", f"be at most {MAX_VALUES} for {self.name}", self.buckets, "Each is a bit.")
        unit = max(1, modulus >> COIN_BITS)  # thresholds of 32-bit coins are multiples of 2^32
        flip = least_flip(bound, modulus // unit, min(2 * self.hashes, self.buckets)) * unit
        self.require_coin(2 * flip < modulus, COIN_BITS)
        return {"flip": flip, "rejection_cohort": rejection_bound(self.cohorts, modulus)}

    @cached_property
    def layout(self) -> FilterLayout:
        return FilterLayout(self.cohorts, self.buckets)

    @property
    def flip(self) -> Fraction:
        """q: the chance that a bit is flipped."""
        return Fraction(self.thresholds["flip"], MODULUS)

    @property
    def stride(self) -> int:
        return 1 + COIN_BITS * self.layout.slices  # the cohort, and the coins of all bits

    def filter(self, index: int, cohort: int) -> int:
        """The bits of a value in this cohort, as one integer."""
        bits = 0
        for place in range(self.hashes):
            bits |= 1 << self.functions.bucket(index, cohort, place)
        return bits

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        cohort = choices.below(self.cohorts, self.thresholds["rejection_cohort"])
        flips = choices.coins(self.thresholds["flip"], self.layout.slices, COIN_BITS)
        own = np.zeros_like(flips)
        for place in range(self.hashes):
            own |= one_bit(self.functions.bucket(index, cohort, place), self.layout.slices)
        row = own ^ flips
        row[-1] &= np.uint64(self.layout.last_word)
        return (cohort, *row.tolist())

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.cohorts import flip_filters

        bounds = np.array([self.cohorts, self.hashes, self.buckets], np.uint64)
        rejection, flip = np.uint64(self.thresholds["rejection_cohort"]), np.uint64(self.thresholds["flip"])
        functions = self.functions.maps, self.functions.keys, np.uint64(self.functions.size)
        return randomized(flip_filters, indices, words, *functions, bounds, rejection, flip, COIN_BITS, out=out)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, tuple)
        flipped = (self.layout.bits_of(payload) ^ self.filter(index, int(payload[0]))).bit_count()
        return self.flip**flipped * (1 - self.flip) ** (self.buckets - flipped) / self.cohorts

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        found, repeated = self._bits_of(data, indices)
        return np.asarray((found | repeated).all(axis=1))

    def guesses(self, data: Payloads, indices: Indices) -> Indices:
        # the reports that tell most have all bits of one filter and none of any other
        found, repeated = self._bits_of(data, indices)
        some, every = np.any(found & ~repeated, axis=1), np.all(found | repeated, axis=1)
        alone = (np.count_nonzero(some, axis=1) == 1) & np.any(some & every, axis=1)
        return np.where(alone, some.argmax(axis=1), -1)

    def _bits_of(self, data: Payloads, indices: Indices) -> tuple[Mask, Mask]:
        """The bits that reports have in the buckets of values, by report, hash function and value; and repeats."""
        table = self.functions.table(indices).astype(np.int64).reshape(self.cohorts, -1)
        own = table[self.public_part(data)]
        repeated = own == self.buckets  # so a bucket is marked that an earlier function of the cohort also has
        own[repeated] = 0
        words = np.take_along_axis(data, 1 + own // WORD, axis=1)
        found = (words >> (own % WORD).astype(np.uint64) & np.uint64(1)).astype(np.bool_)
        shape = len(data), self.hashes, len(indices)
        return found.reshape(shape), repeated.reshape(shape)

    def public_part(self, data: Payloads) -> Indices:
        return data[:, 0].astype(np.int64)  # the cohort

    @cached_property
    def distance(self) -> int:
        """The most bits in which two filters differ; the bound D in an open domain, or one of many values."""
        if self.hashes == 1:
            return 2  # some cohort tells two values apart
        if not self.closed or self.k**2 * self.cohorts > _PAIRS:
            return min(2 * self.hashes, self.buckets)
        pairs = (pair for filters in self._filters() for pair in combinations(filters, 2))
        return max((one ^ other).bit_count() for one, other in pairs)

    def _filters(self) -> Iterator[list[int]]:
        """The filters that occur in each cohort of a closed domain."""
        return (sorted({self.filter(index, cohort) for index in range(self.k)}) for cohort in range(self.cohorts))

    def ratio(self) -> Fraction:
        return (1 / self.flip - 1) ** self.distance

    def reconstruction_rate(self) -> Fraction:
        """Probability that the best guess is right; an upper bound for large domains with several hashes."""
        self.check_closed()
        if self.hashes == 1:
            # a unary encoding of the buckets that hold a value
            used = Counter(len(np.unique(row)) for row in self.whole_design.table)
            total = sum(times * best_guesses(1 - self.flip, self.flip, bits) for bits, times in used.items())
            return Fraction(total, self.cohorts * self.k)
        if self.k * self.cohorts << self.buckets > _GUESSES:
            # no report is less than 1/ratio times as likely under the k - 1 other values
            return self.ratio() / (self.ratio() + self.k - 1)
        nearest: Counter[int] = Counter()
        reports = np.arange(1 << self.buckets)
        for filters in self._filters():
            apart = np.bitwise_count(reports[:, np.newaxis] ^ np.array(filters)).min(1)
            nearest.update(apart.tolist())
        kept = 1 - self.flip
        total = sum(times * self.flip**apart * kept ** (self.buckets - apart) for apart, times in nearest.items())
        return Fraction(total, self.cohorts * self.k)

    def shares(self, summary: Summary) -> tuple[Floats, Floats]:
        rows = self.layout.by_cohort(summary.counts)
        flip, sizes = float(self.flip), rows[:, :1]
        # (bits - q n_c)/(p - q),  p = 1 - q
        return (rows[:, 1:] - flip * sizes) / (summary.n * float(1 - 2 * self.flip)), sizes[:, 0] / summary.n

    def cohort_cells(self, summary: Summary, design: CohortDesign) -> CohortCells:
        found = super().cohort_cells(summary, design)
        if self.hashes > 1:
            return found
        # each filter has one bit: the mean over the bits of a cohort is known to be noise
        return replace(found, cells=found.cells - found.cells.mean(1, keepdims=True))

    def supporters(self, summary: Summary) -> Counts:
        # the reports with the bit of the value's first hash function
        bits, first = self.layout.by_cohort(summary.counts)[:, 1:], self.whole_design.table[:: self.hashes]
        return np.asarray(np.take_along_axis(bits, first.astype(np.int64), axis=1).sum(axis=0))

    @property
    def _flip_noise(self) -> float:
        return float(self.flip * (1 - self.flip) / (1 - 2 * self.flip) ** 2)

    def unit(self) -> float:
        return self._flip_noise + _between_cohorts(self.buckets, self.hashes)

    def own_noise(self, others: Any) -> Any:
        # flips are equally noisy for all users; the extra that cohorts add for own users depends on the design
        return 0 * others

    def steps(self, squares: Any) -> tuple[Any, Any]:
        # the value's bit, (bit - q)/(1 - 2q): up by 1 - q if it is flipped, and down as far for users with the value
        step = np.sqrt(squares) * float((1 - self.flip) / (1 - 2 * self.flip))
        return step, step

    def second_moments(self, design: CohortDesign, weights: Floats, constant: Floats) -> Floats:
        # a report of cohort c adds sum_b weight [c, b] ((bit b - q)/(p - q) - centre), and a constant:
        # bits vary by q (1 - q)/(p - q)^2 about 1 in the value's filter and 0 elsewhere
        found: Floats = np.broadcast_to(
            self._flip_noise * (weights**2).sum((1, 2)), (design.values, len(constant))
        ).copy()
        padded = np.pad(weights, ((0, 0), (0, 0), (0, 1)))
        for cohort in range(self.cohorts):
            own = design.table[cohort * self.hashes : (cohort + 1) * self.hashes]
            means = padded[:, cohort][:, own].sum(1).T - self.functions.centre * weights[:, cohort].sum(1) + constant
            found += means**2
        return found / self.cohorts

    def additions(self, weights: Floats) -> tuple[float, float]:
        self.check_closed()
        on_cells, constant = cell_weights(self, weights)
        if self.hashes == 1:  # as in `cohort_cells`
            on_cells = on_cells - on_cells.mean(1, keepdims=True)
        # sum_b weight [c, b] ((bit b - q)/(p - q) - centre), and a constant: every filter is a possible report
        gain, flip = float(1 - 2 * self.flip), float(self.flip)
        fixed = constant - on_cells.sum(1) * (flip / gain + self.functions.centre)
        least, most = np.minimum(on_cells, 0).sum(1) / gain, np.maximum(on_cells, 0).sum(1) / gain
        return float((fixed + least).min()), float((fixed + most).max())

    def _noisy_counts(self, users: Counts, sizes: Counts, generator: np.random.Generator) -> Counts:
        # the bits of a report are independent given its cohort and value, and so are the counts
        flip = float(self.flip)
        bits = generator.binomial(users, 1 - flip) + generator.binomial(sizes[:, np.newaxis] - users, flip)
        return np.column_stack([sizes, bits]).reshape(-1)

    def reports_operator(self, data: Payloads) -> BucketMarkOperator | None:
        if self.hashes > 1:
            return None
        # a filter has one bit: a report with that bit is ((1 - q)/q)^2 times as likely as one without
        return BucketMarkOperator.of(self.whole_design, float((1 / self.flip - 1) ** 2), data)


def _between_cohorts(buckets: int, hashes: int) -> float:
    """n C Var that cohorts add to a cell: r (1 - r), r the chance that a string sets its bit."""
    r = 1 - (1 - 1 / buckets) ** hashes
    # with one hash, the cells of a cohort add up to zero: counted per free cell
    return r * (1 - r) * (buckets / (buckets - 1) if hashes == 1 else 1.0)
