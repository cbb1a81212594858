"""Exact choices for one report, without a compiler: coins, levels, uniform integers, subsets.

The compiled kernels make the same choices from the same words. The number of words a report reads never
depends on its value or on a coin: a method draws everything it may need before it looks at the coin.

Coins compare words as NumPy's integers of 64 bits: the time of Python's depends on how many digits they have, so that
a small word, which is a true coin, would be seen on a clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deniable.core.arrays import Integers, Words
from deniable.kernels.words import high_half
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.keystream import MODULUS

_LITTLE_ENDIAN = np.dtype("<u8")
_ABOVE = b"\1"  # a 65th bit, so that all words have as many digits in Python


def scaled(word: int, bound: int) -> tuple[int, int]:
    """The high half (the integer drawn) and the low half (the one to test) of word * bound."""
    return divmod(word * bound, MODULUS)


class Choices:
    """The choices of one report, from its own words in order, and from its overflow for rejected words."""

    def __init__(self, words: Sequence[int] | Words, overflow: Iterator[int]) -> None:
        self._words = np.asarray(words, _LITTLE_ENDIAN)
        self._overflow = overflow
        self.read = 0  # words so far, without the overflow

    def _next(self) -> np.uint64:
        word: np.uint64 = self._words[self.read]
        self.read += 1
        return word

    def _some(self, count: int) -> Words:
        if self.read + count > len(self._words):
            raise IndexError(f"a report of {len(self._words)} words has no {count} after {self.read}")
        self.read += count
        return self._words[self.read - count : self.read]

    def coin(self, threshold: int) -> bool:
        """True with probability threshold / 2^64."""
        return bool(self._next() < threshold)

    def coins(self, threshold: int, slices: int, width: int) -> Words:
        """Toss 64 * slices coins, the bits of that many words, each true with probability threshold / 2^64.

        Each coin compares a uniform number U with the threshold. Only the upper `width` bits of U are drawn, the least
        significant first; `slices` words hold one bit of every U. The threshold's lower bits must be zero.
        """
        true, clear = np.zeros(slices, np.uint64), np.empty(slices, np.uint64)
        for bit in range(64 - width, 64):
            np.invert(self._some(slices), out=clear)
            # so far `true` compares the lower bits; this bit of U decides, unless it equals the threshold's
            decide = np.bitwise_or if threshold >> bit & 1 else np.bitwise_and
            decide(true, clear, out=true)
        return true

    def kept(self, value: int, truth: int, symbols: int) -> int:
        """Return a value with probability truth / 2^64, else a uniform integer below `symbols`, by one word.

        2^64 - truth must be a multiple of `symbols`.
        """
        word = self._some(1)  # an array, since one integer of 64 bits would warn where it wraps around
        share = np.uint64((MODULUS - truth) // symbols)
        drawn = (word - np.uint64(truth)) // share  # NumPy multiplies by the inverse of a single divisor
        return int((drawn ^ ((drawn ^ np.uint64(value)) & -(word < truth).astype(np.uint64)))[0])

    def level(self, starts: Sequence[int] | Words) -> int:
        """Count the sorted `starts` that a word has reached: the level that begins at the last of them."""
        return int(np.count_nonzero(np.asarray(starts, np.uint64) <= self._next()))

    def levels(self, limits: Words, count: int) -> Integers:
        """For each of `count` words, the number of sorted limits that it exceeds; there are 2^b - 1 limits.

        All words take the same b steps, each of which decides whether to skip half of the remaining limits.
        """
        words, found = self._some(count), np.zeros(count, np.int64)
        half = len(limits) + 1 >> 1
        while half:
            found += half * (words > limits[found + (half - 1)])
            half >>= 1
        return found

    def below(self, bound: int, rejection: int | None = None) -> int:
        """Draw a uniform integer from 0 to bound - 1."""
        least = rejection_bound(bound) if rejection is None else rejection
        product = int.from_bytes(self._next().tobytes() + _ABOVE, "little") * bound  # (2^64 + word) bound
        drawn, low = (product >> 64) - bound, product & MODULUS - 1
        return self._redrawn(bound, least) if low < least else drawn

    def _redrawn(self, bound: int, least: int) -> int:
        """Replace a rejected draw."""
        drawn, low = scaled(next(self._overflow), bound)
        while low < least:
            drawn, low = scaled(next(self._overflow), bound)
        return drawn

    def marks(self, k: int, size: int, rejections: Sequence[int] | Words | None = None) -> bytearray:
        """Draw a uniform subset of 0..k-1, k below 2^32: a byte per value, 1 for the chosen; one word per element.

        Reference: Floyd's method, Bentley and Floyd 1987.
        """
        words, bounds = self._some(size), np.arange(k - size + 1, k + 1, dtype=np.uint64)
        least = -bounds % bounds if rejections is None else np.asarray(rejections, np.uint64)  # 2^64 mod each bound
        drawn = high_half.py_func(words, bounds).tolist()  # type: ignore[attr-defined]
        for place in np.flatnonzero(words * bounds < least).tolist():
            drawn[place] = self._redrawn(int(bounds[place]), int(least[place]))
        marked = bytearray(k)
        for newest, one in enumerate(drawn, start=k - size):
            marked[(one, newest)[marked[one]]] = 1
        return marked

    def subset(self, k: int, size: int) -> tuple[int, ...]:
        """Draw a uniform subset of 0..k-1, sorted."""
        return tuple(np.flatnonzero(np.frombuffer(self.marks(k, size), np.uint8)).tolist())
