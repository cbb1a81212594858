"""Channels that keep a class or replace it by a uniform one: grr, olh, blh, flh, clh, rhr, orr.

A report is y N + a: a public number y below P, independent of the value, and a class a below N. With h the class of the
value under y and T the truth threshold, Pr[y, a | x] = ((T if a = h) + (M - T)/N) / (M P).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from deniable.auditing.exact.channel import Channel, Enumerable, Level, Report, Witness, settled
from deniable.auditing.exact.derivations.draws import draw_faults
from deniable.auditing.exact.derivations.functions import (
    affine_bucket,
    class_by_power,
    inner_product,
    is_prime,
    least_root,
    parity,
    permuted_bucket,
)
from deniable.auditing.exact.document import WORDS, Document
from deniable.core.errors import SpecError

_SEARCHED = 4096  # public numbers tried for a witness
_MOST_TABLE = 2**22


@dataclass(frozen=True)
class _Shape:
    """P public numbers, N classes, and the class of a value under a number; N is no class."""

    publics: int
    classes: int
    class_of: Callable[[int, int], int]  # (index, public)
    draws: tuple[tuple[str, int], ...]
    public: str = "public number"


def grr(document: Document) -> Channel:
    """One word is coin and replacement: the words from T on fall into k shares, which must be equal."""
    k = document.values
    truth = document.threshold("truth", WORDS - 1)
    uneven = (WORDS - truth) % k
    faults = [f"2^64 - truth must be a multiple of {k}, so that all replacements are equally likely"] if uneven else []
    shape = _Shape(1, k, lambda index, _: index, ())
    return _channel(document, shape, faults)


def olh(document: Document) -> Channel:
    """All vectors but 0 are seeds."""
    return _linear(document, document.parameter("g", 2), lines=False)


def blh(document: Document) -> Channel:
    """Seeds as for olh, two classes."""
    return _linear(document, 2, lines=False)


def flh(document: Document) -> Channel:
    """One seed of each line through 0: the vectors whose leading digit is 1."""
    return _linear(document, document.parameter("g", 2), lines=True)


def _linear(document: Document, g: int, lines: bool) -> Channel:
    digits = 1
    while g**digits < document.values:
        digits += 1
    publics = (g**digits - 1) // (g - 1) if lines else g**digits - 1

    def seed(public: int) -> int:
        if not lines:
            return public + 1
        power = 1
        while public >= power:
            public, power = public - power, power * g
        return power + public

    def class_of(index: int, public: int) -> int:
        return inner_product(seed(public), index, g)

    draws = (("rejection_class", g), ("rejection_public", publics))
    return _channel(document, _Shape(publics, g, class_of, draws, "seed number"))


def clh(document: Document) -> Channel:
    """The class of x - y modulo a prime; where x = y a uniform class is sent."""
    modulus, classes = document.parameter("modulus", 3), document.parameter("classes", 2)
    if not is_prime(modulus):
        raise SpecError(f"modulus must be a prime, got {modulus}")
    if (modulus - 1) % classes or classes > _MOST_TABLE:
        raise SpecError(f"classes must divide {modulus} - 1, and be at most {_MOST_TABLE}, got {classes}")
    class_of = class_by_power(modulus, classes, least_root(modulus))
    draws = (("rejection_class", classes), ("rejection_public", modulus))
    return _channel(document, _Shape(modulus, classes, lambda index, public: class_of(index - public), draws))


def rhr(document: Document) -> Channel:
    """A block and the sign of a public row of a Hadamard matrix."""
    blocks = 2 ** (document.parameter("bits", 1, 32) - 1)
    fullest, length = -(-document.values // blocks), 2
    while length < fullest:
        length *= 2

    def class_of(index: int, public: int) -> int:
        return 2 * int(index % blocks) + parity((public + 1) & (index // blocks))

    draws = (("rejection_class", 2 * blocks), ("rejection_public", length - 1))
    return _channel(document, _Shape(length - 1, 2 * blocks, class_of, draws, "row"))


def orr(document: Document) -> Channel:
    """The bucket of the value in a cohort that is part of the report."""
    cohorts, buckets = document.parameter("cohorts", 1), document.parameter("buckets", 2)
    seed = document.parameter("seed", 0, WORDS - 1)

    def class_of(index: int, cohort: int) -> int:
        if document.open:
            return affine_bucket(document.number(index), seed, cohort, buckets)
        return permuted_bucket(index, seed, cohort, document.values, buckets)

    draws = (("rejection_cohort", cohorts), ("rejection_bucket", buckets))
    return _channel(document, _Shape(cohorts, buckets, class_of, draws, "cohort"))


def _channel(document: Document, shape: _Shape, faults: list[str] | None = None) -> Channel:
    truth = document.threshold("truth", WORDS - 1)
    publics, classes = shape.publics, shape.classes
    low = Fraction(WORDS - truth, WORDS * classes * publics)
    high, none = low + Fraction(truth, WORDS * publics), Fraction(1, classes * publics)

    def probability(report: Report, index: int) -> Fraction:
        public, sent = divmod(report, classes)
        own = shape.class_of(index, public)
        return none if own == classes else high if own == sent else low

    def describe(report: Report) -> str:
        public, sent = divmod(report, classes)
        return f"{report}" if publics == 1 else f"{report} ({shape.public} {public}, class {sent})"

    # high/low = 1 + N T/(M - T), if some public number tells two values apart
    levels = [Level(high / low, _witness(document.values, shape))]
    symbols = publics * classes
    # no report is likelier than `high` under the best guess, and none is more than high/low times as likely
    rate = min(high * symbols / document.values, high / (high + low * (document.values - 1)))
    found = [*(faults or []), *draw_faults(document, shape.draws)]
    enumerable = Enumerable(document.values, lambda: range(symbols), probability)
    return settled(enumerable, symbols, levels, None if document.open else rate, describe, found)


def _witness(values: int, shape: _Shape) -> Witness | None:
    """A report that supports one value and not another; None if none is found."""
    for public in range(min(shape.publics, _SEARCHED)):
        own = shape.class_of(0, public)
        for other in range(1, min(values, _SEARCHED)):
            found = shape.class_of(other, public)
            if found != own and own != shape.classes != found:
                return Witness(0, other, public * shape.classes + own)
    return None
