"""The arithmetic of linear hashing, and the best prime g: the one near e^epsilon + 1 with the least exact variance."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import count, islice

import numpy as np

from deniable.core.arrays import Bytes
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS
from deniable.mechanisms.numbers import is_prime

_NEARBY = 6  # primes tried on either side
_PART = 64  # most different values of a part of a few digits: 4096 products stay in the nearest cache
_INDEX_BITS = 31  # values and seeds are below 2^31


def digits_of(k: int, base: int) -> int:
    """d = ceil(log_g k), and at least 1: the digits in base g of every index below k."""
    digits = 1
    while base**digits < k:
        digits += 1
    return digits


def division(base: int) -> tuple[int, int]:
    """m and r with x div g = (x m) >> r for all x below 2^31, and products below 2^64.

    Reference: Granlund and Montgomery 1994, "Division by invariant integers using multiplication", theorem 4.2.
    """
    shift = _INDEX_BITS + (base - 1).bit_length()
    return -(-(2**shift) // base), shift


def parts_of(base: int) -> int:
    """Number of digits hashed at once: the most that keep the table of products short, and at least one."""
    digits = 1
    while base ** (digits + 1) <= _PART:
        digits += 1
    return digits


def products_of(base: int) -> Bytes:
    """The hashes of all pairs of parts, value times seed; empty where the table would be long."""
    size = int(base ** parts_of(base))
    if size > _PART:
        return np.empty(0, np.uint8)
    digits = [np.arange(size) // base**place % base for place in range(parts_of(base))]
    return np.asarray(sum(np.outer(row, row) for row in digits) % base).astype(np.uint8).reshape(-1)


def seed_count(base: int, digits: int, lines: bool) -> int:
    """Number of seeds: all vectors of d digits but 0, or with `lines` one for every line through 0."""
    vectors = int(base**digits) - 1
    return vectors // (base - 1) if lines else vectors


def collision(base: int, digits: int) -> Fraction:
    """Probability that two values have the same hash, for every pair: the seed must be orthogonal to their difference.

    The orthogonal vectors are a subspace of one dimension less, g^(d-1) of g^d; 0, which is no seed, is one of them.
    """
    return Fraction(base ** (digits - 1) - 1, base**digits - 1)


def hash_channel(high: Fraction, base: int, digits: int) -> PureChannel:
    """p and q of a hash that is sent unchanged with probability `high`, and otherwise is uniform among the others."""
    same = collision(base, digits)
    # q = c high + (1 - c) low
    return PureChannel(high, same * high + (1 - same) * (1 - high) / (base - 1))


def ideal_variance(bound: Fraction, k: int, base: int) -> Fraction:
    """n times the variance at f = 0 for a ratio of exactly E: q(1 - q)/(p - q)^2, p = E/(E + g - 1)."""
    channel = hash_channel(bound / (bound + base - 1), base, digits_of(k, base))
    return channel.q * (1 - channel.q) / channel.gain**2


def fits(k: int, base: int, lines: bool) -> bool:
    """Whether reports of such hashes fit 32 bits."""
    return seed_count(base, digits_of(k, base), lines) * base <= MAX_SYMBOLS


@lru_cache(maxsize=64)
def best_base(k: int, bound: Fraction, lines: bool) -> int | None:
    """The prime with the least variance whose reports fit, up to the first prime from k on; None if none fits.

    With more classes than that, hashing has no advantage over randomised response.
    """
    largest = next(number for number in count(k) if is_prime(number))
    centre = min(int(bound) + 1, largest)
    below = islice((number for number in range(centre, 1, -1) if is_prime(number)), _NEARBY)
    above = islice((number for number in range(centre + 1, largest + 1) if is_prime(number)), _NEARBY)
    fitting = [base for base in {*below, *above, largest} if fits(k, base, lines)]
    return min(fitting, key=lambda base: (ideal_variance(bound, k, base), base), default=None)


def other_than(lines: bool) -> str:
    """The mechanisms to use where reports of such hashes do not fit."""
    return "csr" if lines else "flh, which has fewer seeds, or csr"


def checked_base(k: int, base: object, lines: bool, name: str) -> int:
    """Return a given g, or raise InvalidArgument if it is not a prime whose reports fit."""
    number = whole(2, MAX_SYMBOLS, g=base)
    if not is_prime(number):
        below = next(near for near in range(number, 1, -1) if is_prime(near))
        above = next(near for near in count(number) if is_prime(near))
        raise InvalidArgument("g", "be prime", number, f"The nearest primes are {below} and {above}.")
    if not fits(k, number, lines):
        rule = f"leave {name} at most {MAX_SYMBOLS} different reports for k={k}"
        raise InvalidArgument("g", rule, number, f"Give a smaller g, or use {other_than(lines)}.")
    return number
