"""Exact choices for one report, in plain Python: coins, uniform integers, subsets.

The compiled kernels make the same choices from the same words. The number of words a report reads never
depends on its value or on a coin: a method draws everything it may need before it looks at the coin.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from deniable.randomness.bounds import rejection_bound
from deniable.randomness.keystream import MODULUS


def scaled(word: int, bound: int) -> tuple[int, int]:
    """The high half (the integer drawn) and the low half (the one to test) of word * bound."""
    return divmod(word * bound, MODULUS)


class Choices:
    """The choices of one report, from its own words in order, and from its overflow for rejected words."""

    def __init__(self, words: Sequence[int], overflow: Iterator[int]) -> None:
        self._words = iter(words)
        self._overflow = overflow

    def coin(self, threshold: int) -> bool:
        """True with probability threshold / 2^64."""
        return next(self._words) < threshold

    def coins(self, threshold: int, slices: int, width: int) -> int:
        """Toss 64 * slices coins, the bits of an integer, each true with probability threshold / 2^64.

        Each coin compares a uniform number U with the threshold. Only the upper `width` bits of U are drawn, the least
        significant first; `slices` words hold one bit of every U. The threshold's lower bits must be zero.
        """
        true = 0
        for bit in range(64 - width, 64):
            drawn = b"".join(word.to_bytes(8, "little") for word in islice(self._words, slices))
            clear = ~int.from_bytes(drawn, "little")
            # so far `true` compares the lower bits; this bit of U decides, unless it equals the threshold's
            true = true | clear if threshold >> bit & 1 else true & clear
        return true & ((1 << 64 * slices) - 1)

    def level(self, starts: Sequence[int]) -> int:
        """Count the sorted `starts` that a word has reached: the level that begins at the last of them."""
        return bisect_right(starts, next(self._words))

    def below(self, bound: int, rejection: int | None = None) -> int:
        """Draw a uniform integer from 0 to bound - 1."""
        least = rejection_bound(bound) if rejection is None else rejection
        drawn, low = scaled(next(self._words), bound)
        while low < least:
            drawn, low = scaled(next(self._overflow), bound)
        return drawn

    def subset(self, k: int, size: int, rejections: Sequence[int] | None = None) -> tuple[int, ...]:
        """Draw a uniform subset of 0..k-1, sorted; one word per element.

        Reference: Floyd's method, Bentley and Floyd 1987.
        """
        chosen: set[int] = set()
        for place, newest in enumerate(range(k - size, k)):
            drawn = self.below(newest + 1) if rejections is None else self.below(newest + 1, rejections[place])
            chosen.add(newest if drawn in chosen else drawn)
        return tuple(sorted(chosen))
