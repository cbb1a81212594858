"""Singer difference sets: the hyperplanes of a projective geometry as the shifts of one set modulo K.

The points of PG(t-1, q), numbered by the powers of a primitive element of the field of q^t elements, are
the integers modulo K = (q^t - 1)/(q - 1); in that numbering a hyperplane is a set D and the others are
D + x. For q = p^m a point lies in D when m terms of one p-ary linear recurrence of order m t vanish:
D = {i < K : b_i = b_(i+K) = ... = b_(i+(m-1)K) = 0}.

The recurrence belongs to the first primitive polynomial, so q and t determine D. Polynomials
x^d + c_(d-1) x^(d-1) + ... + c_0 are ordered by the number with the base-p digits c_(d-1) ... c_0.

Reference: Singer 1938, "A theorem in finite projective geometry and some applications to number theory".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count

import numpy as np

from deniable.core.arrays import Floats, Mask, Symbols
from deniable.core.caches import FieldsOnly, kept
from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost, size
from deniable.mechanisms.numbers import factored

Polynomial = tuple[int, ...]  # c_0, ..., c_(d-1); the leading coefficient is 1


def points(q: int, t: int) -> int:
    """(q^t - 1)/(q - 1): the number of points, and of hyperplanes, of PG(t-1, q)."""
    number: int = (q**t - 1) // (q - 1)
    return number


def cost(parameters: Mapping[str, object], blocks: int = 1) -> Cost:
    """What `blocks` copies of the geometry of these parameters, q and t, cost, by formula."""
    q, t = size(parameters, "q"), size(parameters, "t")
    if q.bit_length() > 32 or not 2 <= t <= 31:
        return Cost()  # refused by the constructor
    number = points(max(q, 2), t)
    # the table of all points: terms of the recurrence for each of up to log2 q digits, in float64, then the order
    return Cost(
        cells=number * blocks, tables=number, report=48 * number, nanoseconds=number * (60 + 30 * q.bit_length())
    )


@lru_cache(maxsize=64)
def primitive_polynomial(p: int, degree: int) -> Polynomial:
    """The first polynomial of this degree modulo the prime p under which x has order p^degree - 1."""
    order = p**degree - 1
    parts, scalar_parts = list(factored(order)), list(factored(p - 1))
    for number in count(1 if degree == 1 else p):  # x^d + c_0 alone has an order of at most d (p - 1)
        c = tuple(number // p**place % p for place in range(degree))
        # the norm of x, (-1)^d c_0, must have order p - 1: a cheap test that most candidates fail
        norm = (-1) ** degree * c[0] % p
        if norm and all(pow(norm, (p - 1) // part, p) != 1 for part in scalar_parts) and _is_primitive(c, p, parts):
            return c
    raise AssertionError("every field has a primitive element")


def _is_primitive(c: Polynomial, p: int, parts: list[int]) -> bool:
    # an x of order p^d - 1 has all nonzero residues as its powers, so that they form a field
    one = (1, *(0,) * (len(c) - 1))
    order = p ** len(c) - 1
    return _power_of_x(order, c, p) == one and all(_power_of_x(order // part, c, p) != one for part in parts)


def _power_of_x(exponent: int, c: Polynomial, p: int) -> Polynomial:
    """x^exponent modulo x^d + c(x), by squaring."""
    degree = len(c)
    power = [1] + [0] * (degree - 1)
    for digit in bin(exponent)[2:]:
        product = [0] * (2 * degree - 1)
        for i, a in enumerate(power):
            if a:
                for j, b in enumerate(power):
                    product[i + j] += a * b
        if digit == "1":
            product.insert(0, 0)
        for top in range(len(product) - 1, degree - 1, -1):  # x^d = -c(x)
            factor = product[top] % p
            if factor:
                for j, b in enumerate(c, top - degree):
                    product[j] -= factor * b
        power = [a % p for a in product[:degree]]
    return tuple(power)


def prime_power(q: int) -> tuple[int, int] | None:
    """(p, m) where q = p^m and p is prime; None if q is no prime power."""
    factors = list(factored(q).items())
    return factors[0] if len(factors) == 1 else None


def polynomial(q: int, t: int) -> Polynomial:
    """The primitive polynomial that numbers PG(t-1, q); empty for a line, which needs none."""
    if t == 2:
        return ()
    p, m = _base(q)
    return primitive_polynomial(p, m * t)


def checked_polynomial(q: int, t: int, given: object) -> Polynomial:
    """Return the polynomial of PG(t-1, q), or raise InvalidArgument if a different one was given."""
    first = polynomial(q, t)
    if given is not None and given not in (first, list(first)):
        raise InvalidArgument("polynomial", f"be the first primitive one, {list(first)}", given)
    return first


@kept(size=lambda listed: listed.nbytes)
def elements(q: int, t: int) -> Symbols:
    """The integers modulo K, the difference set first, each part in rising order."""
    modulus = points(q, t)
    if t == 2:
        listed = np.arange(modulus, dtype=np.uint32)  # a hyperplane of a line is one point: D = {0}
    else:
        inside = _vanishing(q, t)
        listed = np.concatenate([np.flatnonzero(inside), np.flatnonzero(~inside)]).astype(np.uint32)
    listed.setflags(write=False)
    return listed


def _vanishing(q: int, t: int) -> Mask:
    """For each i < K, whether b_i = b_(i+K) = ... = b_(i+(m-1)K) = 0.

    b_i is the last coefficient of x^i. With the matrix C of multiplication by x, b_(i+e) = (u C^i)(C^e v), where
    u is the row of the polynomial 1 and v picks the last coefficient; so with i below about sqrt(K) and e the
    multiples of sqrt(K), all terms are one product of two small matrices.
    """
    (p, m), modulus, low = _base(q), points(q, t), polynomial(q, t)
    degree = len(low)
    assert degree * p * p < 2**53, "sums of products must be exact in float64"
    companion = np.eye(degree, k=1)
    companion[-1] = [-c % p for c in low]
    stride = math.isqrt(modulus) + 1
    starts = _orbit(np.eye(degree)[0], companion, stride, p)
    leap = _matrix_power(companion, stride, p).T
    inside = np.ones(modulus, np.bool_)
    for block in range(m):
        last = _matrix_power(companion, block * modulus, p)[:, -1]
        terms = _orbit(last, leap, -(-modulus // stride), p) @ starts.T
        inside &= np.fmod(terms, p).reshape(-1)[:modulus] == 0
    return inside


def _orbit(row: Floats, matrix: Floats, length: int, p: int) -> Floats:
    """row, row matrix, row matrix^2, ... modulo p, by doubling."""
    rows = row[np.newaxis]
    while len(rows) < length:
        rows = np.concatenate([rows, np.fmod(rows @ matrix, p)])
        matrix = np.fmod(matrix @ matrix, p)
    return rows[:length]


def _matrix_power(matrix: Floats, exponent: int, p: int) -> Floats:
    """matrix^exponent modulo p."""
    result = np.eye(len(matrix))
    while exponent:
        if exponent & 1:
            result = np.fmod(result @ matrix, p)
        matrix, exponent = np.fmod(matrix @ matrix, p), exponent >> 1
    return result


def _base(q: int) -> tuple[int, int]:
    found = prime_power(q)
    assert found is not None, "q must be a prime power"
    return found


@dataclass(frozen=True)
class SingerSets(FieldsOnly):
    """The difference set of PG(t-1, q) and its shifts modulo K: a balanced design with one cohort."""

    q: int
    t: int

    @property
    def modulus(self) -> int:
        return points(self.q, self.t)

    @property
    def set_size(self) -> int:
        return points(self.q, self.t - 1)

    @property
    def multipliers(self) -> tuple[int, ...]:
        return (1,)

    @property
    def balanced(self) -> bool:
        return True

    @cached_property
    def elements(self) -> Symbols:
        return elements(self.q, self.t)  # held here too, for tables too large to be kept between mechanisms

    def element(self, place: int) -> np.uint64:
        return np.uint64(self.elements[place])
