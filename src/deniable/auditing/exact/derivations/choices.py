"""Channels that draw inside or outside a set of reports: csr, pgr, hpgr, hr, hcms, design.

A report is a cohort, uniform, and one of n symbols, of which w support the value. With T the truth threshold,
Pr[cohort, y | x] = T/(M w) / C if y supports x, else (M - T)/(M (n - w)) / C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from itertools import islice
from math import isqrt
from typing import Any

from deniable.auditing.exact.channel import Channel, Enumerable, Level, Report, Witness, settled
from deniable.auditing.exact.derivations.draws import draw_faults
from deniable.auditing.exact.derivations.functions import affine_bucket, parity, singer_set
from deniable.auditing.exact.document import WORDS, Document, numbers, whole
from deniable.core.domain import MAX_SIZE
from deniable.core.errors import SpecError, shown

_SEARCHED = 2**16  # reports tried for a witness
_MOST_SET = 2**22  # steps by which a set may be listed

Supports = Callable[[int, int], bool]  # (report, index)


def design(document: Document) -> Channel:
    """The blocks of the spec: every value must lie in the same number of them, or places are drawn unevenly."""
    listed = document.parameters.get("blocks")
    if not isinstance(listed, list) or not listed:
        raise SpecError("spec must have a list of blocks")
    blocks = [frozenset(numbers({"blocks": block}, "blocks")) for block in listed]
    inside = [sum(value in block for block in blocks) for value in range(document.values)]
    if len(set(inside)) > 1 or not 0 < inside[0] < len(blocks):
        raise SpecError(f"blocks must hold every value equally often, got {inside[:8]}")
    draws = (("rejection_inside", inside[0]), ("rejection_outside", len(blocks) - inside[0]))
    return two_level(document, 1, len(blocks), inside[0], draws, lambda report, index: index in blocks[report])


def csr(document: Document) -> Channel:
    """A value moves, modulo K, by an element inside or outside a multiple of a union of cyclotomic classes."""
    sets = document.parameters.get("sets")
    if not isinstance(sets, Mapping):
        raise SpecError("spec must have an object 'sets'")
    modulus = whole(sets, "modulus", 2)
    if modulus > MAX_SIZE:
        raise SpecError(f"spec must have a modulus of at most {MAX_SIZE:,}, got {shown(modulus)}")
    if "seed" in sets:  # pseudo-random sets: whatever they are, they have `size` elements
        cohorts, size = whole(sets, "count", 1), whole(sets, "size", 1)
        return two_level(document, cohorts, modulus, size, _moved(cohorts, size, modulus), None)
    classes, root = whole(sets, "classes", 1), whole(sets, "root", 1)
    chosen, powers = numbers(sets, "chosen"), numbers(sets, "cohorts")
    if (modulus - 1) % classes:
        raise SpecError(f"classes must divide {modulus} - 1, got {classes}")
    if modulus > _MOST_SET:  # too many to list; what is needed is how many there are
        size = len(set(chosen)) * (modulus - 1) // classes + (sets.get("zero") is True)
        return two_level(document, len(powers), modulus, size, _moved(len(powers), size, modulus), None)
    step = pow(root, classes, modulus)
    base = {0} if sets.get("zero") is True else set()
    for a in chosen:
        element = pow(root, a, modulus)
        for _ in range((modulus - 1) // classes):
            base.add(element)
            element = element * step % modulus
    inverses = [pow(root, -j, modulus) for j in powers]
    draws = _moved(len(powers), len(base), modulus)

    def supports(report: int, index: int) -> bool:
        cohort, y = divmod(report, modulus)
        return (y - index) * inverses[cohort] % modulus in base  # y - x lies in g^j D

    return two_level(document, len(powers), modulus, len(base), draws, supports)


def pgr(document: Document) -> Channel:
    """A value moves by an element inside or outside a hyperplane of a projective geometry."""
    points, inside, base = _geometry(document)

    def supports(report: int, index: int) -> bool:
        return (report - index) % points in base

    draws = _moved(1, inside, points)
    return two_level(document, 1, points, inside, draws, supports if base else None)


def hpgr(document: Document) -> Channel:
    """Values are dealt to h blocks, each numbered by a geometry."""
    points, inside, base = _geometry(document)
    blocks = document.parameter("h", 1)

    def supports(report: int, index: int) -> bool:
        block, y = divmod(report, points)
        return block == index % blocks and (y - index // blocks) % points in base

    draws = (("rejection_inside", inside), ("rejection_outside", blocks * points - inside))
    return two_level(document, 1, blocks * points, inside, draws, supports if base else None)


def _geometry(document: Document) -> tuple[int, int, set[int]]:
    """The points of a geometry, how many lie on a hyperplane, and which; none are listed if they are too many."""
    q, t = document.parameter("q", 2), document.parameter("t", 2)
    if t * q.bit_length() > 64:
        raise SpecError(f"a geometry must have less than 2^64 points, got q = {q} and t = {t}")
    prime = next((divisor for divisor in range(2, isqrt(q) + 1) if q % divisor == 0), q)
    power = next(power for power in range(1, 65) if prime**power >= q)
    if prime**power != q:
        raise SpecError(f"q must be a power of a prime, got {q}")
    points, inside = (q**t - 1) // (q - 1), (q ** (t - 1) - 1) // (q - 1)
    if points * t > _MOST_SET:
        return points, inside, set()
    polynomial = numbers(document.parameters, "polynomial")
    if len(polynomial) != power * t and t > 2:
        raise SpecError(f"the polynomial must have {power * t} coefficients, got {len(polynomial)}")
    base = set(singer_set(q, t, polynomial))
    if len(base) != inside:
        raise SpecError("the polynomial must be primitive: its recurrence gives no hyperplane")
    return points, inside, base


def _moved(cohorts: int, inside: int, modulus: int) -> tuple[tuple[str, int], ...]:
    return (("rejection_cohort", cohorts), ("rejection_inside", inside), ("rejection_outside", modulus - inside))


def hr(document: Document) -> Channel:
    """A block and a number from 1 to b - 1 whose parity with the value's number is even."""
    blocks = document.parameter("blocks", 1)
    fullest, size = -(-document.values // blocks), 4
    while size <= fullest:
        size *= 2
    reports, inside = blocks * (size - 1), size // 2 - 1

    def supports(report: int, index: int) -> bool:
        block, u = divmod(report, size - 1)
        return block == index % blocks and parity((u + 1) & (index // blocks + 1)) == 0

    draws = (("rejection_inside", inside), ("rejection_outside", reports - inside))
    return two_level(document, 1, reports, inside, draws, supports)


def hcms(document: Document) -> Channel:
    """A cohort, a coordinate and a sign: each pair of the first two is a cohort of two reports."""
    cohorts, buckets = document.parameter("cohorts", 1), document.parameter("buckets", 2)
    seed, pairs = document.parameter("seed", 0, WORDS - 1), cohorts * (buckets - 1)

    def supports(report: int, index: int) -> bool:
        pair, sign = divmod(report, 2)
        cohort, coordinate = divmod(pair, buckets - 1)
        return parity((coordinate + 1) & affine_bucket(document.number(index), seed, cohort, buckets)) == sign

    return two_level(document, pairs, 2, 1, (("rejection_pair", pairs),), supports)


def two_level(
    document: Document,
    cohorts: int,
    symbols: int,
    inside: int,
    draws: Iterable[tuple[str, int]],
    supports: Supports | None,
    describe: Callable[[Any], str] = str,
) -> Channel:
    """The channel of a coin that chooses between the reports inside a value's set and those outside it."""
    truth = document.threshold("truth", WORDS - 1)
    if not 0 < inside < symbols or truth == 0:
        raise SpecError(f"sets must hold some reports but not all, got {inside} of {symbols}, and truth be positive")
    high = Fraction(truth, WORDS * inside * cohorts)
    low = Fraction(WORDS - truth, WORDS * (symbols - inside) * cohorts)
    total, k = cohorts * symbols, document.values
    most, least = max(high, low), min(high, low)
    rate = None if document.open else min(most * total / k, most / (most + least * (k - 1)))
    faults = list(draw_faults(document, draws))
    if supports is None:
        return settled(None, total, [Level(most / least, Witness(0, 1, None))], rate, _unlisted, faults, k)

    def probability(report: Report, index: int) -> Fraction:
        return high if supports(report, index) else low

    level = Level(most / least, _witness(total, k, supports, high >= low))
    enumerable = Enumerable(k, lambda: range(total), probability)
    return settled(enumerable, total, [level], rate, describe, faults)


def _unlisted(_: Report) -> str:
    return "any that marks the value and not the other"


def _witness(total: int, values: int, supports: Supports, favours: bool) -> Witness | None:
    """A report that supports one value and not another, likeliest under the first; None if none is found."""
    for report in islice(range(total), _SEARCHED):
        first = supports(report, 0)
        for other in range(1, min(values, 64)):
            if supports(report, other) != first:
                value, unlike = (0, other) if first == favours else (other, 0)
                return Witness(value, unlike, report)
    return None
