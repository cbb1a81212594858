"""Slow, obvious twins of the kernels of unary encoding and of its likelihood."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mpmath


def coins(words: Sequence[int], threshold: int, slices: int, width: int) -> list[bool]:
    """Is the number of coin v, whose bit b is bit v mod 64 of word b slices + v // 64, below the threshold?"""
    numbers = [
        sum((int(words[b * slices + v // 64]) >> v % 64 & 1) << (64 - width + b) for b in range(width))
        for v in range(64 * slices)
    ]
    return [number < threshold for number in numbers]


def toss_bits(indices: Sequence[int], words: Sequence[int], other: int, own: int, width: int, k: int) -> list[set[int]]:
    """For each report, the values whose bit is set."""
    slices = math.ceil(k / 64)
    stride = width * slices + 1
    reports = []
    for i, index in enumerate(indices):
        mine = words[i * stride : (i + 1) * stride]
        tossed = coins(mine, other, slices, width)
        tossed[index] = int(mine[-1]) < own
        reports.append({v for v in range(k) if tossed[v]})
    return reports


def bits_of(row: Sequence[int]) -> set[int]:
    """The places at which a row of words has a bit."""
    return {64 * j + b for j, word in enumerate(row) for b in range(64) if int(word) >> b & 1}


def count_bits(rows: Sequence[Sequence[int]], counts: Sequence[int]) -> list[int]:
    """The counts with the bits of the rows added."""
    total = list(counts)
    for row in rows:
        for v in bits_of(row):
            total[v] += 1
    return total


def gain(count: int, n: int, q: object, mu: object) -> object:
    """d = a - q by the textbook formula, where a solves mu a^2 - (1 + mu) a + T/n = 0; zero if that is negative."""
    share = mpmath.mpf(count) / n
    a = share if mu == 0 else (1 + mu - mpmath.sqrt((1 + mu) ** 2 - 4 * mu * share)) / (2 * mu)
    return max(a - q, mpmath.mpf(0))


def most_likely_bits(counts: Sequence[int], n: int, p: object, q: object) -> tuple[list[object], object]:
    """The maximum of the composite likelihood, by halving an interval for the multiplier; and the multiplier.

    Its ends are those at which no value, or every value, has more than its share of the sum.
    """
    even = q + (p - q) / len(counts)
    ends = [(mpmath.mpf(count) / n - even) / (even * (1 - even)) for count in counts]
    low, high = min(ends), max(ends)
    for _ in range(int(mpmath.mp.prec) + 20):
        mu = (low + high) / 2
        total = mpmath.fsum(gain(count, n, q, mu) for count in counts) / (p - q)
        low, high = (mu, high) if total > 1 else (low, mu)
    theta = [gain(count, n, q, high) / (p - q) for count in counts]
    return theta, high
