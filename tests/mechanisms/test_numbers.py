"""Number theory by integers agrees with FLINT and with plain definitions."""

from __future__ import annotations

import math

import flint
import numpy as np
import pytest

from deniable.mechanisms import numbers
from deniable.mechanisms.designs.singer import primitive_polynomial


def _sample(rng: np.random.Generator, most: int) -> list[int]:
    hard = [561, 3215031751, 2**31 - 1, 2**61 - 1, (2**31 - 1) ** 2, 65537 * 65539, 2**24 - 3, 10**12 + 39]
    return [*range(1, 2000), *(number for number in hard if number < most), *rng.integers(1, most, 300).tolist()]


def test_primes_factors_and_units(rng: np.random.Generator) -> None:
    for number in _sample(rng, 2**62):
        assert numbers.is_prime(number) == bool(flint.fmpz(number).is_prime())
    for number in _sample(rng, 2**50):
        exact = {int(prime): int(power) for prime, power in flint.fmpz(number).factor()}
        assert numbers.factored(number) == exact
        assert numbers.units(number) == int(flint.fmpz(number).euler_phi())


def test_primality_is_not_claimed_beyond_the_proof() -> None:
    assert numbers.is_prime(numbers._PROVEN - 1) is False
    with pytest.raises(AssertionError):
        numbers.is_prime(numbers._PROVEN)


def test_binomials(rng: np.random.Generator) -> None:
    for k in (1, 2, 1001, 1500, 5000):
        for w in {0, 1, k // 3, k // 2, k, int(rng.integers(0, k + 1))}:
            assert numbers.binomial(k, w) == math.comb(k, w)
    for k, w in ((22_000, 2622), (2**20, 2**19), (2**18, 30_000)):
        assert numbers.binomial(k, w) == int(flint.fmpz.bin_uiui(k, w))


@pytest.mark.parametrize(("p", "degree"), [(2, 1), (2, 12), (2, 21), (3, 4), (5, 6), (13, 3), (257, 2), (1009, 3)])
def test_primitive_polynomials(p: int, degree: int) -> None:
    c = primitive_polynomial(p, degree)
    modulus, one = flint.nmod_poly([*c, 1], p), flint.nmod_poly([1], p)
    x, order = flint.nmod_poly([0, 1], p) % modulus, p**degree - 1
    assert pow(x, order, modulus) == one
    assert all(pow(x, order // part, modulus) != one for part in numbers.factored(order))
