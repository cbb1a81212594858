"""Exact numbers for an auditor: e^epsilon from below, logarithms to many digits, and how uniform a draw is.

By the decimal module, whose exponential and logarithm are rounded correctly; the mechanisms use a series of their own.
"""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction
from math import gcd

_EXACT = Context(prec=1000)  # e^1000 has 435 digits before the point
_NEAR = Decimal("1e-400")
_DIGITS = 20
MOST_EPSILON = 1000  # of which so many digits give the floor
MODULUS = 2**64


def exponential_below(epsilon: Fraction) -> Fraction:
    """E = floor(e^epsilon 2^64) / 2^64."""
    written = _EXACT.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    scaled = _EXACT.multiply(_EXACT.exp(written), Decimal(MODULUS))
    below = int(scaled)
    # so many digits err by far less than the distance to a whole number, or the floor is not known
    margin = _EXACT.subtract(scaled, Decimal(below))
    assert _NEAR < margin < _EXACT.subtract(1, _NEAR), "e^epsilon is too close to a multiple of 2^-64"
    return Fraction(below, MODULUS)


def logarithm(ratio: Fraction) -> Decimal:
    """log(ratio) to far more digits than are shown."""
    return _EXACT.ln(_EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)))


def subtract(epsilon: Fraction, spent: Decimal) -> Decimal:
    """epsilon - spent, without rounding that is seen."""
    return _EXACT.subtract(_EXACT.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)), spent)


def digits(number: Fraction | Decimal, places: int = _DIGITS) -> str:
    """A number of at least 0 to this many places, cut off, not rounded."""
    if isinstance(number, Decimal):
        number = Fraction(number)
    sign = "-" if number < 0 else ""
    whole, rest = divmod(abs(number.numerator) * 10**places // number.denominator, 10**places)
    return f"{sign}{whole}.{rest:0{places}d}"


def rounded(ratio: Fraction) -> str:
    """A ratio to six digits, however large it is."""
    if ratio < 10**300:
        return f"{float(ratio):.6g}"
    return f"{_EXACT.divide(Decimal(ratio.numerator), Decimal(ratio.denominator)):.5e}"


def uneven(bound: int, rejection: int, modulus: int = MODULUS) -> Fraction:
    """How much likelier one integer below `bound` is drawn than another, by a product whose low half may be rejected.

    A word u draws the high half of u * bound, and is rejected if the low half is below `rejection`. The low halves that
    lead to one integer are s, s + bound, s + 2 bound ... below the modulus, where s runs through the multiples of
    gcd(modulus, bound) below bound; so counts are the same if and only if rejection = modulus mod bound, or a multiple
    of bound more.
    """
    step = gcd(modulus, bound)
    starts = {0, bound - step, *_around(modulus % bound, bound, step), *_around(rejection % bound, bound, step)}
    counts = []
    for start in starts:
        nearest = start - start % step
        first = max(0, -(-(rejection - nearest) // bound))
        counts.append(max(0, (modulus - 1 - nearest) // bound + 1 - first))
    return Fraction(max(counts), min(counts)) if min(counts) else Fraction(MODULUS)


def _around(place: int, bound: int, step: int) -> list[int]:
    """Starts near the one at which the count of low halves changes."""
    return [each % bound for each in (place - 1, place, place + step)]
