"""Number theory that several families use, by integers alone: primes, factors, primitive roots, binomials."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from itertools import count

import numpy as np

_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_PROVEN = 318_665_857_834_031_151_167_461
_TRIALS = 1000  # divisors up to this are found by trial
_FEW_FACTORS = 500
_CLOSE = 1e-3  # logarithms nearer to a whole number do not decide how many bits it has
_NEARBY = 48  # most primes tried above k


def is_prime(number: int) -> bool:
    """Whether a number is prime, by proof.

    Reference: Sorenson and Webster 2017, "Strong pseudoprimes to twelve prime bases": below the limit, no composite
    number passes Miller's test for all of them.
    """
    assert number < _PROVEN, "is_prime is proven for smaller numbers only"
    if number < 2 or any(number % prime == 0 for prime in _BASES):
        return number in _BASES
    twos = (number - 1 & 1 - number).bit_length() - 1
    return all(_passes(number, base, twos) for base in _BASES)


def _passes(number: int, base: int, twos: int) -> bool:
    """Miller's test: base^odd = 1, or one of its first squarings is -1, for number - 1 = odd 2^twos."""
    power = pow(base, number - 1 >> twos, number)
    return power in (1, number - 1) or any((power := power * power % number) == number - 1 for _ in range(twos - 1))


def factored(number: int) -> dict[int, int]:
    """The prime factors of a number, in rising order, with their exponents."""
    found: list[int] = []
    for divisor in range(2, min(_TRIALS, number) + 1):
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
    parts = [number]
    while parts:
        part = parts.pop()
        if is_prime(part):
            found.append(part)
        elif part > 1:
            divisor = _divisor(part)
            parts += [divisor, part // divisor]
    return dict(sorted(Counter(found).items()))


def _divisor(number: int) -> int:
    """A divisor of a number that is not prime, by Pollard's rho method: two points of a walk that meet modulo it."""
    for step in count(1):
        slow, fast, common = 2, 2, 1
        while common == 1:
            slow = (slow * slow + step) % number
            fast = (fast * fast + step) % number
            fast = (fast * fast + step) % number
            common = math.gcd(slow - fast, number)
        if common != number:
            return common
    raise AssertionError("some walk finds a divisor")


def primes_from(k: int) -> list[int]:
    """Primes from k on: at least three, and more up to 1.1 k."""
    found: list[int] = []
    number = max(k, 3)
    while len(found) < _NEARBY and (number <= 1.1 * k or len(found) < 3):
        if is_prime(number):
            found.append(number)
        number += 1
    return found


def divisors(number: int) -> list[int]:
    """All divisors, in rising order."""
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return sorted({*small, *(number // d for d in small)})


@lru_cache(maxsize=1024)
def primitive_root(modulus: int) -> int:
    """The least generator of the numbers modulo a prime."""
    factors = factored(modulus - 1)
    return next(g for g in range(1, modulus) if all(pow(g, (modulus - 1) // prime, modulus) != 1 for prime in factors))


def units(modulus: int) -> int:
    """Euler's phi: the number of residues that have no factor in common with the modulus."""
    return math.prod((prime - 1) * prime ** (power - 1) for prime, power in factored(modulus).items())


def binomial(k: int, w: int) -> int:
    """C(k, w) as a product of prime powers, which is faster than math.comb for large w.

    Formula: the exponent of p is the sum over i of floor(k/p^i) - floor(w/p^i) - floor((k-w)/p^i) (Legendre).
    """
    if min(w, k - w) < _FEW_FACTORS:
        return math.comb(k, w)
    prime = np.ones(k + 1, np.bool_)
    prime[:2] = False
    for number in range(2, math.isqrt(k) + 1):
        if prime[number]:
            prime[number * number :: number] = False
    primes = np.flatnonzero(prime)
    exponents, power = np.zeros(len(primes), np.int64), primes.copy()
    for _ in range(k.bit_length()):
        exponents += k // power - w // power - (k - w) // power
        power = np.minimum(power * primes, k + 1)  # beyond k, all three quotients are zero
    factors = [p**e for p, e in zip(primes.tolist(), exponents.tolist(), strict=True) if e]
    while len(factors) > 1:  # in pairs, so that both factors of a product are of a size
        factors = [math.prod(factors[i : i + 2]) for i in range(0, len(factors), 2)]
    return int(factors[0])


def binomial_bits(k: int, w: int, exact: Callable[[int], int], factor: float = 1.0) -> int:
    """The bits of a number near factor C(k, w), which is exact(C(k, w)), without C(k, w) where a logarithm decides."""
    if min(w, k - w) >= _FEW_FACTORS:
        powers = math.lgamma(k + 1) - math.lgamma(w + 1) - math.lgamma(k - w + 1) + math.log(factor)
        bits = powers / math.log(2)  # below k, and k below 2^31: its error is far below 10^-4
        if abs(bits - round(bits)) > _CLOSE:
            return math.floor(bits) + 1
    return exact(binomial(k, w)).bit_length()
