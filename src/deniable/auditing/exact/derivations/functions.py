"""Public hash functions, written anew from their description in "Hashing for other languages" of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from hashlib import blake2s
from math import isqrt

_PRIME = 2**61 - 1
_ROUNDS = 16


def _material(purpose: bytes, seed: int, number: int, length: int) -> bytes:
    """Bytes that fix function `number`: BLAKE2s keyed with the seed, in blocks of 32."""
    made = b""
    for block in range((length + 31) // 32):
        data = purpose + number.to_bytes(4, "little") + block.to_bytes(4, "little")
        made += blake2s(data, key=seed.to_bytes(8, "little")).digest()
    return made[:length]


@lru_cache(maxsize=4096)
def _affine(seed: int, number: int) -> tuple[int, int]:
    material = _material(b"affine", seed, number, 16)
    return int.from_bytes(material[:8], "little") % (_PRIME - 1) + 1, int.from_bytes(material[8:], "little") % _PRIME


@lru_cache(maxsize=4096)
def _rounds(seed: int, number: int) -> tuple[int, ...]:
    material = _material(b"permutation", seed, number, 8 * _ROUNDS)
    return tuple(int.from_bytes(material[at : at + 4], "little") for at in range(0, 8 * _ROUNDS, 4))


def affine_bucket(number: int, seed: int, function: int, buckets: int) -> int:
    """floor(buckets ((a number + b) mod P) / 2^61)."""
    a, b = _affine(seed, function)
    return buckets * ((a * number + b) % _PRIME) // 2**61


def permuted_bucket(index: int, seed: int, function: int, size: int, buckets: int) -> int:
    """The image of an index under a swap-or-not permutation of 0..size-1, modulo the buckets."""
    keys = _rounds(seed, function)
    for place in range(0, 2 * _ROUNDS, 2):
        partner = (keys[place] * size // 2**32 - index) % size
        if _mixed(keys[place + 1] ^ max(index, partner)) >= 2**31:
            index = partner
    return index % buckets


def _mixed(z: int) -> int:
    z = (z ^ z >> 16) * 0x85EBCA6B % 2**32
    z = (z ^ z >> 13) * 0xC2B2AE35 % 2**32
    return z ^ z >> 16


def inner_product(seed: int, index: int, base: int) -> int:
    """The inner product, modulo the base, of the digits of two numbers in this base."""
    total = 0
    while seed and index:
        total += (seed % base) * (index % base)
        seed, index = seed // base, index // base
    return total % base


def parity(number: int) -> int:
    """1 if a number has an odd number of ones in binary, else 0."""
    return bin(number).count("1") % 2


def class_by_power(modulus: int, classes: int, root: int) -> Callable[[int], int]:
    """The cyclotomic class of a number modulo a prime; that of 0 is `classes`, which is no class.

    A power root^e lies in class e mod N; raised to (K - 1)/N it depends on this class alone.
    """
    step = (modulus - 1) // classes
    class_of = {0: classes}
    for exponent in range(classes):
        class_of[pow(pow(root, exponent, modulus), step, modulus)] = exponent
    return lambda number: class_of[pow(number % modulus, step, modulus)]


def is_prime(number: int) -> bool:
    """Whether a number of at most 32 bits is a prime, by division."""
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


def least_root(prime: int) -> int:
    """The least primitive root of a prime."""
    rest, divisors, divisor = prime - 1, [], 2
    while divisor * divisor <= rest:
        if rest % divisor == 0:
            divisors.append(divisor)
            while rest % divisor == 0:
                rest //= divisor
        divisor += 1
    divisors += [rest] if rest > 1 else []
    return next(g for g in range(1, prime) if all(pow(g, (prime - 1) // each, prime) != 1 for each in divisors))


def singer_set(q: int, t: int, polynomial: Sequence[int]) -> list[int]:
    """The numbers of one hyperplane of PG(t - 1, q), by the linear recurrence of a polynomial modulo the prime of q.

    D = {i < K : b_i = b_(i+K) = ... = b_(i+(m-1)K) = 0}, b_i the last coefficient of x^i, q = p^m, K = (q^t-1)/(q-1).
    """
    if t == 2:
        return [0]
    p = next(factor for factor in range(2, q + 1) if q % factor == 0)
    m = next(power for power in range(1, 64) if p**power == q)
    points, degree = (q**t - 1) // (q - 1), m * t
    last = bytearray(m * points)
    state = [1] + [0] * (degree - 1)  # the coefficients of x^0
    for i in range(m * points):
        carried = state[-1]
        last[i] = carried != 0
        # x times the polynomial: x^degree = -(c_0 + c_1 x + ...)
        state = [(below - carried * c) % p for below, c in zip([0, *state[:-1]], polynomial, strict=True)]
    return [i for i in range(points) if not any(last[i + turn * points] for turn in range(m))]
