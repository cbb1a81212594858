"""Strings of a few letters, and how many users have each."""

from __future__ import annotations

import numpy as np

LETTERS = "abcdefgh"


def words(count: int, longest: int) -> list[str]:
    rng = np.random.default_rng(5)
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(rng.choice(list(LETTERS), rng.integers(1, longest + 1)))] = None
    return list(found)


def zipf(users: int, count: int = 300, longest: int = 7) -> dict[str, int]:
    weights = 1 / np.arange(1, count + 1) ** 1.1
    return dict(zip(words(count, longest), np.round(users * weights / weights.sum()).astype(int).tolist(), strict=True))
