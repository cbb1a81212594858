"""Slow, obvious twins of the kernels of linear hashing."""

from __future__ import annotations

from collections.abc import Sequence


def digits(number: int, base: int, count: int) -> list[int]:
    """The digits of a number, the least significant first."""
    return [number // base**place % base for place in range(count)]


def linear_hash(value: int, seed: int, base: int, count: int) -> int:
    """The inner product of the digits."""
    pairs = zip(digits(value, base, count), digits(seed, base, count), strict=True)
    return sum(a * b for a, b in pairs) % base


def seeds(base: int, count: int, lines: bool) -> list[int]:
    """All vectors but 0 as numbers, or those whose leading digit is 1."""
    if not lines:
        return list(range(1, base**count))
    return [seed for seed in range(1, base**count) if [d for d in digits(seed, base, count) if d][-1] == 1]


def hash_or_replace(
    values: Sequence[int],
    words: Sequence[int],
    truth: int,
    base: int,
    rejections: Sequence[int],
    count: int,
    known: Sequence[int],
) -> tuple[list[int], list[bool]]:
    """The reports, and which of them had a draw rejected."""
    reports, again = [], []
    for i, value in enumerate(values):
        coin, first, second = words[3 * i : 3 * i + 3]
        (replacement, low), (place, lower) = divmod(first * base, 2**64), divmod(second * len(known), 2**64)
        again.append(low < rejections[0] or lower < rejections[1])
        sent = linear_hash(value, known[place], base, count) if coin < truth else replacement
        reports.append(place * base + sent)
    return reports, again


def line_of(seed: int, base: int, count: int) -> tuple[int, int]:
    """The number a with leading digit 1, and the factor t, of which the seed is t a."""
    own = digits(seed, base, count)
    factor = [digit for digit in own if digit][-1]
    inverse = next(t for t in range(1, base) if t * factor % base == 1)
    return sum(digit * inverse % base * base**place for place, digit in enumerate(own)), factor


def fold(counts: Sequence[Sequence[int]], base: int, count: int) -> list[list[int]]:
    """The cells of every seed t a, class t z, added to those of a, class z."""
    known = seeds(base, count, lines=True)
    out = [[0] * base for _ in known]
    for seed in range(1, base**count):
        line, factor = line_of(seed, base, count)
        for z in range(base):
            out[known.index(line)][z] += counts[seed - 1][factor * z % base]
    return out


def unfold(sums: Sequence[Sequence[int]], base: int, count: int) -> list[list[int]]:
    """The cells of every seed, from those of its line."""
    known = seeds(base, count, lines=True)
    out = []
    for seed in range(1, base**count):
        line, factor = line_of(seed, base, count)
        row = [0] * base
        for z in range(base):
            row[factor * z % base] = sums[known.index(line)][z]
        out.append(row)
    return out
