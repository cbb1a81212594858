"""Hashed randomised response, O-RR: the value's bucket in a random cohort, kept or replaced by a uniform one.

Reference: Kairouz, Bonawitz, Ramage 2016, sections 5.1 and 5.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Words
from deniable.core.summary import Summary
from deniable.estimation.channel import Operator, PureChannel, TwoLevel, replacement_threshold
from deniable.estimation.cohorts.channel import CohortBuckets, WithUnlisted
from deniable.estimation.cohorts.design import CellVariances, CohortDesign
from deniable.estimation.cohorts.likelihood import most_likely, work
from deniable.estimation.evidence import Evidence, Method, Solution
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.operators.two_level import ListingTwoLevelOperator, two_level_operator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.errors import cell_weights
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS


@dataclass(frozen=True)
class HashedResponse(CohortMechanism):
    """Hashed randomised response, "orr".

    Guarantee: largest ratio 1 + kT/(M - T) <= e^epsilon, with k buckets, M = 2^64 and T the truth threshold.
    Cost: three random words and log2(cohorts buckets) bits per report; cohorts buckets counts.

    >>> from deniable import Domain
    >>> m = HashedResponse(Domain.open(), epsilon=2.0, cohorts=64, buckets=32, candidates=500)
    >>> m.report_bits
    11
    """

    name: ClassVar[str] = "orr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"
    has_likelihood: ClassVar[bool] = True

    @staticmethod
    def cell_noise(bound: float, buckets: int, _hashes: int = 1) -> float:
        # 1 / (k (p - q)^2),  p - q = (e - 1) / (e + k - 1)
        return (bound + buckets - 1) ** 2 / (buckets * (bound - 1) ** 2)

    @staticmethod
    def plain_noise(bound: float, values: int) -> float:
        # as for randomised response: (e + k - 2)/(e - 1)^2
        return (bound + values - 2) / (bound - 1) ** 2

    @staticmethod
    def own_extra(bound: float, buckets: int, others: float) -> float:
        return float(_own_noise((bound - 1) / (bound + buckets - 1), others))

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        truth = replacement_threshold(bound, modulus, self.buckets)
        self.require_coin(truth > 0)
        cohort, replacement = (rejection_bound(bound, modulus) for bound in (self.cohorts, self.buckets))
        return {"truth": truth, "rejection_cohort": cohort, "rejection_bucket": replacement}

    @cached_property
    def two_level(self) -> TwoLevel:
        return TwoLevel.by_replacement(self.thresholds["truth"], self.buckets, repeats=self.cohorts)

    def supports(self, payload: Payload, index: int) -> bool:
        assert isinstance(payload, int | np.integer)
        cohort, sent = divmod(int(payload), self.buckets)
        return self.functions.bucket(index, cohort) == sent

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        cohorts, sent = np.divmod(data.astype(np.int64), self.buckets)
        return np.asarray(self.functions.table(indices)[cohorts] == sent[:, np.newaxis])

    def public_part(self, data: Payloads) -> Indices:
        return data.astype(np.int64) // self.buckets  # the cohort

    @cached_property
    def channel(self) -> PureChannel | None:
        return self.two_level.pure(1, 0) if self.plain else None

    def support_counts(self, summary: Summary) -> Counts:
        """For each value, the number of reports of its buckets."""
        counts, table = summary.counts.reshape(self.cohorts, self.buckets), self.whole_design.table
        return np.asarray(np.take_along_axis(counts, table.astype(np.int64), axis=1).sum(0))

    @property
    def gain(self) -> Fraction:
        """The chance that a report keeps its bucket: p - q."""
        return Fraction(self.thresholds["truth"], MODULUS)

    @property
    def _other(self) -> float:
        """The chance, given the cohort, of a bucket other than the value's."""
        return float(self.cohorts * self.two_level.low)

    @property
    def stride(self) -> int:
        return 3  # the cohort, the coin, and the replacement, drawn whether needed or not

    @property
    def symbols(self) -> int:
        """Number of different reports."""
        return self.cohorts * self.buckets

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.symbols, self.cohorts)

    def randomize_one(self, index: int, choices: Choices) -> int:
        t = self.thresholds
        cohort = choices.below(self.cohorts, t["rejection_cohort"])
        truthful = choices.coin(t["truth"])
        replacement = choices.below(self.buckets, t["rejection_bucket"])
        return cohort * self.buckets + (replacement, self.functions.bucket(index, cohort))[truthful]

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.cohorts import replace_hashed

        t = self.thresholds
        bounds = np.array([self.cohorts, self.buckets], np.uint64)
        rejections = np.array([t["rejection_cohort"], t["rejection_bucket"]], np.uint64)
        functions = self.functions.maps, self.functions.keys, np.uint64(self.functions.size)
        numbers = bounds, rejections, np.uint64(t["truth"])
        return randomized(replace_hashed, indices, words, *functions, *numbers, out=out)

    def reconstruction_rate(self) -> Fraction:
        self.check_closed()
        # every bucket of every cohort holds some value: (1/k) sum over reports of the largest Pr[report | x]
        return self.two_level.best_guesses(self.symbols) / self.k

    def shares(self, summary: Summary) -> tuple[Floats, Floats]:
        counts = summary.counts.reshape(self.cohorts, self.buckets)
        sizes = counts.sum(1)
        other, gain = self._other, float(self.gain)
        return (counts - other * sizes[:, np.newaxis]) / (gain * summary.n), sizes / summary.n

    def unit(self) -> float:
        return float(1 / (self.buckets * self.gain**2))

    def cell_variances(self, summary: Summary) -> CellVariances:
        return self._variances(summary.counts.reshape(self.cohorts, self.buckets) / summary.n)

    def fitted_variances(self, shares: Floats) -> CellVariances:
        users = replace(self.whole_design, centre=0.0).scatter(shares)
        return self._variances((self._other + float(self.gain) * users) / self.cohorts)

    def _variances(self, cells: Floats) -> CellVariances:
        # weights that add up to 0 in each cohort, on cells of weight 1/(p - q): n Var is a sum of weight^2 Pr/(p - q)^2
        gain, other = float(self.gain), self._other
        return CellVariances(cells / gain**2, 1 / (self.cohorts * gain), other / (self.cohorts * gain**2))

    def own_noise(self, others: Any) -> Any:
        return _own_noise(float(self.gain), others)

    def steps(self, squares: Any) -> tuple[Any, Any]:
        # a report in the value's bucket adds about sqrt(squares)/(p - q), and others nearly nothing
        step = np.sqrt(squares) / float(self.gain)
        return step, 1 + step * self._other

    def second_moments(self, design: CohortDesign, weights: Floats, constant: Floats) -> Floats:
        # a report (c, y) adds (weight [c, y] - q sum_j weight [c, j])/(p - q) - (sum_j weight [c, j])/k, and a constant
        other, gain = self._other, float(self.gain)
        sums = weights.sum(2, keepdims=True)
        adds = (weights - other * sums) / gain - self.functions.centre * sums + constant[:, np.newaxis, np.newaxis]
        squares = (adds**2).transpose(1, 2, 0)
        found: Floats = np.full((design.values, len(constant)), other / self.cohorts) * squares.sum((0, 1))
        for cohort, row in enumerate(design.table):
            found += gain / self.cohorts * squares[cohort][row]
        return found

    def scores(self, weights: Floats) -> Floats:
        if self.plain:
            return super().scores(weights)
        on_cells, constant = cell_weights(self, weights)
        sums = on_cells.sum(1, keepdims=True)
        adds = (on_cells - self._other * sums) / float(self.gain) - self.functions.centre * sums + constant
        return np.asarray(adds.reshape(-1))

    def _noisy_counts(self, users: Counts, sizes: Counts, generator: np.random.Generator) -> Counts:
        truthful = generator.binomial(users, float(self.gain))
        even = np.full(self.buckets, 1 / self.buckets)
        drawn: Counts = truthful + generator.multinomial(sizes - truthful.sum(1), even)
        return drawn.reshape(-1)

    def _methods(self) -> Mapping[str, Method]:
        def likeliest(evidence: Evidence) -> Solution:
            start = nearest_distribution(evidence.unbiased)
            found = most_likely(evidence.counts, self.whole_design, self.channel_of, start)
            return Solution(found.frequencies, work(found))

        return {} if self.plain else {"mle": likeliest, "ibu": likeliest}

    def channel_of(self, design: CohortDesign, *, unlisted: bool = False) -> Operator:
        operator = two_level_operator(CohortBuckets(design), self.two_level.high, self.two_level.low)
        assert isinstance(operator, ListingTwoLevelOperator)
        return WithUnlisted(operator, design.values, self.symbols) if unlisted else operator


def _own_noise(gain: float, others: Any) -> Any:
    # a user's own bucket is likelier than 1/k by the gain p - q, on cells of weight 1/(p - q)
    return 1 / gain - 1 - gain * others
