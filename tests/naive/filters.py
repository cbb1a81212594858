"""Slow, obvious twins of the kernels of Bloom filters and of the Hadamard sketch."""

from __future__ import annotations

from collections.abc import Sequence

from tests.naive import hadamard as naive_hadamard
from tests.naive import unary as naive_bits


def flip_filters(
    words: Sequence[int],
    buckets_of: Sequence[Sequence[Sequence[int]]],
    buckets: int,
    rejection: int,
    flip: int,
    width: int,
) -> tuple[list[tuple[int, set[int]]], list[bool]]:
    """Cohort and bits of every report, and which were rejected; buckets_of[cohort][i] are those of value i there."""
    slices = -(-buckets // 64)
    stride, cohorts = width * slices + 1, len(buckets_of)
    reports, again = [], []
    for i in range(len(words) // stride):
        first, *coins = words[i * stride : (i + 1) * stride]
        cohort, low = divmod(first * cohorts, 2**64)
        again.append(low < rejection)
        flipped = naive_bits.coins(coins, flip, slices, width)
        own = set(buckets_of[cohort][i])
        reports.append((cohort, {b for b in range(buckets) if flipped[b] != (b in own)}))
    return reports, again


def count_filters(rows: Sequence[Sequence[int]], cohorts: Sequence[int], counts: Sequence[Sequence[int]]) -> list[list]:
    """The counts, a row for each cohort, with these reports added: their number, then their bits."""
    total = [list(row) for row in counts]
    for row, cohort in zip(rows, cohorts, strict=True):
        total[cohort][0] += 1
        for bucket in naive_bits.bits_of(row):
            total[cohort][1 + bucket] += 1
    return total


def bucket_signs(
    words: Sequence[int], buckets_of: Sequence[Sequence[int]], buckets: int, rejection: int, truth: int
) -> tuple[list[int], list[bool]]:
    """The reports of the Hadamard sketch, and which were rejected; buckets_of[cohort][i] is that of value i there."""
    pairs = [(cohort, row) for cohort in range(len(buckets_of)) for row in range(1, buckets)]
    reports, again = [], []
    for i in range(len(words) // 2):
        place, low = divmod(words[2 * i] * len(pairs), 2**64)
        again.append(low < rejection)
        cohort, row = pairs[place]
        sign = naive_hadamard.sign(row, buckets_of[cohort][i]) * (1 if words[2 * i + 1] < truth else -1)
        reports.append(2 * place + (sign == -1))
    return reports, again
