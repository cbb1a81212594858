"""Moduli as the paper draws them: random primes of a band, kept if well conditioned, the tuple of least error wins.

Section 4.3: for each number l of moduli, draw distinct primes from [k/(20 l), 20 k/l], move them to the next prime
until they determine the histogram, and repeat until their condition number is at most 10; take the tuple of least
error. The paper does not say how many l and draws are tried: here l = 2..15 and 10 draws. It says m_j < k, so the band
ends there.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, sqrt

import numpy as np

from deniable.core.arrays import Integers
from deniable.estimation.operators.residue_noise import SubsetChannel
from deniable.estimation.operators.residues import ResidueSystem, identifies
from deniable.randomness.simulated import generator
from papers.mss.theory import system_condition

FLOOR, NEAREST = "floor", "nearest"  # how w = m/(e + 1) is rounded; the printed brackets mean floor
BETA, MOST_CONDITION = 20.0, 10.0
NUMBERS, DRAWS = range(2, 16), 10
_MOVES = 2000  # moves to the next prime before a draw is given up


def subset_size(m: int, epsilon: float, rounding: str = FLOOR) -> int:
    """w: m/(e + 1) rounded, at least one."""
    ideal = m / (exp(epsilon) + 1)
    return max(1, int(ideal) if rounding == FLOOR else round(ideal))


def primes(low: float, high: float) -> Integers:
    """The primes from low to high."""
    last = int(high)
    sieve = np.ones(max(last + 1, 2), np.bool_)
    sieve[:2] = False
    for number in range(2, int(sqrt(last)) + 1):
        if sieve[number]:
            sieve[number * number :: number] = False
    found = np.flatnonzero(sieve)
    return found[found >= low]


def channel(m: int, epsilon: float, rounding: str = FLOOR) -> SubsetChannel:
    """The channel of subset selection on m residues, without rounding probabilities to 64 bits."""
    w, e = subset_size(m, epsilon, rounding), exp(epsilon)
    p = w * e / (w * e + m - w)
    return SubsetChannel(m, w, p, (m * p - w) / (m - 1), (w - p) / (m - 1))


def system(k: int, moduli: tuple[int, ...], epsilon: float, rounding: str = FLOOR) -> ResidueSystem:
    """The weighted system of equations, with every modulus weighted by one over the variance of its residues."""
    return ResidueSystem(k, moduli, tuple(channel(m, epsilon, rounding).weight for m in moduli))


@lru_cache(maxsize=256)
def drawn_moduli(k: int, epsilon: float, seed: int, rounding: str = FLOOR) -> tuple[int, ...]:
    """The moduli of one run."""
    source = generator(1000 * seed + round(10 * epsilon))
    best: tuple[float, tuple[int, ...]] | None = None
    for number in NUMBERS:
        band = primes(k / (BETA * number), min(BETA * k / number, k - 1))
        for _ in range(DRAWS if len(band) >= number else 0):
            moduli = drawn_tuple(k, band, number, source)
            if moduli is None:
                continue
            equations = system(k, moduli, epsilon, rounding)
            # that of A_w^T A_w is the square of that of A_w; rounding makes it negative if it is practically infinite
            if 0 < system_condition(equations) <= MOST_CONDITION**2:
                best = min(best or (np.inf, ()), (number * equations.mean_inverse(), moduli))
                break
    return fallback(k) if best is None else best[1]


def drawn_tuple(k: int, band: Integers, number: int, source: np.random.Generator) -> tuple[int, ...] | None:
    """Distinct primes of the band, some moved up until they determine the histogram; None if that fails."""
    moduli = sorted(source.choice(band, number, replace=False).tolist())
    for _ in range(_MOVES):
        if identifies(k, tuple(moduli)):
            return tuple(moduli)
        place = int(source.integers(number))
        above = [m for m in band[band > moduli[place]].tolist() if m not in moduli]
        if above:
            moduli[place] = above[0]
            moduli.sort()
    return None


def fallback(k: int) -> tuple[int, ...]:
    """The moduli if no draw is well conditioned: the first two primes above the root of k, moved up until they fit."""
    band = primes(ceil(sqrt(k)), k - 1).tolist()
    first, second = 0, 1
    while not identifies(k, (band[first], band[second])):
        first, second = (second, second + 1) if second + 1 < len(band) else (first + 1, second)
    return band[first], band[second]
