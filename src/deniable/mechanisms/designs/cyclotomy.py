"""Cyclotomic sets: unions of cosets of a subgroup of the numbers modulo a prime, and the search for good ones.

K is prime, N divides K - 1, g is a primitive root, and the classes are C_a = {g^(N i + a)}. The set is the
union of the classes in `chosen`, optionally with 0; cohort j uses it times g^j. Over all N cohorts (half of
them when (K - 1)/N is odd, since then -C_a = C_(a + N/2)) every difference but 0 occurs equally often.

Reference: Wilson 1972 (difference families from cyclotomy).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Integers, Spectrum, Symbols
from deniable.core.caches import FieldsOnly, kept
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, length, size
from deniable.core.validate import whole
from deniable.mechanisms.loss import balanced_loss, least_loss, optimum
from deniable.mechanisms.numbers import divisors, is_prime, primes_from, primitive_root
from deniable.randomness.simulated import generator

MAX_COHORTS = 128
SMALL_TABLE = 2**16  # numbers modulo K that a device may list to make one report
_PARTS = 150  # families whose parts are tried
_TRIALS = 20  # choices of classes per family


def _balanced(modulus: int, classes: int, chosen: int, zero: bool, cohorts: Any) -> bool:
    """`Cyclotomy.balanced`, of members that nobody has checked: the cohorts may be anything in a list."""
    if classes < 1 or not all(type(j) is int for j in cohorts):
        return False
    coset_size = (modulus - 1) // classes
    if chosen * coset_size + zero in (1, modulus - 1):
        return True
    if 2 * len(cohorts) < classes:
        return False  # not even half of the cohorts
    if coset_size % 2 == 1 and classes % 2 == 0:
        half = classes // 2
        return len(cohorts) == half and {j % half for j in cohorts} == set(range(half))
    return set(cohorts) == set(range(classes))


@dataclass(frozen=True)
class Cyclotomy(FieldsOnly):
    """One choice of modulus K, classes N, chosen classes U, zero or not, cohorts J and primitive root g."""

    modulus: int
    classes: int
    chosen: tuple[int, ...]
    zero: bool
    cohorts: tuple[int, ...]
    root: int

    @classmethod
    def cost(cls, members: Mapping[str, object]) -> Cost:
        """What a mechanism with such sets costs, by formula."""
        modulus, classes, cohorts = size(members, "modulus"), size(members, "classes"), length(members, "cohorts")
        chosen, listed = length(members, "chosen"), members.get("cohorts") if cohorts else ()
        # the error of a balanced family has a formula, that of others needs a transform
        known = classes == 1 or _balanced(modulus, classes, chosen, members.get("zero") is True, listed)
        table = classes + (0 if known else modulus)
        return listing(modulus) + Cost(
            cells=modulus * cohorts,
            tables=table,
            cohorts=cohorts,
            building=200 * table + 200 * (chosen + cohorts),
            report=100 * classes,  # the classes in order
            nanoseconds=1000 * table + 1000 * (chosen + cohorts) + classes * cohorts * 20,
        )

    @property
    def coset_size(self) -> int:
        return (self.modulus - 1) // self.classes

    @property
    def set_size(self) -> int:
        return len(self.chosen) * self.coset_size + self.zero

    @property
    def balanced(self) -> bool:
        """Whether there are all cohorts, or one of each pair with opposite sets; or the set has one element."""
        return _balanced(self.modulus, self.classes, len(self.chosen), self.zero, tuple(map(int, self.cohorts)))

    def element(self, place: int) -> np.uint64:
        """The element of Z_K at a place: first the set by class, then the others, 0 at the end of its part.

        By a table, whose time is the same for all, where that is small; else by one power, so that a device that makes
        one report needs no table.
        """
        return np.uint64(self.elements[place] if self.modulus <= SMALL_TABLE else self.power(place))

    def power(self, place: int) -> int:
        """The element at a place, by one modular power."""
        inside = len(self.chosen) * self.coset_size
        listed = place != (inside if self.zero else self.modulus - 1)
        # every place takes the same steps, that of 0 too, since a place tells what a report must not
        turn, step = divmod(place - (self.zero & (place > inside)), self.coset_size)
        return listed * pow(self.root, self.classes * step + (*self.order, 0)[turn], self.modulus)

    @property
    def order(self) -> tuple[int, ...]:
        """The classes, chosen ones first."""
        chosen = set(self.chosen)
        return (*self.chosen, *(a for a in range(self.classes) if a not in chosen))

    @cached_property
    def elements(self) -> Symbols:
        """`element` of every place, from one table of powers."""
        powers = _powers(self.root, self.modulus)
        steps = self.classes * np.arange(self.coset_size)
        listed = np.concatenate([powers[steps + a] for a in self.order])
        at = len(self.chosen) * self.coset_size if self.zero else self.modulus - 1
        return np.insert(listed, at, 0).astype(np.uint32)

    @cached_property
    def multipliers(self) -> tuple[int, ...]:
        """g^j for every cohort j."""
        return tuple(pow(self.root, j, self.modulus) for j in self.cohorts)

    def periods(self) -> Spectrum:
        """The transform of class C_0 at g^a, for every a below N: all its values except at m = 0 (Gauss periods)."""
        indicator = np.zeros(self.modulus)
        indicator[_powers(self.root, self.modulus)[:: self.classes]] = 1.0
        return np.fft.fft(indicator)[_powers(self.root, self.modulus)[: self.classes]]

    def class_power(self, periods: Spectrum) -> Floats:
        """|D^(m)|^2 for m in each class."""
        transform = sum((np.roll(periods, -u) for u in self.chosen), np.full(self.classes, float(self.zero), complex))
        return np.abs(transform) ** 2

    def loss(self, bound: float) -> float:
        """Mean squared error of uniform data over the asymptotic optimum 4E/(n(E - 1)^2)."""
        if self.balanced:
            return balanced_loss(bound, self.set_size, self.modulus)
        power = self.class_power(self.periods())
        return self._loss_of_part(bound, np.sum([np.roll(power, -j) for j in self.cohorts], axis=0))

    def checked(self, k: int) -> Cyclotomy:
        """Return these sets with plain integers, or raise InvalidArgument if they do not fit k."""
        modulus = whole(max(k, 3), 2**31, modulus=self.modulus)
        classes, root = whole(1, modulus - 1, classes=self.classes), whole(1, modulus - 1, root=self.root)
        if not is_prime(modulus) or (modulus - 1) % classes or root != primitive_root(modulus):
            raise InvalidArgument("sets", "have a prime modulus K, classes that divide K - 1 and the least root", self)
        for name, places in (("chosen", self.chosen), ("cohorts", self.cohorts)):
            if not isinstance(places, tuple):
                raise InvalidArgument(name, "be a list", places)
            if list(places) != sorted({whole(0, classes - 1, **{name: place}) for place in places}):
                raise InvalidArgument(name, f"be rising numbers below {classes}", places)
        if not isinstance(self.zero, bool) or not self.cohorts or not 0 < self.set_size < modulus:
            raise InvalidArgument("sets", "leave elements inside and outside the set, and name a cohort", self)
        whole(1, 4 * MAX_COHORTS, cohorts=len(self.cohorts))
        return replace(self, modulus=modulus, classes=classes, root=root)

    def _loss_of_part(self, bound: float, power: Floats) -> float:
        """The loss of some of the cohorts, from the sum of their |D_j^(m)|^2 in each class.

        Formula: MSE = c/(n K^2 (high - low)^2) sum_(m != 0) 1/S_m.
        """
        gain = (bound - 1) / (self.set_size * bound + self.modulus - self.set_size)
        inverse = (self.modulus - 1) * float((1 / power).mean())
        return len(self.cohorts) * inverse / (self.modulus * gain) ** 2 / optimum(bound)


@lru_cache(maxsize=64)
def search(k: int, bound: float, max_bits: int | None) -> Cyclotomy:
    """The best sets for k values within `max_bits`: least loss, with a small price on cohorts and padding.

    All balanced families; with a bound on the bits, also parts of families that have too many cohorts.
    """

    def price(design: Cyclotomy) -> float:
        padding = math.log2(design.modulus / k)
        return design.loss(bound) + 0.002 * math.log2(len(design.cohorts)) + 0.002 * padding

    def fits(design: Cyclotomy) -> bool:
        if max_bits is None:
            return len(design.cohorts) <= MAX_COHORTS
        return bool(len(design.cohorts) * design.modulus <= 2**max_bits)

    candidates = list(_candidates(k, bound))
    fitting = [design for design in candidates if fits(design)]
    if max_bits is not None:
        # families of few classes come first: they have few spectral values to even out
        close = [d for d in candidates if balanced_loss(bound, d.set_size, d.modulus) <= 1.1 * least_loss(bound, k)]
        large = [d for d in close if not fits(d) and d.modulus <= 2**max_bits]
        large = sorted(large, key=lambda d: d.classes)[:_PARTS]
        fitting += [_part(design, 2**max_bits // design.modulus, bound) for design in large]
    if not fitting:
        raise InvalidArgument("max_bits", f"be at least {k.bit_length()} for k={k}", max_bits)
    return min(fitting, key=price)


def _candidates(k: int, bound: float) -> Iterator[Cyclotomy]:
    """Balanced families near k whose share of elements is near the best one, 1/(E + 1)."""
    share = 1 / (bound + 1)
    for modulus in primes_from(k):
        root = primitive_root(modulus)
        yield Cyclotomy(modulus, 1, (), True, (0,), root)  # the set {0}: randomised response
        for classes in divisors(modulus - 1):
            coset = (modulus - 1) // classes
            cohorts = classes // 2 if coset % 2 == 1 and classes % 2 == 0 else classes
            if classes == 1 or cohorts > 4 * MAX_COHORTS:
                continue
            for chosen in {math.floor(classes * share), math.ceil(classes * share)} - {0, classes}:
                for zero in (False, True):
                    yield Cyclotomy(modulus, classes, tuple(range(chosen)), zero, tuple(range(cohorts)), root)


def _part(design: Cyclotomy, room: int, bound: float) -> Cyclotomy:
    """A good choice of classes and of at most `room` cohorts: random classes, then cohorts greedily."""
    periods = design.periods()
    source = generator(0)  # the same search everywhere
    best = design, math.inf
    for _ in range(_TRIALS):
        power = design.class_power(periods)
        shifted = np.array([np.roll(power, -j) for j in design.cohorts])  # [cohort, class of m]
        chosen, total = [0], shifted[0].copy()
        while len(chosen) < room:
            scores = (1 / (total + shifted)).mean(axis=1)
            scores[chosen] = math.inf
            chosen.append(int(np.argmin(scores)))
            total += shifted[chosen[-1]]
        part = replace(design, cohorts=tuple(sorted(design.cohorts[j] for j in chosen)))
        found = part._loss_of_part(bound, total)
        if found < best[1]:
            best = part, found
        if len(design.chosen) == 1:
            break  # all single classes are alike
        others = source.choice(np.arange(1, design.classes), len(design.chosen) - 1, replace=False)
        design = replace(design, chosen=(0, *sorted(others.tolist())))
    return best[0]


@kept(size=lambda powers: powers.nbytes)
def _powers(root: int, modulus: int) -> Integers:
    """g^0, g^1, ..., g^(K - 2)."""
    powers = np.ones(1, np.int64)
    while len(powers) < modulus - 1:  # doubling: g^(i + l) = g^i g^l
        powers = np.concatenate([powers, powers * pow(root, len(powers), modulus) % modulus])
    return powers[: modulus - 1].copy()  # no more than its bytes


def listing(modulus: int) -> Cost:
    """What it costs a device to list the numbers modulo K, if it does."""
    small = modulus if modulus <= SMALL_TABLE else 0
    return Cost(tables=2 * small, report=48 * small, nanoseconds=200 * small)


def class_table(modulus: int, classes: int) -> Symbols:
    """The class a of every number modulo K, and N for 0, which has no class."""
    table = np.full(modulus, classes, np.uint32)
    table[_powers(primitive_root(modulus), modulus)] = np.arange(modulus - 1) % classes
    return table
