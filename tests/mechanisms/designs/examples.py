"""Designs to test with: lists of blocks in which all values, and all pairs of values, occur equally often."""

from __future__ import annotations

from itertools import combinations, product

Blocks = list[list[int]]

FANO: Blocks = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]

# Blocks of one, two and three values, each pair in two of them; and one block twice.
UNEVEN: Blocks = [[0], [0], [1], [1], [2], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]


def complete_design(k: int, size: int) -> Blocks:
    """All sets of that size."""
    return [list(block) for block in combinations(range(k), size)]


def projective_plane(q: int) -> Blocks:
    """The lines of PG(2, q) for a prime q: q^2 + q + 1 points, as many lines, q + 1 points on each."""
    points = [v for v in product(range(q), repeat=3) if next((c for c in v if c), 0) == 1]
    return [
        [place for place, point in enumerate(points) if sum(a * b for a, b in zip(line, point, strict=True)) % q == 0]
        for line in points
    ]
