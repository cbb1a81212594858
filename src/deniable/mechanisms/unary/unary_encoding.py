"""Unary encoding: a report has one bit for each value, and each bit is tossed by a coin of its own.

The bit of the sender's value is set with probability p, every other bit with probability q, all of them
independently. The symmetric form flips all bits alike; the optimised one tosses a fair coin for the value
and spends all of epsilon on keeping the other bits clear.

Coins have 32 bits and are tossed 64 at a time (kernels/unary.py); that is part of version 1.

Reference: Erlingsson, Pihur, Korolova 2014 (basic one-time RAPPOR); Kairouz, Bonawitz, Ramage 2016,
section 4.2 (k-RAPPOR); Wang, Blocki, Li, Jha 2017, section 4.2 (SUE and OUE).
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.estimation.channel import PureChannel
from deniable.estimation.evidence import Evidence, Method, Solution
from deniable.estimation.operators.marks import MarkOperator
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.bitmaps import BitmapLayout, marked, marks, one_bit, tossing
from deniable.mechanisms.layouts.layout import Payload
from deniable.randomness.bounds import power_below
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

COIN_BITS = 32
MAX_VALUES = 2**24  # a report of two megabytes, made of 64 megabytes of random words
_EXACT_RATE = 256  # values up to which the attack rate, a fraction of 32 k bits, is written out


def least_flip(bound: Fraction, modulus: int, distance: int) -> int:
    """The smallest flip threshold t allowed when two encodings differ in `distance` bits: ((M - t)/t)^distance <= E."""
    # t = M/2 is allowed, since E >= 1
    halves = range(1, modulus // 2 + 1)
    return halves[bisect_left(halves, True, key=lambda t: (modulus - t) ** distance <= bound * t**distance)]


def best_guesses(p: Any, q: Any, bits: int) -> Any:
    """The sum, over all reports of one bit per value, of the largest Pr[report | value]; see `reconstruction_rate`.

    Exact for fractions, rounded for floats.
    Formula: with z = (1-q)^(bits-1), (p/q) (1 - (1-q) z) + (1-p) z = (p - (p-q) z) / q.
    """
    direct = isinstance(q, float) or bits <= _EXACT_RATE
    clear = (1 - q) ** (bits - 1) if direct else power_below(1 - q, bits - 1)
    return (p - (p - q) * clear) / q


@dataclass(frozen=True)
class UnaryEncoding(Mechanism):
    """Base of all unary encodings: everything but the thresholds of the two coins."""

    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "composite"

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del parameters
        return Cost(cells=domain.k) + tossing(domain.k)

    @abstractmethod
    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        """Thresholds of the value's coin and of the others' coins, for coins below `modulus`."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        if self.k > MAX_VALUES:
            hint = "Its reports have k bits; those of grr have log2 k."
            raise InvalidArgument("k", f"be at most {MAX_VALUES} for {self.name}", self.k, hint)
        unit = max(1, modulus >> COIN_BITS)  # thresholds of 32-bit coins are multiples of 2^32
        own, other = self._coins(bound, modulus // unit)
        self.require_coin(own > other, COIN_BITS)
        return {"other": other * unit, "own": own * unit}

    @cached_property
    def channel(self) -> PureChannel:
        return PureChannel(Fraction(self.thresholds["own"], MODULUS), Fraction(self.thresholds["other"], MODULUS))

    @cached_property
    def layout(self) -> BitmapLayout:
        return BitmapLayout(self.k)

    @property
    def stride(self) -> int:
        return COIN_BITS * self.layout.slices + 1  # the coins of all bits, and one that replaces the value's

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        others = choices.coins(self.thresholds["other"], self.layout.slices, COIN_BITS)
        own, bit = choices.coin(self.thresholds["own"]), one_bit(index, self.layout.slices)
        row = others & ~bit | bit * np.uint64(own)
        row[-1] &= self.layout.last_word
        return tuple(row.tolist())

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.unary import toss_bits

        other, own = np.uint64(self.thresholds["other"]), np.uint64(self.thresholds["own"])
        toss_bits(indices, words, other, own, COIN_BITS, self.layout.last_word, out)
        return np.empty(0, np.int64)  # coins are never rejected

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        return marked(data, indices)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, tuple)
        p, q = self.channel.p, self.channel.q
        own = marks(payload, index)
        others = sum(word.bit_count() for word in payload) - own
        return (p if own else 1 - p) * q**others * (1 - q) ** (self.k - 1 - others)

    def ratio(self) -> Fraction:
        # two values differ most in a report that has only the bit of one of them
        p, q = self.channel.p, self.channel.q
        return p * (1 - q) / ((1 - p) * q)

    def reconstruction_rate(self) -> Fraction:
        """Probability that the best guess from one report is right; beyond k = 256 rounded up, by less than 2^-128.

        The best guess is any value whose bit is set.
        """
        rate: Fraction = best_guesses(self.channel.p, self.channel.q, self.k) / self.k
        return rate

    def variances_of(self, weights: Floats) -> Floats:
        # the bits are independent: q(1-q) for each but the sender's, which has p(1-p)
        p, q, gain = self.channel.p, self.channel.q, self.channel.gain
        other, extra = float(q * (1 - q) / gain**2), float((1 - p - q) / gain)
        return np.asarray(other * (weights @ weights) + extra * weights**2)

    def additions(self, weights: Floats) -> tuple[float, float]:
        # every set of bits is a possible report
        all_of_them, gain = float(self.channel.q) * float(weights.sum()), float(self.channel.gain)
        least, most = np.minimum(weights, 0).sum(), np.maximum(weights, 0).sum()
        return (float(least) - all_of_them) / gain, (float(most) - all_of_them) / gain

    def reports_operator(self, data: Payloads) -> MarkOperator:
        return MarkOperator(data, self.k, float(self.ratio()))

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        # the bits of a report are independent given its value, and so are the counts
        others = int(true_counts.sum()) - true_counts
        own_bits = generator.binomial(true_counts, float(self.channel.p))
        return own_bits + generator.binomial(others, float(self.channel.q))

    def _methods(self) -> Mapping[str, Method]:
        return {"composite": self._composite}

    def _composite(self, evidence: Evidence) -> Solution:
        from deniable.estimation.methods.composite import most_likely_bits

        found = most_likely_bits(evidence.counts, evidence.n, self.channel)
        return Solution(found.frequencies, {"passes": found.passes, "residual": found.residual})


@dataclass(frozen=True)
class SymmetricUnaryEncoding(UnaryEncoding):
    """k-RAPPOR, "sue": every bit is flipped with the same probability.

    Guarantee: largest ratio ((M - t) / t)^2 <= e^epsilon, with M = 2^32 and t the threshold of a flip.
    Cost: 32 ceil(k / 64) + 1 random words and k bits per report, k counts per summary.

    >>> SymmetricUnaryEncoding(100, epsilon=1.0).report_bits
    100
    """

    name: ClassVar[str] = "sue"

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        flip = least_flip(bound, modulus, 2)
        return modulus - flip, flip


@dataclass(frozen=True)
class OptimizedUnaryEncoding(UnaryEncoding):
    """Optimised unary encoding, "oue": a fair coin for the value, rare ones for all others.

    Guarantee: largest ratio (M - t) / t <= e^epsilon, with M = 2^32 and t the threshold of the others.
    Cost: 32 ceil(k / 64) + 1 random words and k bits per report, k counts per summary.

    >>> OptimizedUnaryEncoding(100, epsilon=1.0).report_bits
    100
    """

    name: ClassVar[str] = "oue"

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        # t = ceil(M / (E + 1)), the least with (M - t) / t <= E
        return modulus // 2, ceil(modulus / (bound + 1))
