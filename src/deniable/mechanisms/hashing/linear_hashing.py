"""Parts shared by local hashing: linear hash functions with exact collisions, decoded by one Fourier transform.

g is a prime, and the index x of a value is written as a vector of d digits modulo g, d = ceil(log_g k). A public seed,
a vector a of d digits, hashes it to the inner product <a, x> modulo g, which passes through randomised response over
the g classes. Two values x and x' have the same hash if a is orthogonal to x - x', which equally many seeds are for
every pair: nearly 1/g, the share of an ideal random hash function. The vector 0 is no seed: it hashes all values alike,
so that a report under it would support every value, or none.

Reference: Wang, Blocki, Li, Jha 2017, section 4.4; Carter and Wegman 1979 (universal hash functions).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Bytes, Counts, Indices, Integers, Payloads, Words
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.core.summary import Summary
from deniable.estimation.channel import PureChannel
from deniable.estimation.operators.hashing import LinearHashes
from deniable.estimation.operators.two_level import TwoLevelOperator, two_level_operator
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.definition import float_bound
from deniable.mechanisms.hashing.primes import (
    best_base,
    digits_of,
    division,
    hash_channel,
    ideal_variance,
    other_than,
    parts_of,
    products_of,
    seed_count,
)
from deniable.mechanisms.hashing.public_coins import PublicCoin
from deniable.mechanisms.loss import least_variance, optimum
from deniable.randomness.bounds import exponential_below

MAX_COST = 1.0  # excess error over the best design beyond which no g is chosen: over twice the error


@dataclass(frozen=True)
class LinearHashing(PublicCoin):
    """Base of local hashing, whatever the seeds: a payload is (place of the seed) g + class."""

    lines: ClassVar[bool] = False  # whether seeds are one vector of each line through 0, or all vectors but 0

    @classmethod
    def cost(cls, domain: Domain, parameters: Mapping[str, Any]) -> Cost:
        base = max(2, size(parameters, "g"))
        return Cost(cells=seed_count(base, digits_of(domain.k, base), cls.lines) * base)

    @property
    @abstractmethod
    def g(self) -> int:
        """Number of classes of a hash: a prime."""

    @property
    def classes(self) -> int:
        return self.g

    @property
    def digits(self) -> int:
        """d: the number of digits of an index in base g."""
        return digits_of(self.k, self.g)

    @property
    def publics(self) -> int:
        return seed_count(self.g, self.digits, self.lines)

    @cached_property
    def channel(self) -> PureChannel:
        return hash_channel(self.publics * self.two_level.high, self.g, self.digits)

    @property
    def loss(self) -> float:
        """Mean squared error over the asymptotic optimum 4e/(n(e - 1)^2)."""
        return self.variance(0.0) / optimum(float(exponential_below(self.epsilon)))

    @property
    def _firsts(self) -> list[int]:
        """For every j, the place of the seed g^j; from there on seeds and places rise together, up to the next one."""
        return [seed_count(self.g, j, lines=True) for j in range(self.digits)] if self.lines else [0]

    def seed(self, public: int) -> int:
        """The seed at this place, as a number in base g."""
        first, power = [(first, int(self.g**j)) for j, first in enumerate(self._firsts) if first <= public][-1]
        return public - first + power

    def _class_under(self, index: int, public: int) -> int:
        # in integers of 64 bits, none of which is 0: time would tell zeros from others
        numbers = (self.g**self.digits + number for number in (index, self.seed(public)))
        digits, factors = (number // self._powers % self.g for number in numbers)
        return int(digits @ factors % self.g)

    @cached_property
    def _powers(self) -> Integers:
        return np.array([self.g**j for j in range(self.digits)], np.int64)

    @property
    def _parts(self) -> tuple[int, int, int, int]:
        """The parts into which the kernel cuts values and seeds: their number, their size, and how to divide by it."""
        together = parts_of(self.g)
        size = int(self.g**together)
        return -(-self.digits // together), size, *division(size)

    @cached_property
    def _products(self) -> Bytes:
        return products_of(self.g)

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.hashing import hash_or_replace

        t = self.thresholds
        rejections = t["rejection_class"], t["rejection_public"]
        bounds, rejected, firsts, parts = (
            np.array(numbers, np.uint64) for numbers in ((self.g, self.publics), rejections, self._firsts, self._parts)
        )
        numbers = np.uint64(t["truth"]), bounds, rejected, firsts, parts, self._products
        return randomized(hash_or_replace, indices, words, *numbers, out=out)

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over (a, y) of the largest Pr[a, y | x]: high if some value has the hash y. A seed with a
        # nonzero lower digit reaches all g classes, since all lower digits occur; one with only the last digit
        # reaches one class per value of that digit
        g, d = self.g, self.digits
        last = -(-self.k // int(g ** (d - 1)))
        alone = 1 if self.lines else g - 1
        reached = (self.publics - alone) * g + alone * last
        return self.two_level.best_guesses(self.symbols, self.symbols - reached) / self.k

    @cached_property
    def incidence(self) -> LinearHashes:
        """The hash functions, for the server's transforms."""
        return LinearHashes(self.g, self.digits, self.k, self.lines)

    def support_counts(self, summary: Summary) -> Counts:
        return self.incidence.support(summary.counts)

    def operator(self) -> TwoLevelOperator:
        return two_level_operator(self.incidence, self.two_level.high, self.two_level.low)


def best_or_refused(name: str, k: int, epsilon: float, lines: bool) -> int:
    """Return the g with the least error, or raise InvalidArgument if none serves k and epsilon well."""
    bound, exact = float_bound(epsilon), exponential_below(epsilon)
    found = best_base(k, exact, lines)
    if found is None:
        raise InvalidArgument("k", f"be smaller for {name} at epsilon={epsilon:g}", k, f"Use {other_than(lines)}.")
    if ideal_variance(exact, k, found) > (1 + MAX_COST) * least_variance(bound, k):
        rule = f"suit {name}, whose error at epsilon={epsilon:g} is over {MAX_COST:.0%} above the best design's"
        raise InvalidArgument("k", rule, k, "Use grr or ss, or give g.")
    return found
