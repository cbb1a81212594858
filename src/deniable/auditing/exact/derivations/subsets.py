"""Channels whose reports are subsets: ss, and mss with one subset of the residues of each modulus.

With T_j the truth threshold of a cohort, Pr[j, Z | x] = T_j / (M C(m-1, w-1)) / l if Z holds the residue of x, else
(M - T_j) / (M C(m-1, w)) / l. One cohort whose modulus is k is subset selection.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb

from deniable.auditing.exact.channel import UNCOUNTED, Channel, Enumerable, Level, Report, Witness, settled
from deniable.auditing.exact.derivations.draws import bits_of, described_bits, draw_faults, words_of
from deniable.auditing.exact.document import MOST_MARKS, WORDS, Document, numbers
from deniable.core.errors import SpecError, shown


def ss(document: Document) -> Channel:
    """A set of w of the k values."""
    return _channel(document, [document.listed], [document.parameter("w", 1)], ["truth"], False)


def mss(document: Document) -> Channel:
    """A cohort, and a set of the residues modulo its modulus."""
    moduli, sizes = numbers(document.parameters, "moduli", 2), numbers(document.parameters, "sizes", 1)
    if len(moduli) != len(sizes) or not moduli:
        raise SpecError(f"spec must have one size for each modulus, got {len(sizes)} for {len(moduli)}")
    if max(moduli) > MOST_MARKS:
        raise SpecError(f"moduli must be at most {MOST_MARKS:,}, got {shown(max(moduli))}")
    return _channel(document, moduli, sizes, [f"truth_{j}" for j in range(len(moduli))], True)


def _channel(document: Document, moduli: list[int], sizes: list[int], truths: list[str], cohorts: bool) -> Channel:
    if any(not 0 < w < m for m, w in zip(moduli, sizes, strict=True)):
        raise SpecError(f"subsets must hold some values but not all, got sizes {sizes} of {moduli}")
    slices, k = -(-max(moduli) // 64), document.values
    chances = [Fraction(document.threshold(name, WORDS - 1), WORDS) for name in truths]
    if not all(chances):
        raise SpecError("truth thresholds must be positive")
    # T (m - w) / ((M - T) w): the binomials of the two kinds of sets cancel
    ratios = [p * (m - w) / ((1 - p) * w) for p, m, w in zip(chances, moduli, sizes, strict=True)]
    levels = []
    for j, (m, w, ratio) in enumerate(zip(moduli, sizes, ratios, strict=True)):
        row = words_of((1 << w) - 1, slices)  # holds the residues of 0 and not of m - 1
        holds, lacks = (0, m - 1) if ratio >= 1 else (m - 1, 0)
        if max(holds, lacks) < k:
            levels.append(Level(max(ratio, 1 / ratio), Witness(holds, lacks, (j, *row) if cohorts else row)))
    rates = [
        p / w if ratio >= 1 else (1 - p) / (m - w)
        for p, m, w, ratio in zip(chances, moduli, sizes, ratios, strict=True)
    ]
    # (1/k) sum over reports of the largest probability: m residues occur, if there are as many values
    rate = sum((r * m / k for r, m in zip(rates, moduli, strict=True)), Fraction(0)) / len(moduli)

    def probability(report: Report, index: int) -> Fraction:
        j, words = (report[0], report[1:]) if cohorts else (0, report)
        m, w, p = moduli[j], sizes[j], chances[j]
        held = bits_of(words) >> index % m & 1
        return (p / comb(m - 1, w - 1) if held else (1 - p) / comb(m - 1, w)) / len(moduli)

    def reports() -> Iterator[Report]:
        for j, (m, w) in enumerate(zip(moduli, sizes, strict=True)):
            for chosen in combinations(range(m), w):
                row = words_of(sum(1 << place for place in chosen), slices)
                yield (j, *row) if cohorts else row

    def describe(report: Report) -> str:
        words = report[1:] if cohorts else report
        prefix = f"cohort {report[0]} (modulus {moduli[report[0]]}), residues" if cohorts else "values"
        return described_bits(bits_of(words), prefix)

    size = sum(comb(m, w) if m <= 64 else UNCOUNTED for m, w in zip(moduli, sizes, strict=True))
    draws = (("rejection_cohort", len(moduli)),) if cohorts else ()
    enumerable = Enumerable(k, reports, probability)
    return settled(
        enumerable, size, levels, rate, describe, draw_faults(document, draws), rate_is_bound=max(moduli) > k
    )
