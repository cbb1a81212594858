"""Exact discrete Laplace noise: Pr[Z = z] = (1 - q)/(1 + q) q^|z| for a rational q, without a largest value.

A geometric number G (Pr[G = g] = (1 - q) q^g) has independent binary digits: digit i is 1 with probability
q^n/(1 + q^n), n = 2^i, and the part above K digits is geometric with q^(2^K). Given its sign Z is
geometric too: Z = G or, with probability q/(1 + q), Z = -1 - G. So Z takes K + 2 independent coins: K digits, the
sign, and "G is at least 2^K".

Each coin compares 32 random bits with the first 32 binary digits of its probability. Only if they are equal
(once in 2^32) are more digits compared, from overflow words; so no probability is ever rounded. K is
chosen so that G >= 2^K happens less than once in 2^32; then overflow words count how often.

Report i of a call owns `stride` words, two coins each, the low half first. No branch depends on the coins: only the
undecided elements, about one in 10^8 or fewer, are drawn again in plain Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np

from deniable.core.arrays import Integers, Words
from deniable.randomness.bounds import digits_below, negative_exponential_above
from deniable.randomness.keystream import Keystream

HALF_BITS, WORD_BITS = 32, 64
FEW = 64  # up to this number are drawn in plain Python, which loads no compiler
_CHUNK_WORDS = 2**15  # words per kernel call, which fit in the processor's cache


def ratio_of_neighbours(epsilon: float, sensitivity: int) -> Fraction:
    """q >= e^(-epsilon/sensitivity), the smallest multiple of 2^-128: then q^-sensitivity <= e^epsilon."""
    return negative_exponential_above(epsilon, sensitivity)


@dataclass(frozen=True)
class Coin:
    """A coin that is true with probability q^power or, with `odds`, q^power/(1 + q^power), as digits and sign are."""

    q: Fraction
    power: int
    odds: bool

    def digits(self, bits: int) -> int:
        """floor(2^bits probability)."""
        return digits_below(self.q, self.power, self.odds, bits)

    def decide(self, drawn: int, bits: int, overflow: Iterator[int]) -> bool:
        """Whether a uniform number that starts with `drawn` (of `bits` bits) is below the probability."""
        threshold = self.digits(bits)
        while drawn == threshold:
            bits += WORD_BITS
            drawn, threshold = drawn << WORD_BITS | next(overflow), self.digits(bits)
        return drawn < threshold


@dataclass(frozen=True)
class Sampler:
    """The coins of one ratio q, in the order of their random bits: K digits, the sign, the tail."""

    q: Fraction
    coins: tuple[Coin, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        size = 0
        while Coin(self.q, 2**size, odds=False).digits(HALF_BITS) > 0:  # q^(2^K) >= 2^-32
            size += 1
        size += size % 2  # an even number of coins fills whole words
        digits = [Coin(self.q, 2**place, odds=True) for place in range(size)]
        coins = (*digits, Coin(self.q, 1, odds=True), Coin(self.q, 2**size, odds=False))
        object.__setattr__(self, "coins", coins)

    @property
    def size(self) -> int:
        """K: numbers below 2^K need no overflow words."""
        return len(self.coins) - 2

    @property
    def stride(self) -> int:
        """The number of words that each element owns."""
        return len(self.coins) // 2

    def thresholds(self, bits: int = HALF_BITS) -> Words:
        """The leading binary digits of each coin's probability, aligned to 32 bits."""
        return np.array([coin.digits(bits) << (HALF_BITS - bits) for coin in self.coins], np.uint64)

    def draw_one(self, words: Sequence[int], overflow: Iterator[int], bits: int = HALF_BITS) -> int:
        """Draw one number in plain Python, from its own words and its overflow."""
        halves = [half for word in words for half in (word & 0xFFFFFFFF, word >> HALF_BITS)]
        drawn = [half >> (HALF_BITS - bits) for half in halves]
        true = [coin.decide(number, bits, overflow) for coin, number in zip(self.coins, drawn, strict=True)]
        *digits, negative, more = true
        number = sum(digit << place for place, digit in enumerate(digits))
        while more:
            number += 2**self.size
            more = self.coins[-1].decide(next(overflow), WORD_BITS, overflow)
        return number ^ -negative  # -1 - number if negative, without a branch

    def draw(self, count: int, keystream: Keystream) -> Integers:
        """Draw `count` independent numbers; the kernel gives the same numbers as plain Python."""
        return self._one_by_one(count, keystream) if count <= FEW else self._in_chunks(count, keystream)

    def _one_by_one(self, count: int, keystream: Keystream) -> Integers:
        words = keystream.stream(0).words(count * self.stride).reshape(count, -1).tolist()
        drawn = [self.draw_one(own, keystream.overflow(i)) for i, own in enumerate(words)]
        return np.array(drawn, np.int64)

    def _in_chunks(self, count: int, keystream: Keystream) -> Integers:
        from deniable.kernels.noise import draw_noise

        stride, thresholds = self.stride, self.thresholds()
        out = np.empty(count, np.int64)
        chunk = max(1, _CHUNK_WORDS // stride)
        buffer, undecided = np.empty(stride * chunk + 2, np.uint64), np.empty(chunk, np.bool_)
        stream, zeros = keystream.stream(0), memoryview(bytes(8 * stride * chunk))
        for start in range(0, count, chunk):
            part = out[start : start + chunk]
            words = buffer[: stride * len(part)]
            stream.fill(zeros[: 8 * len(words)], buffer)
            if draw_noise(words, thresholds, undecided, part):
                for i in np.flatnonzero(undecided[: len(part)]).tolist():
                    own = words[i * stride : (i + 1) * stride].tolist()
                    part[i] = self.draw_one(own, keystream.overflow(start + i))
        return out


@lru_cache(maxsize=64)
def sampler(q: Fraction) -> Sampler:
    """Return the sampler of this ratio; its coins are computed once."""
    return Sampler(q)
