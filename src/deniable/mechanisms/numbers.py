"""Number theory that several families use: primes, divisors, primitive roots, units."""

from __future__ import annotations

import math
from functools import lru_cache

_NEARBY = 48  # most primes tried above k


def is_prime(number: int) -> bool:
    """Whether a number is prime, by proof."""
    import flint

    return bool(flint.fmpz(number).is_prime())


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
    import flint

    factors = [int(prime) for prime, _ in flint.fmpz(modulus - 1).factor()]
    return next(g for g in range(1, modulus) if all(pow(g, (modulus - 1) // prime, modulus) != 1 for prime in factors))


def units(modulus: int) -> int:
    """Euler's phi: the number of residues that have no factor in common with the modulus."""
    import flint

    return int(flint.fmpz(modulus).euler_phi())
