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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar

import numpy as np

from deniable.core.arrays import Counts, Indices, Payloads, Words
from deniable.core.errors import InvalidArgument, MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.client import one_row
from deniable.mechanisms.base.definition import Answer, Payload
from deniable.mechanisms.base.mechanism import PureMechanism
from deniable.mechanisms.layouts.bitmaps import BitmapReports
from deniable.randomness.bounds import power_below
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS

COIN_BITS = 32
MAX_VALUES = 2**24  # a report of two megabytes, made of 64 megabytes of random words
_EXACT_RATE = 256  # values up to which the attack rate, a fraction of 32 k bits, is written out


def least_flip(bound: Fraction, modulus: int, distance: int) -> int:
    """The least t with ((M - t) / t)^distance <= E: how rarely bits may be flipped that so many of may tell."""
    # t = M/2 is one, since E >= 1
    halves = range(1, modulus // 2 + 1)
    return halves[bisect_left(halves, True, key=lambda t: (modulus - t) ** distance <= bound * t**distance)]


def best_guesses(p: Fraction, q: Fraction, bits: int) -> Fraction:
    """The sum, over all reports of one bit a value, of the largest Pr[report | value]; see `reconstruction_rate`.

    Formula: with z = (1-q)^(bits-1), (p/q) (1 - (1-q) z) + (1-p) z = (p - (p-q) z) / q.
    """
    clear = (1 - q) ** (bits - 1) if bits <= _EXACT_RATE else power_below(1 - q, bits - 1)
    return (p - (p - q) * clear) / q


@dataclass(frozen=True)
class UnaryEncoding(BitmapReports, PureMechanism):
    """What both forms share: all but the thresholds of the two coins."""

    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "composite"

    @abstractmethod
    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        """Thresholds of the coin of the value and of those of the others, for coins below `modulus`."""

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        if self.k > MAX_VALUES:
            rule = f"be at most {MAX_VALUES} for {self.name}, whose reports have k bits (those of grr have log2 k)"
            raise InvalidArgument("k", rule, self.k)
        unit = max(1, modulus >> COIN_BITS)  # of 2^64 parts, coins have only every 2^32nd
        own, other = self._coins(bound, modulus // unit)
        if own <= other:
            raise InvalidArgument("epsilon", f"be larger: no {COIN_BITS}-bit coin is that weak", self.epsilon)
        return {"other": other * unit, "own": own * unit}

    def _channel(self) -> PureChannel:
        return PureChannel(Fraction(self.thresholds["own"], MODULUS), Fraction(self.thresholds["other"], MODULUS))

    @property
    def stride(self) -> int:
        return COIN_BITS * self.slices + 1  # the coins of all bits, and one that replaces the value's

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        others = choices.coins(self.thresholds["other"], self.slices, COIN_BITS)
        own = choices.coin(self.thresholds["own"])
        return self.words((others & ~(1 << index) | own << index) & (2**self.k - 1))

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.unary import toss_bits

        other, own = np.uint64(self.thresholds["other"]), np.uint64(self.thresholds["own"])
        toss_bits(indices, words, other, own, COIN_BITS, self.last_word, out)
        return np.empty(0, np.int64)  # coins are never rejected

    def all_payloads(self) -> Iterable[tuple[int, ...]]:
        return (self.words(bits) for bits in range(2**self.k))

    def _probability(self, payload: Payload, index: int) -> Fraction:
        p, q = self.channel.p, self.channel.q
        assert isinstance(payload, tuple)
        own = self.marks(payload, index)
        others = sum(word.bit_count() for word in payload) - own
        return (p if own else 1 - p) * q**others * (1 - q) ** (self.k - 1 - others)

    def ratio(self) -> Fraction:
        # two values differ most in a report that has the bit of one and not that of the other
        p, q = self.channel.p, self.channel.q
        return p * (1 - q) / ((1 - p) * q)

    @property
    def report_bits(self) -> int:
        return self.k

    def reconstruction_rate(self) -> Fraction:
        """How often the best guess from one report is right; beyond k = 256 rounded up, by less than 2^-128.

        The best guess is any value whose bit is set.
        """
        return best_guesses(self.channel.p, self.channel.q, self.k) / self.k

    def _pack(self, payload: Payload) -> bytes:
        (data,) = self._pack_many(self.check_payloads(one_row(payload)))
        return data

    def _unpack(self, data: bytes) -> tuple[int, ...]:
        (row,) = self._unpack_many([data]).tolist()
        return tuple(row)

    def _pack_many(self, rows: Payloads) -> list[bytes]:
        # bit v mod 8 of byte v div 8 is that of value v
        packed = rows.astype("<u8", copy=False).view(np.uint8)[:, : self._payload_bytes]
        return [row.tobytes() for row in packed]

    def _unpack_many(self, data: list[bytes]) -> Payloads:
        size = self._payload_bytes
        for place, one in enumerate(data):
            if len(one) != size:
                raise MalformedReport(f"report at position {place} must have {size} bytes, got {len(one)}")
        rows = np.zeros((len(data), 8 * self.slices), np.uint8)
        rows[:, :size] = np.frombuffer(b"".join(data), np.uint8).reshape(-1, size)
        return self.check_payloads(rows.view("<u8"))

    @property
    def _payload_bytes(self) -> int:
        return -(-self.k // 8)

    def check_summary(self, summary: Summary) -> None:
        super().check_summary(summary)
        if len(summary.counts) != self.k or int(summary.counts.max()) > summary.n:
            raise MalformedSummary(f"summary must have {self.k} counts of at most n = {summary.n}")

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        # the bits of a report are independent given its value, so the counts of two values are, too
        others = int(true_counts.sum()) - true_counts
        own_bits = generator.binomial(true_counts, float(self.channel.p))
        return own_bits + generator.binomial(others, float(self.channel.q))

    def _methods(self) -> Mapping[str, Callable[[Summary], Answer]]:
        return {"composite": self._composite}

    def _composite(self, summary: Summary) -> Answer:
        from deniable.estimation.methods.composite import most_likely_bits

        found = most_likely_bits(summary.counts, summary.n, self.channel)
        return Answer(found.frequencies, {"passes": found.passes, "residual": found.residual})


@dataclass(frozen=True)
class SymmetricUnaryEncoding(UnaryEncoding):
    """k-RAPPOR, "sue": every bit is flipped with the same probability.

    Guarantee: largest ratio ((M - t) / t)^2 <= e^epsilon, with M = 2^32 and t the threshold of a flip.
    Cost: 32 ceil(k / 64) + 1 random words and k bits a report, k counts a summary.

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
    Cost: 32 ceil(k / 64) + 1 random words and k bits a report, k counts a summary.

    >>> OptimizedUnaryEncoding(100, epsilon=1.0).report_bits
    100
    """

    name: ClassVar[str] = "oue"

    def _coins(self, bound: Fraction, modulus: int) -> tuple[int, int]:
        # t = ceil(M / (E + 1)), the least with (M - t) / t <= E
        return modulus // 2, ceil(modulus / (bound + 1))
