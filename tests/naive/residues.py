"""Slow, obvious twins of the kernels of residue number systems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deniable.randomness.choices import Choices


def select_residues(
    values: Sequence[int],
    words: Sequence[int],
    moduli: Sequence[int],
    sizes: Sequence[int],
    truths: Sequence[int],
    cohort_rejection: int,
    rejections: Sequence[Sequence[int]],
) -> tuple[list[tuple[int, set[int]]], list[bool]]:
    """For each report its cohort and residues, and whether a draw was rejected."""
    stride = 2 + max(sizes)
    reports, again = [], []
    for i, value in enumerate(values):
        own = [int(word) for word in words[i * stride : (i + 1) * stride]]
        cohort, low = divmod(own[0] * len(moduli), 2**64)
        m, w = moduli[cohort], sizes[cohort]
        bounds = [m - 1, *range(m - w, m - 1)]
        lows = [word * bound % 2**64 for word, bound in zip(own[2:], bounds, strict=False)]
        again.append(low < cohort_rejection or any(a < b for a, b in zip(lows, rejections[cohort], strict=False)))
        choices = Choices(own[2:], iter(()))
        spare = choices.below(m - 1, 0)
        others = [r for r, marked in enumerate(choices.marks(m - 2, w - 1, [0] * (w - 1))) if marked]
        chosen = {m - 2 if r == spare else r for r in others} | {m - 1 if own[1] < truths[cohort] else spare}
        residue = value % m
        placed = {m - 1 if r == residue else residue if r == m - 1 else r for r in chosen}
        reports.append((cohort, placed))
    return reports, again


def incidence(k: int, moduli: Sequence[int]) -> np.ndarray:
    """A[(j, r), x] = 1 if x mod m_j = r."""
    return np.array([[float(x % m == r) for x in range(k)] for m in moduli for r in range(m)])
