"""Channels that toss one coin for each bit: oue, sue, the, and the filters of orappor and cms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import islice

from deniable.auditing.exact.channel import UNCOUNTED, Channel, Enumerable, Level, Report, Witness, settled
from deniable.auditing.exact.derivations.draws import (
    MOST_BITS,
    bits_of,
    coin,
    described_bits,
    draw_faults,
    words_of,
)
from deniable.auditing.exact.derivations.functions import affine_bucket, permuted_bucket
from deniable.auditing.exact.document import MOST_MARKS, WORDS, Document
from deniable.core.domain import MAX_SIZE
from deniable.core.errors import SpecError

_PAIRS = 2**16  # pairs of filters compared to find two that differ most
_MOST_HASHES = 1024
_EXACT_RATE = 64  # bits up to which the attack rate is a fraction that can be written


def unary(document: Document) -> Channel:
    """One bit per value: the sender's is set with probability p, every other one with q."""
    k, slices = document.listed, -(-document.listed // 64)
    own, own_faults = coin(document, "own")
    other, other_faults = coin(document, "other")
    p, q = Fraction(own, WORDS), Fraction(other, WORDS)
    if not 0 < p < 1 or not 0 < q < 1:
        level = Level(None, Witness(0, 1, words_of(1, slices)))
        certain = [f"coins must be able to fall on both sides, got probabilities {float(p)} and {float(q)}"]
        return Channel(k, (level,), None, faults=(*own_faults, *other_faults, *certain), describe=_described)
    # the report that has only the bit of one value, against another value: p (1 - q) / ((1 - p) q)
    ratio = p * (1 - q) / ((1 - p) * q)
    value, unlike = (0, 1) if ratio >= 1 else (1, 0)
    levels = [Level(max(ratio, 1 / ratio), Witness(value, unlike, words_of(1, slices)))]

    def probability(report: Report, index: int) -> Fraction:
        bits = bits_of(report)
        held, others = bits >> index & 1, (bits & ~(1 << index)).bit_count()
        return (p if held else 1 - p) * q**others * (1 - q) ** (k - 1 - others)

    enumerable = Enumerable(k, lambda: (words_of(bits, slices) for bits in range(2**k)), probability)
    # (1/k) sum over reports of the largest probability = (p - (p - q) (1 - q)^(k-1)) / (q k), if p >= q
    exact = k <= _EXACT_RATE and p >= q
    clear = (1 - q) ** (k - 1) if exact else Fraction(0)
    bound = levels[0].ratio or Fraction(1)
    bound = bound / (bound + k - 1)
    rate = min((p - (p - q) * clear) / (q * k), bound) if p >= q else bound
    size = 2**k if k <= MOST_BITS else UNCOUNTED
    faults = [*own_faults, *other_faults]
    return settled(enumerable, size, levels, rate, _described, faults, rate_is_bound=not exact)


def _described(report: Report) -> str:
    return described_bits(bits_of(report), "values")


def orappor(document: Document) -> Channel:
    """A Bloom filter in a cohort, every bit flipped alike; values of a closed domain are permuted."""
    return _filters(document, document.parameter("hashes", 1, _MOST_HASHES), permuted=not document.open)


def cms(document: Document) -> Channel:
    """A filter of one bit in a cohort of plain hash functions."""
    return _filters(document, 1, permuted=False)


def _filters(document: Document, hashes: int, permuted: bool) -> Channel:
    cohorts, buckets = document.parameter("cohorts", 1), document.parameter("buckets", 2, MOST_MARKS)
    seed, k, slices = document.parameter("seed", 0, WORDS - 1), document.values, -(-buckets // 64)
    if cohorts * hashes > MAX_SIZE:
        raise SpecError(f"spec must have at most {MAX_SIZE:,} hash functions, got {cohorts} times {hashes}")
    threshold, faults = coin(document, "flip")
    flip = Fraction(threshold, WORDS)
    if not 0 < flip < Fraction(1, 2):
        raise SpecError(f"flip must be a probability between 0 and 1/2, got {float(flip)}")

    @cache
    def filter_of(index: int, cohort: int) -> int:
        bits = 0
        for function in range(cohort * hashes, (cohort + 1) * hashes):
            if permuted:
                bits |= 1 << permuted_bucket(index, seed, function, k, buckets)
            else:
                bits |= 1 << affine_bucket(document.number(index), seed, function, buckets)
        return bits

    def probability(report: Report, index: int) -> Fraction:
        flipped = (bits_of(report[1:]) ^ filter_of(index, report[0])).bit_count()
        return flip**flipped * (1 - flip) ** (buckets - flipped) / cohorts

    most = min(2 * hashes, buckets)  # bits in which two filters can differ
    apart, value, other, cohort = _farthest(k, cohorts, most, filter_of)
    report = (cohort, *words_of(filter_of(value, cohort), slices))
    # every bit in which two filters differ contributes (1 - flip)/flip
    odds = 1 / flip - 1
    levels, ratio = [Level(odds**apart, Witness(value, other, report))], odds**apart
    if apart < most and (document.open or k * (k - 1) // 2 * cohorts > _PAIRS):  # not all pairs were compared
        ratio = odds**most
        levels.append(Level(ratio, None))
    rate = None if document.open else ratio / (ratio + k - 1)
    draws = draw_faults(document, (("rejection_cohort", cohorts),))
    size = cohorts * 2**buckets if buckets <= MOST_BITS and not document.open else UNCOUNTED

    def describe(report: Report) -> str:
        return f"cohort {report[0]}, {described_bits(bits_of(report[1:]))}"

    enumerable = Enumerable(
        k, lambda: ((j, *words_of(bits, slices)) for j in range(cohorts) for bits in range(2**buckets)), probability
    )
    found = settled(enumerable, size, levels, rate, describe, [*faults, *draws])
    # whoever does not compare all filters may state this
    return replace(found, bound=odds**most if apart < most else None)


def _farthest(k: int, cohorts: int, most: int, filter_of: Callable[[int, int], int]) -> tuple[int, int, int, int]:
    """The most bits in which two filters of a cohort differ, of as many pairs as are compared, and where."""
    found = (0, 0, 0, 0)
    pairs = ((one, other) for one in range(k) for other in range(one + 1, k))  # a copy of a range may be large
    compared = ((j, pair) for pair in pairs for j in range(cohorts))
    for j, (one, other) in islice(compared, _PAIRS):
        distance = (filter_of(one, j) ^ filter_of(other, j)).bit_count()
        if distance > found[0]:
            found = distance, one, other, j
        if distance == most:
            break
    return found
