"""Slow, obvious twins of the kernels that list which reports support which values."""

from __future__ import annotations

from collections.abc import Sequence


def row_sums(mask: Sequence[Sequence[int]], scores: Sequence[float]) -> list[float]:
    """For each row, the sum of the scores of the columns that hold 1."""
    return [sum(score for held, score in zip(row, scores, strict=True) if held) for row in mask]


def column_sums(mask: Sequence[Sequence[int]], weights: Sequence[float]) -> list[float]:
    """For each column, the sum of the weights of the rows that hold 1."""
    return [
        sum(weight for held, weight in zip(column, weights, strict=True) if held) for column in zip(*mask, strict=True)
    ]


def shifted_members(
    values: Sequence[int], reports: Sequence[tuple[int, int]], sets: Sequence[set[int]], modulus: int
) -> list[list[int]]:
    """Whether y - x lies in the set of number j, for reports (j, y) and one row per value x."""
    return [[int((y - x) % modulus in sets[j]) for j, y in reports] for x in values]


def hashed_equal(values: Sequence[int], reports: Sequence[tuple[int, int]], base: int, digits: int) -> list[list[int]]:
    """Whether the inner product of the digits of a and x is y, modulo the base, for reports (a, y)."""

    def inner(a: int, x: int) -> int:
        return sum((a // base**i % base) * (x // base**i % base) for i in range(digits)) % base

    return [[int(inner(a, x) == y) for a, y in reports] for x in values]
