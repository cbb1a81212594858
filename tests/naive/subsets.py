"""Slow, obvious twin of the kernel of subset selection."""

from __future__ import annotations

from collections.abc import Sequence


def select(
    values: Sequence[int], words: Sequence[int], truth: int, k: int, w: int, rejections: Sequence[int]
) -> tuple[list[set[int]], list[bool]]:
    """The subsets, and which reports had a draw rejected."""
    subsets, again = [], []
    for i, value in enumerate(values):
        coin, *draws = words[i * (w + 1) : (i + 1) * (w + 1)]
        bounds = [k - 1, *range(k - w, k - 1)]
        pairs = [divmod(word * bound, 2**64) for word, bound in zip(draws, bounds, strict=True)]
        again.append(any(low < least for (_, low), least in zip(pairs, rejections, strict=True)))
        (spare, _), *others = pairs
        chosen: set[int] = set()
        for newest, (drawn, _) in zip(range(k - w - 1, k - 2), others, strict=True):
            chosen.add(newest if drawn in chosen else drawn)
        chosen = renamed(chosen, spare, k - 2)
        chosen.add(k - 1 if coin < truth else spare)
        subsets.append(renamed(chosen, value, k - 1))
    return subsets, again


def renamed(chosen: set[int], a: int, b: int) -> set[int]:
    """The set in which a is called b, and b is called a."""
    return {b if element == a else a if element == b else element for element in chosen}


def bitmap(chosen: set[int], k: int) -> list[int]:
    """A set of values below k as 64-bit words."""
    bits = sum(1 << element for element in chosen)
    return [bits >> 64 * j & (2**64 - 1) for j in range(-(-k // 64))]
