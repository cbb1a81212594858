"""The choice of a projective geometry for a domain: the field's size q and the dimension t.

Any q gives the exact guarantee; q decides the error and, with t, the number of points K = (q^t - 1)/(q - 1). The
error is least near q = e^epsilon + 1, the bits and the server's time near K = k.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.mechanisms.designs.singer import points, prime_power
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS
from deniable.mechanisms.loss import balanced_loss
from deniable.mechanisms.numbers import is_prime

PRICE_OF_DOUBLING = 0.02  # loss that twice as many points must save
MAX_SPREAD = 16  # most points per value, unless a geometry is given
HYBRID_Q = 5  # as in the authors' code


def loss(bound: float, q: int, t: int) -> float:
    """Variance at f = 0 over the asymptotic optimum 4E/(E - 1)^2."""
    return balanced_loss(bound, points(q, t - 1), points(q, t))


@lru_cache(maxsize=256)
def weighed(k: int, bound: float) -> tuple[int, int]:
    """(q, t) with the least loss + 0.02 log2(K/k) among prime powers q with K <= 16 k."""

    def price(geometry: tuple[int, int]) -> float:
        return loss(bound, *geometry) + PRICE_OF_DOUBLING * math.log2(points(*geometry) / k)

    return min(_candidates(k, bound), key=price)


def _candidates(k: int, bound: float) -> Iterator[tuple[int, int]]:
    """For every t, the prime powers from the first with enough points to the first above E + 1.

    Beyond that both the loss and K only grow. On a line (t = 2) the loss grows with K from the start.
    """
    for t in range(2, max(3, k.bit_length() + 1) + 1):
        q = _first_prime_power(_least_base(k, t))
        while t == 2 or points(q, t) <= min(MAX_SPREAD * k, MAX_SYMBOLS):
            yield q, t
            if t == 2 or q >= bound + 1:
                break
            q = _first_prime_power(q + 1)


def published(k: int, bound: float) -> tuple[int, int]:
    """The authors' choice: the smallest prime q >= E + 1 and the smallest t with K >= k."""
    q = math.ceil(bound + 1)
    if q + 1 > MAX_SYMBOLS:
        raise InvalidArgument("rule", "be 'weighed' here", "published", f"A field of {q:.3g} elements is too large.")
    while not is_prime(q):
        q += 1
    t = next(t for t in range(2, 64) if points(q, t) >= k)
    if points(q, t) > MAX_SYMBOLS:
        raise InvalidArgument("rule", "be 'weighed' here", "published", f"q = {q} needs {points(q, t)} points.")
    return q, t


def hybrid(q: Any, t: Any, h: Any, k: int, bound: float) -> tuple[int, int, int]:
    """Field q, dimension t and number h of blocks of small geometries: as given, the others by rule."""
    q = whole(2, MAX_SYMBOLS, q=HYBRID_Q if q is None else q)
    if prime_power(q) is None:
        raise InvalidArgument("q", "be a prime power", q)
    if t is not None:
        t = whole(2, 31, t=t)
    if h is None:
        # h q near E + 1; in blocks of q + 1 points a report supports one value, and k/(q + 1) blocks suffice
        h = max(2, min(math.ceil((bound + 1) / q), -(-k // (q + 1))))
        h = h if t is None else max(h, -(-k // points(q, t)))
    h = whole(1, MAX_SYMBOLS, h=h)
    if t is None:
        t = next(t for t in range(2, 64) if points(q, t) * h >= k)
    if not k <= points(q, t) * h <= MAX_SYMBOLS:
        raise InvalidArgument("q, t, h", f"give from {k} to 2^31 reports, h (q^t - 1)/(q - 1)", (q, t, h))
    return q, t, h


def _least_base(k: int, t: int) -> int:
    """The least q >= 2 with K >= k."""
    q = max(2, int(k ** (1 / (t - 1))) - 1)
    while q > 2 and points(q - 1, t) >= k:
        q -= 1
    while points(q, t) < k:
        q += 1
    return q


def _first_prime_power(number: int) -> int:
    while prime_power(number) is None:
        number += 1
    return number
