"""Rigorous bounds by integers alone: e^epsilon and powers from below, logarithms from above; and of rejections.

Every function encloses its number between two integers over a power of two, rounding one down and the other up, and
takes more bits until both give the same answer. So a device needs no library for it, and any language can repeat it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import count
from typing import TypeVar

from deniable.randomness.keystream import MODULUS

Bounds = tuple[int, int]  # a number times 2^bits lies between the two
Answer = TypeVar("Answer", int, float)

_SQUARINGS = 6  # e^x = (e^(x/2^s))^(2^s), with s so large that x/2^s <= 2^-6


def exponential_below(epsilon: float) -> Fraction:
    """E = floor(e^epsilon 2^64) / 2^64, so that E <= e^epsilon with certainty."""
    exponent = Fraction(epsilon)
    return Fraction(_agreed(lambda bits: _shifted(_exponential(exponent, bits), bits - 64), 256), MODULUS)


def rejection_bound(bound: int, modulus: int = MODULUS) -> int:
    """The bound below which low halves are rejected, so that every integer below `bound` is equally likely.

    Reference: Lemire 2019, "Fast random integer generation in an interval", section 4.
    """
    return modulus % bound


def negative_exponential_above(epsilon: float, divisor: int) -> Fraction:
    """ceil(2^128 e^(-epsilon/divisor)) / 2^128, which is at least e^(-epsilon/divisor) with certainty."""
    exponent = Fraction(epsilon) / divisor

    def ceilings(bits: int) -> Bounds:
        low, high = _exponential(exponent, bits)
        return -(-(1 << bits + 128) // high), -(-(1 << bits + 128) // low)

    return Fraction(_agreed(ceilings, 320), 2**128)


def digits_below(base: Fraction, exponent: int, odds: bool, bits: int) -> int:
    """floor(2^bits p) for p = base^exponent or, with `odds`, p = base^exponent/(1 + base^exponent)."""

    def floors(digits: int) -> Bounds:
        low, high = _power(base, exponent, digits)
        if not odds:
            return _shifted((low, high), digits - bits)
        whole = 1 << digits
        return (low << bits) // (whole + low), (high << bits) // (whole + high)

    return _agreed(floors, bits + 128)


def power_below(base: Fraction, exponent: int) -> Fraction:
    """base^exponent for a base from 0 to 1, rounded down to a multiple of 2^-192."""
    return Fraction(digits_below(base, exponent, odds=False, bits=192), 2**192)


def logarithm_above(ratio: Fraction) -> float:
    """The smallest float that is at least log(ratio), for a ratio of at least 1."""
    if ratio == 1:
        return 0.0

    def rounded(bits: int) -> tuple[float, float]:
        low, high = _logarithm(ratio, bits)
        return -_float_below(-low, bits), -_float_below(-high, bits)

    return _agreed(rounded, 256)


def logarithm_slack(epsilon: float, ratio: Fraction) -> float:
    """epsilon - log(ratio), rounded down to a float: the part of epsilon left unspent."""

    def rounded(bits: int) -> tuple[float, float]:
        low, high = _logarithm(ratio, bits)
        whole, rest = divmod(Fraction(epsilon).numerator << bits, Fraction(epsilon).denominator)
        return _float_below(whole - high, bits), _float_below(whole + (rest > 0) - low, bits)

    return epsilon if ratio == 1 else _agreed(rounded, 256)


def _agreed(bounds: Callable[[int], tuple[Answer, Answer]], bits: int) -> Answer:
    """The answer from below and above, with as many bits as it takes until both are the same."""
    while True:
        low, high = bounds(bits)
        if low == high:
            return low
        bits *= 2


def _shifted(bounds: Bounds, places: int) -> Bounds:
    return bounds[0] >> places, bounds[1] >> places


def _exponential(x: Fraction, bits: int) -> Bounds:
    """Bounds of e^x for x >= 0: the series of e^y, y = x/2^s <= 2^-6, then s squarings."""
    squarings = max(0, math.ceil(x).bit_length() + _SQUARINGS)
    numerator, denominator = x.numerator, x.denominator << squarings
    # t_i = floor(t_(i-1) y / i) is less than 2 below y^i/i!, since the error of t_(i-1) is multiplied by less than 1/2;
    # the terms after the last, which is below 2, add up to less than 1
    low = term = 1 << bits
    for i in count(1):
        term = term * numerator // (denominator * i)
        if term == 0:
            break
        low += term
    high = low + 2 * i + 1
    for _ in range(squarings):
        low, high = low * low >> bits, -(-high * high >> bits)
    return low, high


def _power(base: Fraction, exponent: int, bits: int) -> Bounds:
    """Bounds of base^exponent for a base from 0 to 1, by squaring."""
    low, rest = divmod(base.numerator << bits, base.denominator)
    high = low + (rest > 0)
    product = (1 << bits, 1 << bits)
    for digit in bin(exponent)[2:]:
        product = product[0] * product[0] >> bits, -(-product[1] * product[1] >> bits)
        if digit == "1":
            product = product[0] * low >> bits, -(-product[1] * high >> bits)
    return product


def _logarithm(ratio: Fraction, bits: int) -> Bounds:
    """Bounds of log(ratio) for a ratio of at least 1: log(2^j r) = j log 2 + log r, for r from 1 to 2."""
    doublings = max(0, ratio.numerator.bit_length() - ratio.denominator.bit_length() - 1)
    if ratio >= 2 << doublings:
        doublings += 1
    low, high = _inverse_tangent(ratio / 2**doublings, bits)
    two = _inverse_tangent(Fraction(2), bits)
    return low + doublings * two[0], high + doublings * two[1]


def _inverse_tangent(ratio: Fraction, bits: int) -> Bounds:
    """Bounds of log(ratio) = 2 artanh z = 2 (z + z^3/3 + z^5/5 + ...), z = (ratio - 1)/(ratio + 1), ratio up to 2."""
    z = (ratio - 1) / (ratio + 1)
    square = z * z
    # a power is less than 2 too small, since z^2 <= 1/9, and a quotient less than 3; the terms left out add less than 1
    power = low = (z.numerator << bits) // z.denominator
    for i in count(1):
        if power == 0:
            break
        power = power * square.numerator // square.denominator
        low += power // (2 * i + 1)
    return 2 * low, 2 * (low + 3 * i + 1)


def _float_below(number: int, bits: int) -> float:
    """The largest float that is at most number / 2^bits."""
    nearest = number / (1 << bits)
    exact = Fraction(nearest)
    return math.nextafter(nearest, -math.inf) if exact.numerator << bits > number * exact.denominator else nearest
