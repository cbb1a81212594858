"""Cyclotomic Local Hashing: optimal error with about log2(e^epsilon + 1) bits per report, decoded by FFT.

Local hashing with K hash functions, whose decoding is a convolution: the hash of x under the public number y is
the cyclotomic class of x - y modulo a prime K >= k, and it passes through randomised response over the N classes.

Every exact case is a block-design scheme (Park, Nam, Lee 2023; Gentle 2025 proves that designs are
necessary), and the difference families are Wilson's (1972). We are not aware of an earlier cyclotomic
mechanism for local differential privacy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Symbols, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.estimation.channel import PureChannel
from deniable.estimation.operators.designs import ShiftFamily
from deniable.estimation.operators.hashing import ClassOperator
from deniable.estimation.operators.two_level import SparingTwoLevelOperator, two_level_operator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import CHOSEN, float_bound
from deniable.mechanisms.designs.cyclotomy import SMALL_TABLE, class_table, listing
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS
from deniable.mechanisms.loss import least_loss, optimum
from deniable.mechanisms.numbers import divisors, is_prime, primes_from, primitive_root
from deniable.randomness.bounds import exponential_below

MAX_COST = 0.40  # excess error beyond which the constructor refuses: another mechanism serves better


@dataclass(frozen=True)
class CyclotomicLocalHashing(PublicCoin):
    """Cyclotomic Local Hashing, "clh".

    A payload is y N + a: the public y and the class a that was sent. On the wire y follows from the report's
    id, and only a is sent: see public_coins.py, which also states the guarantee.

    >>> CyclotomicLocalHashing(22_000, epsilon=2.0).report_bits
    3
    """

    name: ClassVar[str] = "clh"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "mle"

    modulus: int = CHOSEN  # K
    classes: int = CHOSEN  # N

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        del domain
        modulus, classes = size(parameters, "modulus"), size(parameters, "classes")
        given = Cost(cells=modulus * classes, tables=classes, report=200 * classes, nanoseconds=2000 * classes)
        return given + listing(modulus)

    def _settled(self) -> Mapping[str, Any]:
        k = self.k
        modulus, classes = self.modulus, self.classes
        if modulus is None and classes is None:
            modulus, classes = best_classes(k, self.epsilon)
        modulus, classes = whole(max(k, 3), 2**31, modulus=modulus), whole(2, 2**31, classes=classes)
        if not is_prime(modulus):
            raise InvalidArgument("modulus", "be prime", modulus)
        if (modulus - 1) % classes or modulus * classes > MAX_SYMBOLS:
            raise InvalidArgument("classes", f"divide {modulus - 1} and be at most {MAX_SYMBOLS // modulus}", classes)
        return {**super()._settled(), "modulus": modulus, "classes": classes}

    def _parameters(self) -> dict[str, Any]:
        return {"modulus": self.modulus, "classes": self.classes, "salt": self.salt}

    @cached_property
    def channel(self) -> PureChannel:
        high, low = (self.modulus * level for level in (self.two_level.high, self.two_level.low))
        w = (self.modulus - 1) // self.classes
        # x is supported unless y = x; x' and x together for the w - 1 y with (x - y)/(x' - y) in C_0 \ {1};
        # if y = x, x' is supported by 1 of N classes
        p = (self.modulus - 1) * high / self.modulus
        q = ((w - 1) * high + (self.modulus - 1 - w) * low + Fraction(1, self.classes)) / self.modulus
        return PureChannel(p, q)

    @property
    def loss(self) -> float:
        """Mean squared error over the asymptotic optimum 4e/(n(e - 1)^2)."""
        return loss(float(exponential_below(self.epsilon)), self.modulus, self.classes)

    @property
    def publics(self) -> int:
        return self.modulus

    def class_of(self, difference: int) -> int:
        """The class of a number modulo K, by one modular power; N for 0, which has none."""
        return self._class_of_power[pow(difference, (self.modulus - 1) // self.classes, self.modulus)]

    @cached_property
    def _class_of_power(self) -> dict[int, int]:
        # (g^(N i + a))^((K - 1)/N) = (g^((K - 1)/N))^a
        unit = pow(primitive_root(self.modulus), (self.modulus - 1) // self.classes, self.modulus)
        return {0: self.classes, **{pow(unit, a, self.modulus): a for a in range(self.classes)}}

    @cached_property
    def _table(self) -> Symbols:
        return class_table(self.modulus, self.classes)

    @cached_property
    def _twice(self) -> Symbols:
        """The table of all numbers below 2K, so that a difference plus K has its place."""
        return np.tile(self._table, 2)

    def _class_under(self, index: int, public: int) -> int:
        if self.modulus <= SMALL_TABLE:  # its time is the same for all
            return int(self._twice[self.modulus + index - public])
        return self.class_of((index - public) % self.modulus)

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        public, sent = np.divmod(data.astype(np.int64), self.classes)
        differences = indices - public[:, np.newaxis]
        return np.asarray(self._table[differences % self.modulus] == sent[:, np.newaxis])

    def guesses(self, data: Payloads, indices: Indices) -> Indices:
        # a report whose y is one of the values comes from that value by a uniform class, so that it tells less
        guessed = super().guesses(data, indices)
        return np.where(np.isin(self.public_part(data), indices), -1, guessed)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, int | np.integer)
        own = int(payload) // self.classes == index  # then a uniform class is sent
        return Fraction(1, self.symbols) if own else super()._probability(payload, index)

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.hashing import classify

        t = self.thresholds
        bounds = np.array([self.classes, self.modulus], np.uint64)
        rejections = np.array([t["rejection_class"], t["rejection_public"]], np.uint64)
        return randomized(classify, indices, words, np.uint64(t["truth"]), bounds, rejections, self._table, out=out)

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over (y, a) of the largest Pr[y, a | x]; for a given a the differences x - y are a window of
        # k numbers. Where it meets no element of C_a, the best guess is x = y if it contains 0, else any value.
        bare = own = 0
        modulus, k = self.modulus, self.k
        order = np.argsort(self._table[1:], kind="stable").reshape(self.classes, -1) + 1  # elements of C_a, rising
        for places in order:
            gaps = np.diff(places, append=places[0] + modulus)
            bare += int(np.maximum(gaps - k, 0).sum())
            # windows inside the gap around 0 start after its left end and contain 0 = K
            first, last = max(int(places[-1]) + 1, modulus - k + 1), min(modulus, int(places[0]) + modulus - k)
            own += max(0, last - first + 1)
        return (self.two_level.best_guesses(self.symbols - own, bare - own) + Fraction(own, self.symbols)) / k

    @cached_property
    def family(self) -> ShiftFamily:
        """y - x lies in -C_a = -g^a C_0 for the reports (y, a) that support x."""
        base = np.flatnonzero(self._table == 0)
        root = primitive_root(self.modulus)
        opposite = tuple(-pow(root, a, self.modulus) for a in range(self.classes))
        return ShiftFamily(self.modulus, base, opposite, self.k)

    def support_counts(self, summary: Summary) -> Counts:
        by_class = np.ascontiguousarray(summary.counts.reshape(self.modulus, self.classes).T)
        return self.family.support(by_class.reshape(-1))

    def scores(self, weights: Floats) -> Floats:
        supported = self.family.scatter(weights).reshape(self.classes, self.modulus).T.reshape(-1)
        return np.asarray((supported - float(self.channel.q) * weights.sum()) / float(self.channel.gain))

    def operator(self) -> ClassOperator:
        shifts = two_level_operator(self.family, self.two_level.high, self.two_level.low)
        assert isinstance(shifts, SparingTwoLevelOperator)
        return ClassOperator(shifts, 1 / self.symbols)


def class_channel(bound: float, modulus: int, classes: int) -> tuple[float, float]:
    """p and q for randomised response with ratio E over the classes."""
    w, total = (modulus - 1) / classes, bound + classes - 1
    p = (modulus - 1) * bound / (modulus * total)
    return p, ((w - 1) * bound + modulus - 1 - w) / (modulus * total) + 1 / (classes * modulus)


def loss(bound: float, modulus: int, classes: int) -> float:
    """Variance at f = 0 over the asymptotic optimum 4E/(E - 1)^2."""
    p, q = class_channel(bound, modulus, classes)
    return q * (1 - q) / (p - q) ** 2 / optimum(bound)


def most_cells(modulus: int) -> int:
    """Counts beyond which no classes are chosen: max(2^23, sqrt(2^29 K)), 64 classes at K = 2^17 and 5 at 2^24.

    The time and memory of estimates grow with K N. With these, default estimates of 100,000 reports take 3 s at
    K = 2^17, and 10 s and 2 GB at 2^20, by the clock on two cores.
    """
    return max(2**23, math.isqrt(2**29 * modulus))


def _pairs(k: int) -> Iterator[tuple[int, int]]:
    """All K near k with the N that divide K - 1."""
    return ((modulus, n) for modulus in primes_from(k) for n in divisors(modulus - 1) if n > 1)


@lru_cache(maxsize=64)
def search(k: int, bound: float) -> tuple[int, int]:
    """The best K and N for k values: least loss, with a small price on classes and padding."""

    def price(pair: tuple[int, int]) -> float:
        return loss(bound, *pair) + 0.002 * math.log2(pair[1]) + 0.002 * math.log2(pair[0] / k)

    fitting = [(modulus, n) for modulus, n in _pairs(k) if modulus * n <= most_cells(modulus)]
    if not fitting:
        raise InvalidArgument("k", f"leave clh at most {most_cells(k):,} counts", k, "Use csr, pgr or grr.")
    return min(fitting, key=price)


def best_classes(k: int, epsilon: float) -> tuple[int, int]:
    """Return the best modulus and number of classes, or raise InvalidArgument if none serves k and epsilon well."""
    bound = float_bound(epsilon)
    found, worst = search(k, bound), (1 + MAX_COST) * least_loss(bound, k)
    if loss(bound, *found) <= worst:
        return found
    rule = f"suit clh, whose error at epsilon={epsilon:g} is over {MAX_COST:.0%} above the best design's"
    hint = "Use csr or grr."
    if any(loss(bound, *pair) <= worst for pair in _pairs(k)):
        rule += f" with at most {most_cells(k):,} counts, more of which make estimates slow"
        hint = "Use csr, pgr or grr, or give modulus and classes."
    raise InvalidArgument("k", rule, k, hint)
