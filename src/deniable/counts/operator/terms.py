"""The operator applied count by count: unbiased value, variance and naive value of each, then their sums.

Every answer that is a sum over single counts is built on this layer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.counts.operator.function import Function
from deniable.counts.whole import EXACT, fits_floats

if TYPE_CHECKING:
    from deniable.counts.noise import DiscreteLaplace


_CHUNK = 2**15  # counts at a time: they stay in the processor's cache


class Terms(NamedTuple):
    """At every count: the unbiased answer, an unbiased estimate of its variance, and f itself."""

    value: Floats
    variance: Floats
    naive: Floats


@dataclass(frozen=True)
class Reduced:
    """The terms, or their sum or mean. `size` bounds |f| at the counts and their neighbours, reduced likewise.

    `largest` is the largest possible answer: the sum (mean) if every count had the largest |f| among the noisy counts.
    """

    terms: Terms
    size: float
    largest: float


def terms_at(function: Function, noise: DiscreteLaplace, values: Numbers, into: Terms | None = None) -> Terms:
    """Apply the operator to each of these noisy counts; exact before rounding if the counts are Python integers.

    `into` holds arrays that the value and the variance may be written to, if the counts fit in floats.
    """
    a: Any = float(noise.a)
    if fits_floats(values):
        down, here, up = function.around(values.astype(np.float64))
    else:
        down, here, up = function.around(values.astype(object))
        exact = all(isinstance(value, (int, Fraction)) for part in (here, up, down) for value in part.flat)
        a, into = noise.a if exact else a, None
    with np.errstate(all="ignore"):
        up, down = up - here, down - here
        second = up + down
        # f - a D;  a^2 D^2 + a (f(y+1) - f(y))^2 + a (f(y-1) - f(y))^2, where D is the second difference
        up *= up
        down *= down
        up += down
        up *= a
        second *= a
        value = np.subtract(here, second, out=into.value if into else None)
        second *= second
        second = np.add(second, up, out=into.variance if into else None)
    try:
        terms = Terms(*(np.asarray(part, np.float64) for part in (value, second, here)))
    except (OverflowError, TypeError, ValueError):  # Python numbers that are too large, or no numbers at all
        raise InvalidArgument("f", "have real values that floats can hold", "others") from None
    with np.errstate(all="ignore"):
        total = terms.value.sum()  # not finite if any term is not
    if not np.isfinite(total):
        for step in (0, 1, -1):
            function.at(values + step)  # raises an error that names where f is not finite
    return terms


def reduced(function: Function, noise: DiscreteLaplace, values: Numbers, reduce: str, axis: int | None) -> Reduced:
    """Apply the operator to every count, then take the sum or mean of all, or along an axis, or neither."""
    # |f(y + 1) - f(y)| <= root of (variance/a); a sum of n roots <= root of (n times the sum)
    a = float(noise.a)
    if reduce != "none" and axis is None:
        sums, size, peak = _total(function, noise, values.reshape(-1))
        many = values.size
    else:
        each = _each(function, noise, values)
        if reduce == "none":
            peak = _peak(each.naive)
            return Reduced(each, peak + math.sqrt(float(each.variance.max()) / a), peak)
        sums = Terms(*(part.sum(axis=axis) for part in each))
        size, peak = float(np.abs(each.naive).sum(axis=axis).max()), _peak(each.naive)
        many = values.size // sums.naive.size
    size += math.sqrt(many * float(np.max(sums.variance)) / a)
    if reduce == "sum":
        return Reduced(sums, size, many * peak)
    return Reduced(Terms(sums.value / many, sums.variance / many**2, sums.naive / many), size / many, peak)


def _total(function: Function, noise: DiscreteLaplace, flat: Numbers) -> tuple[Terms, float, float]:
    """Return the sums of the terms and of |f|, and the largest |f|."""
    least = _dense_from(flat)
    if least is not None:
        counts = np.bincount(flat - least)
        table = terms_at(function, noise, np.arange(least, least + len(counts)))
        sizes = np.abs(table.naive)
        return Terms(*(np.asarray(counts @ part) for part in table)), float(counts @ sizes), _peak(sizes[counts > 0])
    parts = []
    for chunk in _chunks(flat):
        terms = terms_at(function, noise, chunk)
        sizes = np.abs(terms.naive)
        parts.append((*(float(part.sum()) for part in (*terms, sizes)), float(sizes.max())))
    *columns, peaks = zip(*parts, strict=True)
    *sums, size = map(math.fsum, columns)
    return Terms(*map(np.asarray, sums)), size, max(peaks)


def _each(function: Function, noise: DiscreteLaplace, values: Numbers) -> Terms:
    flat = values.reshape(-1)
    least = _dense_from(flat)
    if least is not None:
        table = terms_at(function, noise, np.arange(least, int(flat.max()) + 1))
        places = flat - least
        return Terms(*(part.take(places).reshape(values.shape) for part in table))
    out = Terms(*(np.empty(flat.size) for _ in Terms._fields))
    for start, chunk in zip(range(0, flat.size, _CHUNK), _chunks(flat), strict=True):
        slots = Terms(*(whole[start : start + len(chunk)] for whole in out))
        for whole, part in zip(slots, terms_at(function, noise, chunk, slots), strict=True):
            if part is not whole:
                whole[:] = part
    return Terms(*(part.reshape(values.shape) for part in out))


def _peak(values: Floats) -> float:
    return max(float(values.max()), -float(values.min()))


def _chunks(flat: Numbers) -> Iterator[Numbers]:
    return (flat[start : start + _CHUNK] for start in range(0, flat.size, _CHUNK))


def _dense_from(flat: Numbers) -> int | None:
    """Return the smallest count if a table of f over the range costs less than half as much as f of every count."""
    if flat.dtype == object:
        return None
    least, most = int(flat.min()), int(flat.max())
    return least if most - least + 3 <= flat.size // 2 and max(-least, most) < EXACT else None
