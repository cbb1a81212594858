"""The best modulus and number of classes for cyclotomic local hashing, and their loss."""

from __future__ import annotations

import math
from functools import lru_cache

from deniable.core.errors import InvalidArgument
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS
from deniable.mechanisms.loss import optimum
from deniable.mechanisms.numbers import divisors, primes_from


def class_channel(bound: float, modulus: int, classes: int) -> tuple[float, float]:
    """p and q for randomised response with ratio E over the classes."""
    w, total = (modulus - 1) / classes, bound + classes - 1
    p = (modulus - 1) * bound / (modulus * total)
    return p, ((w - 1) * bound + modulus - 1 - w) / (modulus * total) + 1 / (classes * modulus)


def loss(bound: float, modulus: int, classes: int) -> float:
    """Variance at f = 0 over the asymptotic optimum 4E/(E - 1)^2."""
    p, q = class_channel(bound, modulus, classes)
    return q * (1 - q) / (p - q) ** 2 / optimum(bound)


@lru_cache(maxsize=64)
def search(k: int, bound: float) -> tuple[int, int]:
    """The best K and N for k values: least loss, with a small price on classes and padding."""

    def price(pair: tuple[int, int]) -> float:
        return loss(bound, *pair) + 0.002 * math.log2(pair[1]) + 0.002 * math.log2(pair[0] / k)

    pairs = [(modulus, n) for modulus in primes_from(k) for n in divisors(modulus - 1) if n > 1]
    fitting = [pair for pair in pairs if pair[0] * pair[1] <= MAX_SYMBOLS]
    if not fitting:
        raise InvalidArgument("k", f"leave clh at most {MAX_SYMBOLS} different reports", k)
    return min(fitting, key=price)
