"""What searches for designs compute with: number theory, and errors relative to the optimum (`bound` is e^epsilon)."""

from __future__ import annotations

import math
from functools import lru_cache

_NEARBY = 48  # most primes tried above k


def optimum(bound: float) -> float:
    """n Var that no mechanism beats for many values: 4E/(E - 1)^2."""
    return 4 * bound / (bound - 1) ** 2


def balanced_channel(bound: float, set_size: int, modulus: int) -> tuple[float, float]:
    """p and q of a balanced design: sets of `set_size` of `modulus` elements."""
    total = set_size * bound + modulus - set_size
    overlap = set_size * (set_size - 1) / (modulus - 1)
    return set_size * bound / total, (overlap * bound + set_size - overlap) / total


def balanced_loss(bound: float, set_size: int, modulus: int) -> float:
    """Variance at f = 0, over the optimum, of a balanced design."""
    p, q = balanced_channel(bound, set_size, modulus)
    return q * (1 - q) / (p - q) ** 2 / optimum(bound)


def least_loss(bound: float, k: int) -> float:
    """The loss of the best set size on exactly k values, which no design beats."""
    around = max(1, min(k - 1, int(k / (bound + 1))))
    return min(balanced_loss(bound, w, k) for w in (around, min(around + 1, k - 1)))


def least_variance(bound: float, k: int) -> float:
    """n Var of the best design on exactly k values."""
    return least_loss(bound, k) * optimum(bound)


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
