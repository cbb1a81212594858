"""Rigorous bounds: e^epsilon and powers from below and logarithms from above by ball arithmetic, and of rejections."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

from deniable.randomness.keystream import MODULUS

_PRECISION = threading.RLock()  # flint has one precision for all threads


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Ball arithmetic with this many bits, for one thread at a time."""
    import flint

    with _PRECISION, flint.ctx.workprec(bits):
        yield


def exponential_below(epsilon: float) -> Fraction:
    """E = floor(e^epsilon 2^64) / 2^64, so that E <= e^epsilon with certainty."""
    import flint

    bits = 192
    while True:
        with precision(bits):
            ball = flint.arb(epsilon).exp() * MODULUS
            number = ball.floor().unique_fmpz()
        if number is not None:  # otherwise the ball straddles an integer: raise the precision
            return Fraction(int(number), MODULUS)
        bits *= 2


def rejection_bound(bound: int, modulus: int = MODULUS) -> int:
    """The bound below which low halves are rejected, so that every integer below `bound` is equally likely.

    Reference: Lemire 2019, "Fast random integer generation in an interval", section 4.
    """
    return modulus % bound


def negative_exponential_above(epsilon: float, divisor: int) -> Fraction:
    """ceil(2^128 e^(-epsilon/divisor)) / 2^128, which is at least e^(-epsilon/divisor) with certainty."""
    import flint

    bits = 256
    while True:
        with precision(bits):
            ball = (-flint.arb(epsilon) / divisor).exp() * 2**128
            number = ball.ceil().unique_fmpz()
        if number is not None:
            return Fraction(int(number), 2**128)
        bits *= 2


def digits_below(base: Fraction, exponent: int, odds: bool, bits: int) -> int:
    """floor(2^bits p) for p = base^exponent or, with `odds`, p = base^exponent/(1 + base^exponent)."""
    import flint

    digits = bits + 128
    while True:
        with precision(digits):
            power = flint.arb(flint.fmpq(base.numerator, base.denominator)) ** exponent
            ball = (power / (1 + power) if odds else power) * flint.arb(2) ** bits
            number = ball.floor().unique_fmpz()
        if number is not None:
            return int(number)
        digits *= 2


def power_below(base: Fraction, exponent: int) -> Fraction:
    """base^exponent for a base from 0 to 1, rounded down by less than 2^-190."""
    import flint

    bits = 192
    with precision(2 * bits):
        ball = flint.arb(flint.fmpq(base.numerator, base.denominator)) ** exponent
        number = (ball.lower() * 2**bits).floor().unique_fmpz()
    return Fraction(int(number), 2**bits)


def logarithm_above(ratio: Fraction) -> float:
    """The smallest float that is at least log(ratio)."""
    import flint

    with precision(256):
        exact = flint.arb(flint.fmpq(ratio.numerator, ratio.denominator)).log()
        number = float(exact)
        while not flint.arb(number) >= exact:
            number = math.nextafter(number, math.inf)
        while flint.arb(math.nextafter(number, -math.inf)) >= exact:
            number = math.nextafter(number, -math.inf)
    return number


def logarithm_slack(epsilon: float, ratio: Fraction) -> float:
    """epsilon - log(ratio), rounded down to a float: the part of epsilon left unspent."""
    import flint

    with precision(256):
        exact = flint.arb(epsilon) - flint.arb(flint.fmpq(ratio.numerator, ratio.denominator)).log()
        number = float(exact)
        while not flint.arb(number) <= exact:
            number = math.nextafter(number, -math.inf)
    return number
