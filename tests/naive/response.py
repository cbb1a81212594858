"""Slow, obvious twins of every compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence


def replace(values: Sequence[int], words: Sequence[int], truth: int, share: int) -> list[int]:
    """The reports: a value if its word is below truth, else the number of the share that the word falls into."""
    pairs = zip(values, words, strict=True)
    return [value if word < truth else (int(word) - truth) // share for value, word in pairs]


def count_into(reports: Sequence[int], counts: list[int]) -> list[int]:
    """The counts with the reports added."""
    counts = list(counts)
    for report in reports:
        counts[report] += 1
    return counts


def at_least(counts: Sequence[int], threshold: int) -> list[int]:
    """The counts that reach the threshold, in order."""
    return [count for count in counts if count >= threshold]


def share_out(
    counts: Sequence[int],
    threshold: int,
    centre: int,
    size: float,
    rest: float,
    slope: float,
    share: float,
    offset: float,
) -> list[float]:
    """The affine map of the counts that reach the threshold, never below zero; 0 for the others."""
    return [
        max(0.0, ((count - centre) * size - rest) * slope + count * share + offset) if count >= threshold else 0.0
        for count in counts
    ]


def most_likely(counts: Sequence[int], odds: object) -> list[object]:
    """The maximum of the likelihood of randomised response by sorting, in the arithmetic of `odds`.

    `odds` is p/q - 1 (a Fraction or an mpmath number). Drop the smallest counts while they are below
    s/(R + odds); Pinzón et al. 2026, Algorithm 1, written with counts.
    """
    order = sorted(range(len(counts)), key=lambda i: counts[i])
    total, dropped = sum(counts), 0
    while counts[order[dropped]] * (len(counts) - dropped + odds) < total:
        total -= counts[order[dropped]]
        dropped += 1
    left = len(counts) - dropped
    theta: list[object] = [0] * len(counts)
    for i in order[dropped:]:
        theta[i] = (counts[i] * (left + odds) - total) / (total * odds)
    return theta


def projected(frequencies: Sequence[float]) -> list[float]:
    """Euclidean projection onto the simplex by sorting (Held, Wolfe, Crowder 1974)."""
    total, shift = 0, None
    for place, value in enumerate(sorted(frequencies, reverse=True), start=1):
        total += value
        if value + (1 - total) / place > 0:
            shift = (1 - total) / place
    return [max(0, value + shift) for value in frequencies]


def shift(
    values: Sequence[int],
    words: Sequence[int],
    truth: int,
    bounds: Sequence[int],
    rejections: Sequence[int],
    elements: Sequence[int],
    multipliers: Sequence[int],
) -> tuple[list[int], list[bool]]:
    """The reports of a difference mechanism, and which of them had a draw rejected."""
    reports, again = [], []
    modulus = bounds[1] + bounds[2]
    for i, value in enumerate(values):
        coin, *draws = (int(word) for word in words[4 * i : 4 * i + 4])
        (cohort, inside, outside), lows = zip(
            *(divmod(draw * bound, 2**64) for draw, bound in zip(draws, bounds, strict=True)), strict=True
        )
        again.append(any(low < rejection for low, rejection in zip(lows, rejections, strict=True)))
        element = elements[inside] if coin < truth else elements[bounds[1] + outside]
        reports.append(cohort * modulus + (value + multipliers[cohort] * element) % modulus)
    return reports, again


def classify(
    values: Sequence[int],
    words: Sequence[int],
    truth: int,
    bounds: Sequence[int],
    rejections: Sequence[int],
    table: Sequence[int],
) -> tuple[list[int], list[bool]]:
    """The reports of cyclotomic local hashing, and which of them had a draw rejected."""
    reports, again = [], []
    classes, modulus = bounds
    for i, value in enumerate(values):
        coin, first, second = (int(word) for word in words[3 * i : 3 * i + 3])
        replacement, low_class = divmod(first * classes, 2**64)
        public, low_public = divmod(second * modulus, 2**64)
        again.append(low_class < rejections[0] or low_public < rejections[1])
        own = table[(value - public) % modulus]
        reports.append(public * classes + (own if coin < truth and own != classes else replacement))
    return reports, again
