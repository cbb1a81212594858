"""Subset selection: a random set of w values, which holds the sender's value more often than chance would.

With probability T/M the set is uniform among the sets of w values that hold the sender's, else among those that do
not. With w near k/(e^epsilon + 1) no mechanism has a smaller error, at the price of long reports.

Reference: Ye and Barg 2018; Wang, Huang, Wang, Nie, Xu, Yang, Li, Qiao 2016 (the k-subset mechanism).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.core.validate import whole
from deniable.estimation.channel import PureChannel, TwoLevel, choice_threshold
from deniable.estimation.operators.marks import MarkOperator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import CHOSEN
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.bitmaps import marked, marks, words_of_marks
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.subset_code import MAX_VALUES
from deniable.mechanisms.layouts.subsets import SubsetLayout
from deniable.randomness.bounds import exponential_below, rejection_bound
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

_FEW_WORDS = 2**24  # reports of up to this many words in all are simulated one by one


def best_size(k: int, bound: Fraction) -> int:
    """The w with the least error: k/(E + 1), rounded to the better side."""
    below = int(k / (bound + 1))
    # n times the total variance at uniform data, over (k - 1)^2/(k (E - 1)^2): (w E + k - w)^2 / (w (k - w))
    candidates = (max(1, below), min(k - 1, below + 1))
    return min(candidates, key=lambda w: (w * bound + k - w) ** 2 / (w * (k - w)))


def choose_subset(index: int, k: int, w: int, truth: int, rejections: Words, choices: Choices) -> bytearray:
    """Draw the values of a report from its w + 1 words, as kernels/subsets.py does; the values of the set are marked.

    The draws depend on neither the value nor the coin, which only address memory, at the end.
    """
    truthful = choices.coin(truth)
    last, next_to_last = k - 1, k - 2
    # drawn as if the sender's value were the last, and the spare value the next to last
    spare = choices.below(last, int(rejections[0]))
    marked = choices.marks(next_to_last, w - 1, rejections[1:])
    marked += bytes(2)
    marked[spare], marked[next_to_last] = marked[next_to_last], marked[spare]
    marked[(spare, last)[truthful]] = 1
    marked[index], marked[last] = marked[last], marked[index]
    return marked


@dataclass(frozen=True)
class SubsetSelection(Mechanism):
    """Subset selection, "ss".

    Guarantee: largest ratio T (k - w) / ((M - T) w) <= e^epsilon, with M = 2^64 and T the truth threshold.
    Cost: w + 1 random words per report; ceil(log2 C(k, w)) bits, sent in at most a byte more; k counts.

    >>> m = SubsetSelection(100, epsilon=1.0)
    >>> m.w, m.report_bits
    (27, 81)
    """

    name: ClassVar[str] = "ss"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "projected"

    w: int = CHOSEN  # size of the sets, omega in the papers; the best one unless given

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        w = size(parameters, "w")
        return Cost(cells=domain.k, report=100 * w + 12 * domain.k, nanoseconds=600 * w + 20 * domain.k)

    def _settled(self) -> Mapping[str, Any]:
        if self.k > MAX_VALUES:
            hint = "Its reports grow with k; those of grr have log2 k bits."
            raise InvalidArgument("k", f"be at most {MAX_VALUES} for ss", self.k, hint)
        w = best_size(self.k, exponential_below(self.epsilon)) if self.w is None else self.w
        return {"w": whole(1, self.k - 1, w=w)}

    def _parameters(self) -> dict[str, int]:
        return {"w": self.w}

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        truth = choice_threshold(bound, modulus, self.w, self.k)  # the share of sets that hold a value is w/k
        self.require_coin(truth * self.k > modulus * self.w)
        return {"truth": truth}

    @cached_property
    def layout(self) -> SubsetLayout:
        return SubsetLayout(self.k, self.w)

    @cached_property
    def two_level(self) -> TwoLevel:
        inside = self.layout.reports * self.w // self.k  # C(k - 1, w - 1)
        return TwoLevel.by_choice(self.thresholds["truth"], inside, self.layout.reports - inside)

    def supports(self, payload: Payload, index: int) -> bool:
        return marks(payload, index)

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        return marked(data, indices)

    def ratio(self) -> Fraction:
        # high/low = T (k - w)/((M - T) w), without the number of all subsets
        truth = self.thresholds["truth"]
        return Fraction(truth * (self.k - self.w), (MODULUS - truth) * self.w)

    @cached_property
    def channel(self) -> PureChannel:
        # p = T/M; a set holds w - 1 of the k - 1 other values beside the sender's, and w without it
        p = Fraction(self.thresholds["truth"], MODULUS)
        return PureChannel(p, (p * (self.w - 1) + (1 - p) * self.w) / (self.k - 1))

    def reconstruction_rate(self) -> Fraction:
        # the best guess is any of the w values of the set
        return self.channel.p / self.w

    @cached_property
    def rejections(self) -> Words:
        """Bounds below which draws are rejected: k - 1 for the spare value, then k - w .. k - 2 for Floyd's method."""
        bounds = [self.k - 1, *range(self.k - self.w, self.k - 1)]
        unit = 64 - self.word_bits
        return np.array([rejection_bound(bound, 2**self.word_bits) << unit for bound in bounds], np.uint64)

    @property
    def stride(self) -> int:
        return 1 + self.w  # the coin, the spare value, and w - 1 others

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        chosen = choose_subset(index, self.k, self.w, self.thresholds["truth"], self.rejections, choices)
        return words_of_marks(chosen, self.layout.slices)

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.subsets import select

        truth, k = np.uint64(self.thresholds["truth"]), np.uint64(self.k)
        return randomized(select, indices, words, truth, k, self.w, self.rejections, out=out)

    def variances_of(self, weights: Floats) -> Floats:
        # beside the sender's value, which is held with probability p, a set holds w - 1 or w of the N = k - 1 others,
        # all equally likely: the sum of the weights of s of them has mean s m and variance s (N - s) v/(N - 1), where
        # m and v are the mean and the variance of the others' weights
        p, others = float(self.channel.p), self.k - 1
        mean = (weights.sum() - weights) / others
        variance = np.maximum((weights @ weights - weights**2) / others - mean**2, 0.0)
        drawn = p * (self.w - 1) * (others - self.w + 1) + (1 - p) * self.w * (others - self.w)
        between = p * (1 - p) * (weights - mean) ** 2
        return np.asarray((drawn * variance / max(others - 1, 1) + between) / float(self.channel.gain) ** 2)

    def additions(self, weights: Floats) -> tuple[float, float]:
        # (the sum over the w values held - q times that over all)/(p - q)
        order, all_of_them = np.sort(weights), float(self.channel.q) * float(weights.sum())
        ends = order[: self.w].sum(), order[-self.w :].sum()
        least, most = ((float(end) - all_of_them) / float(self.channel.gain) for end in ends)
        return least, most

    def reports_operator(self, data: Payloads) -> MarkOperator:
        return MarkOperator(data, self.k, float(self.ratio()))

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        from deniable.randomness.simulated_subsets import subset_counts

        n = int(true_counts.sum())
        if n * self.layout.slices <= _FEW_WORDS and n * self.w < 2**13 * self.k:
            return super().simulated_counts(true_counts, generator)
        # a uniform set of any w values holds a given one with probability w/k: with probability a the set holds the
        # sender's value for certain, else it is such a set;  p = a + (1 - a) w/k
        share = Fraction(self.w, self.k)
        certain = generator.binomial(true_counts, float((self.channel.p - share) / (1 - share)))
        return subset_counts(certain, n - int(certain.sum()), self.w, generator)
