"""k-ary randomised response: the truth with some probability, otherwise a uniform answer.

Reference: Warner 1965 for k = 2; Kairouz, Bonawitz, Ramage 2016, section 4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from deniable.core.arrays import Counts, Indices, Payloads, Words
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.channel import PureChannel, ReplacementOperator
from deniable.mechanisms.base.definition import Answer, Payload
from deniable.mechanisms.base.mechanism import PureMechanism
from deniable.mechanisms.layouts.symbols import SymbolReports
from deniable.randomness.choices import Choices, rejection_bound
from deniable.randomness.keystream import MODULUS


@dataclass(frozen=True)
class RandomizedResponse(SymbolReports, PureMechanism):
    """k-ary randomised response, "grr".

    Guarantee: largest ratio 1 + kT/(M - T) <= e^epsilon, with M = 2^64 and T the truth threshold.
    Cost: two random words a report, ceil(log2 k) bits, one count a report.

    >>> RandomizedResponse(100, epsilon=1.0).report_bits
    7
    """

    name: ClassVar[str] = "grr"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        # T = floor(M (E - 1) / (E - 1 + k)): report the value if U < T, else a uniform one
        truth = int(modulus * (bound - 1) / (bound - 1 + self.k))
        if truth == 0:
            raise InvalidArgument("epsilon", f"be larger for k={self.k}: no 64-bit coin is that weak", self.epsilon)
        return {"truth": truth, "rejection": rejection_bound(self.k, modulus)}

    def _channel(self) -> PureChannel:
        # q = (M - T) / (M k),  p = q + T / M
        truth = self.thresholds["truth"]
        q = Fraction(MODULUS - truth, MODULUS * self.k)
        return PureChannel(q + Fraction(truth, MODULUS), q)

    @property
    def stride(self) -> int:
        return 2  # the coin, and the replacement, drawn whether needed or not

    @property
    def symbols(self) -> int:
        return self.k

    def randomize_one(self, index: int, choices: Choices) -> int:
        truthful = choices.coin(self.thresholds["truth"])
        replacement = choices.below(self.k, self.thresholds["rejection"])
        return (replacement, index)[truthful]

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.response import rejected, replace

        k, rejection = np.uint64(self.k), np.uint64(self.thresholds["rejection"])
        count = replace(indices, words, np.uint64(self.thresholds["truth"]), k, rejection, out)
        again = np.empty(count, np.int64)
        if count:
            rejected(words, k, rejection, again)
        return again

    def _probability(self, payload: Payload, index: int) -> Fraction:
        return self.channel.p if payload == index else self.channel.q

    def ratio(self) -> Fraction:
        return self.channel.p / self.channel.q

    def reconstruction_rate(self) -> Fraction:
        return self.channel.p  # the best guess is the report itself

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        from deniable.randomness.simulated import scatter

        # each user tells the truth with probability T/M; all others answer uniformly, whatever they have
        truthful = generator.binomial(true_counts, float(self.channel.gain))
        return truthful + scatter(int((true_counts - truthful).sum()), self.k, generator)

    def operator(self) -> ReplacementOperator:
        return ReplacementOperator.of(self.channel)

    def _methods(self) -> Mapping[str, Callable[[Summary], Answer]]:
        return {"mle": self._mle, "mixture-reduction": self._reduced}  # both in closed form

    def _mle(self, summary: Summary) -> Answer:
        from deniable.estimation.methods.likelihood import most_likely

        return Answer(most_likely(summary.counts, self.channel))

    def _reduced(self, summary: Summary) -> Answer:
        from deniable.estimation.methods.mixture_reduction import details, reduced_replacement

        v0, _, _ = self.noise("users")
        found = reduced_replacement(summary.counts, self.channel, self.unbiased(summary), v0)
        return Answer(found.frequencies, details(found))
