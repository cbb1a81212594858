"""Hashed randomised response, O-RR: the value's bucket in a random cohort, kept or replaced by a uniform one.

Reference: Kairouz, Bonawitz, Ramage 2016, sections 5.1 and 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Payloads, Words
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.cohorts.channel import CohortOperator
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.cohorts.variances import CellVariances
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.layouts.symbols import SymbolReports
from deniable.randomness.choices import Choices, rejection_bound
from deniable.randomness.keystream import MODULUS


@dataclass(frozen=True)
class HashedResponse(SymbolReports, CohortMechanism):
    """Hashed randomised response, "orr".

    Guarantee: largest ratio 1 + kT/(M - T) <= e^epsilon, with k buckets, M = 2^64 and T the truth threshold.
    Cost: three random words a report, log2(cohorts buckets) bits, one count a report.

    >>> from deniable import Domain
    >>> m = HashedResponse(Domain.open(), epsilon=2.0, cohorts=64, buckets=32, candidates=500)
    >>> m.report_bits
    11
    """

    name: ClassVar[str] = "orr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    @staticmethod
    def cell_noise(bound: float, buckets: int, _hashes: int = 1) -> float:
        # 1 / (k (p - q)^2),  p - q = (e - 1) / (e + k - 1)
        return (bound + buckets - 1) ** 2 / (buckets * (bound - 1) ** 2)

    @staticmethod
    def plain_noise(bound: float, values: int) -> float:
        # that of randomised response: (e + k - 2)/(e - 1)^2
        return (bound + values - 2) / (bound - 1) ** 2

    @staticmethod
    def own_extra(bound: float, buckets: int, others: float) -> float:
        return float(_own_noise((bound - 1) / (bound + buckets - 1), others))

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        # T = floor(M (E - 1) / (E - 1 + k)): report the bucket if U < T, else a uniform one
        truth = int(modulus * (bound - 1) / (bound - 1 + self.buckets))
        if truth == 0:
            rule = f"be larger for {self.buckets} buckets: no 64-bit coin is that weak"
            raise InvalidArgument("epsilon", rule, self.epsilon)
        cohort, replacement = (rejection_bound(bound, modulus) for bound in (self.cohorts, self.buckets))
        return {"truth": truth, "rejection_cohort": cohort, "rejection_bucket": replacement}

    def _derive(self) -> None:
        pass

    @property
    def gain(self) -> Fraction:
        """The chance that a report tells the truth: p - q."""
        return Fraction(self.thresholds["truth"], MODULUS)

    @property
    def _levels(self) -> tuple[Fraction, Fraction]:
        """Chances, given the cohort, of the value's bucket and of another one."""
        other = (1 - self.gain) / self.buckets
        return other + self.gain, other

    @property
    def stride(self) -> int:
        return 3  # the cohort, the coin, and the replacement, drawn whether needed or not

    @property
    def symbols(self) -> int:
        return self.cohorts * self.buckets

    def _rule(self, number: int) -> str:
        named = f" (cohort {number // self.buckets})" if number >= 0 else ""
        return (
            f"lie from 0 to {self.symbols - 1}, in a cohort from 0 to {self.cohorts - 1} of {self.buckets} buckets "
            f"each, got {number}{named}"
        )

    def randomize_one(self, index: int, choices: Choices) -> int:
        t = self.thresholds
        cohort = choices.below(self.cohorts, t["rejection_cohort"])
        truthful = choices.coin(t["truth"])
        replacement = choices.below(self.buckets, t["rejection_bucket"])
        return cohort * self.buckets + (replacement, self.bucket(index, cohort))[truthful]

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.cohorts import replace_hashed

        t = self.thresholds
        bounds = np.array([self.cohorts, self.buckets], np.uint64)
        rejections = np.array([t["rejection_cohort"], t["rejection_bucket"]], np.uint64)
        size, truth = np.uint64(self.size), np.uint64(t["truth"])
        again = np.empty(len(indices), np.bool_)
        functions = self.maps, self.keys, size
        count = replace_hashed(indices, words, *functions, bounds, rejections, truth, again, out)
        return np.flatnonzero(again) if count else np.empty(0, np.int64)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, int | np.integer)
        cohort, sent = divmod(int(payload), self.buckets)
        return self._levels[self.bucket(index, cohort) != sent] / self.cohorts

    def ratio(self) -> Fraction:
        high, low = self._levels
        return high / low

    def reconstruction_rate(self) -> Fraction:
        if isinstance(self.domain, Open):
            raise InvalidArgument("domain", "be closed here: in an open one there is no uniform guess", "open")
        # every bucket of every cohort holds some value: (1/k) sum over reports of the largest Pr[report | x]
        return self.buckets * self._levels[0] / self.k

    def shares(self, summary: Summary) -> tuple[Floats, Floats]:
        counts = summary.counts.reshape(self.cohorts, self.buckets)
        sizes = counts.sum(1)
        other, gain = float(self._levels[1]), float(self.gain)
        return (counts - other * sizes[:, np.newaxis]) / (gain * summary.n), sizes / summary.n

    def unit(self) -> float:
        return float(1 / (self.buckets * self.gain**2))

    def cell_variances(self, summary: Summary) -> CellVariances:
        # weights that add up to 0 in each cohort, on cells of weight 1/(p - q): n Var is a sum of weight^2 Pr/(p - q)^2
        gain, other = float(self.gain), float(self._levels[1])
        observed = summary.counts.reshape(self.cohorts, self.buckets) / (summary.n * gain**2)
        return CellVariances(observed, 1 / (self.cohorts * gain), other / (self.cohorts * gain**2))

    def own_noise(self, others: Any) -> Any:
        return _own_noise(float(self.gain), others)

    def _second_moments(self, design: CohortDesign, weights: Floats, constant: Floats) -> Floats:
        # a report (c, y) adds (weight [c, y] - q sum_j weight [c, j])/(p - q) - (sum_j weight [c, j])/k, and a constant
        other, gain = float(self._levels[1]), float(self.gain)
        sums = weights.sum(2, keepdims=True)
        adds = (weights - other * sums) / gain - self.centre * sums + constant[:, np.newaxis, np.newaxis]
        squares = (adds**2).transpose(1, 2, 0)
        found: Floats = np.full((design.values, design.values), other / self.cohorts) * squares.sum((0, 1))
        for cohort, row in enumerate(design.table):
            found += gain / self.cohorts * squares[cohort][row]
        return found

    def _noisy_counts(self, users: Counts, sizes: Counts, generator: np.random.Generator) -> Counts:
        truthful = generator.binomial(users, float(self.gain))
        even = np.full(self.buckets, 1 / self.buckets)
        drawn: Counts = truthful + generator.multinomial(sizes - truthful.sum(1), even)
        return drawn.reshape(-1)

    def operator(self) -> CohortOperator | None:
        return None if isinstance(self.domain, Open) else self.channel_of(self.whole_design)

    def channel_of(self, design: CohortDesign, *, unlisted: bool = False) -> CohortOperator:
        """The channel of the design's values, and of all unlisted strings as one more."""
        return CohortOperator(design, float(self._levels[1] / self.cohorts), float(self.gain / self.cohorts), unlisted)


def _own_noise(gain: float, others: Any) -> Any:
    # a user's own bucket is likelier than 1/k by the gain p - q, on cells of weight 1/(p - q)
    return 1 / gain - 1 - gain * others
