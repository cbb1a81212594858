"""Slow, obvious twins of the kernels of summed histogram encoding."""

from __future__ import annotations

from collections.abc import Sequence


def draw_levels(indices: Sequence[int], words: Sequence[int], starts: Sequence[int], k: int) -> list[list[int]]:
    """For each report the level of every value: how many starts its word has reached, from the top for the value."""
    reports = []
    for i, index in enumerate(indices):
        row = [sum(int(word) >= start for start in starts) for word in words[i * k : (i + 1) * k]]
        row[index] = len(starts) - row[index]
        reports.append(row)
    return reports


def add_levels(rows: Sequence[Sequence[int]], sums: Sequence[int]) -> list[int]:
    """The sums with the levels of the rows added."""
    return [total + sum(int(row[v]) for row in rows) for v, total in enumerate(sums)]
