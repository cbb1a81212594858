"""k-ary randomised response: the truth with some probability, otherwise a uniform answer.

Reference: Warner 1965 for k = 2; Kairouz, Bonawitz, Ramage 2016, section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from deniable.core.arrays import Counts, Indices, Payloads, Words
from deniable.estimation.channel import PureChannel, TwoLevel, one_word_threshold
from deniable.estimation.evidence import Evidence, Method, Solution
from deniable.estimation.operators.two_level import Identity, TwoLevelOperator, two_level_operator
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS


@dataclass(frozen=True)
class RandomizedResponse(Mechanism):
    """k-ary randomised response, "grr".

    The words from T on fall into k shares of equal size, one for each value that may replace the true one.
    Guarantee: largest ratio 1 + kT/(M - T) <= e^epsilon, with M = 2^64 and T the truth threshold.
    Cost: one random word and ceil(log2 k) bits per report, one count per value.

    >>> RandomizedResponse(100, epsilon=1.0).report_bits
    7
    """

    name: ClassVar[str] = "grr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        truth = one_word_threshold(bound, modulus, self.k)
        self.require_coin(truth > 0)
        return {"truth": truth}

    @cached_property
    def two_level(self) -> TwoLevel:
        return TwoLevel.by_replacement(self.thresholds["truth"], self.k)

    def supports(self, payload: Payload, index: int) -> bool:
        return payload == index

    def guesses(self, data: Payloads, indices: Indices) -> Indices:
        places = np.full(self.k, -1)
        places[indices] = np.arange(len(indices))
        return np.asarray(places[data])

    @cached_property
    def channel(self) -> PureChannel:
        return PureChannel(self.two_level.high, self.two_level.low)

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.k)

    @property
    def stride(self) -> int:
        return 1  # coin and replacement in one

    def randomize_one(self, index: int, choices: Choices) -> int:
        return choices.kept(index, self.thresholds["truth"], self.k)

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.response import replace

        share = (MODULUS - self.thresholds["truth"]) // self.k
        truth, reciprocal = np.uint64(self.thresholds["truth"]), np.uint64((MODULUS - 1) // share)
        replace(indices, words, truth, np.uint64(share), reciprocal, out)
        return np.empty(0, np.int64)  # nothing is ever rejected

    def reconstruction_rate(self) -> Fraction:
        return self.channel.p  # the best guess is the report itself

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        from deniable.randomness.simulated import scatter

        # each user is truthful with probability T/M; all others answer uniformly, whatever their value
        truthful = generator.binomial(true_counts, float(self.channel.gain))
        return truthful + scatter(int((true_counts - truthful).sum()), self.k, generator)

    def operator(self) -> TwoLevelOperator:
        return two_level_operator(Identity(), self.two_level.high, self.two_level.low)

    def _methods(self) -> Mapping[str, Method]:
        return {"mle": self._mle, "mixture-reduction": self._reduced}  # both in closed form

    def _mle(self, evidence: Evidence) -> Solution:
        from deniable.estimation.methods.likelihood import most_likely

        return Solution(most_likely(evidence.counts, self.channel))

    def _reduced(self, evidence: Evidence) -> Solution:
        from deniable.estimation.methods.mixture_reduction import details, reduced_replacement

        found = reduced_replacement(evidence.counts, self.channel, evidence.unbiased, evidence.noise[0])
        return Solution(found.frequencies, details(found))
