"""Slow, obvious twin of the kernel of block designs."""

from __future__ import annotations

from collections.abc import Sequence


def choose_block(
    values: Sequence[int], words: Sequence[int], truth: int, rejections: Sequence[int], blocks: Sequence[Sequence[int]]
) -> tuple[list[int], list[bool]]:
    """The reports, and which of them had a draw rejected."""
    reports, again = [], []
    for i, value in enumerate(values):
        coin, first, second = (int(word) for word in words[3 * i : 3 * i + 3])
        with_value = [place for place, block in enumerate(blocks) if value in block]
        without = [place for place, block in enumerate(blocks) if value not in block]
        (inside, low_inside), (outside, low_outside) = (
            divmod(first * len(with_value), 2**64),
            divmod(second * len(without), 2**64),
        )
        reports.append(with_value[inside] if coin < truth else without[outside])
        again.append(low_inside < rejections[0] or low_outside < rejections[1])
    return reports, again
