"""Sets for domains that must not be padded: a pseudo-random set modulo k itself, and its multiples.

The base set D is a subset of Z_k drawn by a stated generator from a small seed; cohort j uses it times a unit
m_j of Z_k, drawn likewise. Such families are not balanced: with c cohorts the error is about c/(c - 1) times
the best, since the sum of c random spectra is not flat. A few seeds are tried, and the flattest is taken;
a spectrum with a zero, which could not be inverted, is never taken.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from deniable.core.arrays import Symbols
from deniable.core.caches import FieldsOnly
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.core.validate import whole
from deniable.estimation.operators.designs import ShiftFamily
from deniable.mechanisms.loss import optimum
from deniable.mechanisms.numbers import units
from deniable.randomness.choices import Choices, scaled
from deniable.randomness.keystream import Keystream

COHORTS, MAX_COHORTS = 32, 256
_SEEDS = 8


@dataclass(frozen=True)
class RandomSets(FieldsOnly):
    """A modulus, the size w of the sets, the number of cohorts, and the seed that determines the sets."""

    modulus: int
    size: int
    count: int
    seed: int

    @classmethod
    def cost(cls, members: Mapping[str, object]) -> Cost:
        """What a mechanism with such sets costs, by formula."""
        modulus, elements, count = size(members, "modulus"), size(members, "size"), size(members, "count")
        return Cost(
            cells=modulus * count,
            tables=modulus * count,
            cohorts=count,
            building=32 * modulus * count + 64 * modulus + 400 * elements,  # spectra, the table, the draws
            nanoseconds=200 * modulus * count + 100 * modulus + 8000 * elements,
        )

    @property
    def set_size(self) -> int:
        return self.size

    @property
    def balanced(self) -> bool:
        return self.size in (1, self.modulus - 1)

    @cached_property
    def elements(self) -> Symbols:
        """All elements of Z_k, the set first, both parts in rising order."""
        # words of the seeded keystream: stream 0 for the set, stream 1 for the units
        keystream = Keystream.seeded(self.seed)
        words = keystream.stream(0).words(self.size)
        inside = Choices(words, keystream.overflow(1)).subset(self.modulus, self.size)
        outside = np.ones(self.modulus, np.bool_)
        outside[list(inside)] = False
        return np.concatenate([inside, np.flatnonzero(outside)]).astype(np.uint32)

    def element(self, place: int) -> np.uint64:
        """The element at this place of `elements`."""
        return np.uint64(self.elements[place])

    @cached_property
    def multipliers(self) -> tuple[int, ...]:
        """Distinct units of Z_k, 1 first."""
        words = Keystream.seeded(self.seed).overflow(0)
        units = {1: None}
        while len(units) < self.count:
            drawn, _ = scaled(next(words), self.modulus)
            if math.gcd(drawn, self.modulus) == 1:
                units[drawn] = None
        return tuple(units)

    def loss(self, bound: float) -> float:
        """Mean squared error of uniform data over the asymptotic optimum 4E/(n(E - 1)^2).

        Formula: MSE = c/(n K^2 (high - low)^2) sum_(m != 0) 1/S_m, S_m the sum over cohorts of |D_j^(m)|^2.
        """
        family = ShiftFamily(self.modulus, self.elements[: self.size].astype(np.int64), self.multipliers)
        weights = np.full(len(family.power) - 1, 2.0)  # the transform is symmetric: half of it is kept
        weights[-1] = 1.0 if self.modulus % 2 == 0 else 2.0
        if family.power[1:].min() < 1e-9:
            return math.inf
        gain = (bound - 1) / (self.size * bound + self.modulus - self.size)
        inverse = float(weights @ (1 / family.power[1:]))
        return self.count * inverse / (self.modulus * gain) ** 2 / optimum(bound)

    def checked(self, k: int) -> RandomSets:
        """Return these sets, or raise InvalidArgument if they do not fit k."""
        whole(k, k, modulus=self.modulus)
        whole(1, k - 1, size=self.size)
        whole(1, min(units(k), MAX_COHORTS), count=self.count)
        whole(0, 2**32, seed=self.seed)
        return self


@lru_cache(maxsize=64)
def search_unpadded(k: int, bound: float, max_bits: int | None) -> RandomSets:
    """The flattest of a few pseudo-random families modulo k."""
    room = COHORTS if max_bits is None else 2**max_bits // k
    if room < 1:
        raise InvalidArgument("max_bits", f"be at least {(k - 1).bit_length()} for k={k}", max_bits)
    around = round(k / (bound + 1))
    sizes = {max(1, min(k - 1, size)) for size in (around - 1, around, around + 1)}  # spectra of some sizes have zeros
    tried = [
        RandomSets(k, size, min(room, units(k), MAX_COHORTS), seed) for size in sorted(sizes) for seed in range(_SEEDS)
    ]
    best = min(tried, key=lambda sets: sets.loss(bound))
    if math.isinf(best.loss(bound)):
        raise InvalidArgument("padding", f"be allowed for k={k}", False, "No set tried has a spectrum without zeros.")
    return replace(best)  # without its table
