"""Plug-in errors of sums over single counts: bias and variances as if the noisy counts were the true ones.

Expectations over the noise are exact sums, cut where the noise is less likely than about 2^-60; where that takes too
many terms, at the smallest epsilons, they are means over quantiles of the noise.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.counts.moments import Moments, plain
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import Growth, is_endless
from deniable.counts.operator.terms import terms_at
from deniable.counts.whole import fits_floats

if TYPE_CHECKING:
    from deniable.counts.noise import DiscreteLaplace


_TABLE = 2**22  # values of f kept at once
_EVALUATIONS = 2**22
_WIDEST = 2**15  # beyond this reach the noise is represented by its quantiles
_QUANTILES = 2000
_TAIL = 45.0  # e^-45 = 2^-65


def reach(noise: DiscreteLaplace, growth: float = 0.0) -> int:
    """The largest noise taken into account, for functions that grow like e^(growth |y|)."""
    return math.ceil(_TAIL / max(noise.rate - growth, 1e-3 * noise.rate)) + 2


def smoothed(table: Numbers, q: float) -> Floats:
    """E[f(x + Z)] at every entry of a table, with f taken as zero outside it.

    Two passes: s_t = f_t + q s_(t-1) sums the noise of one sign.
    """
    with needed():
        from scipy.signal import lfilter

    upward = lfilter([1.0], [1.0, -q], table)
    downward = lfilter([1.0], [1.0, -q], table[::-1])[::-1]
    return np.asarray((1 - q) / (1 + q) * (upward + downward - table))


def moments_of(
    function: Function, noise: DiscreteLaplace, values: Numbers, reduce: str, axis: int | None, growth: Growth
) -> Moments:
    """Bias, variances and covariance of both answers, reduced in the same way as the answer."""
    if is_endless(growth, noise.rate):
        shape = values.shape if reduce == "none" else values.sum(axis=axis).shape
        endless = plain(np.full(shape, np.inf))
        return Moments(endless, endless, endless, endless)
    far = reach(noise, 2 * growth.rate)
    if not fits_floats(values):
        raise InvalidArgument("best", "be unbiased for counts beyond 2^53", "another")
    low, high = int(values.min()), int(values.max())
    if high - low + 2 * far + 3 <= _TABLE:
        table = _table(function, noise, low, high, far)
        each = [part[values - low] for part in table]
        scale = 1.0
    else:
        each, scale = _windows(function, noise, values, far, sample=reduce != "none" and axis is None)
    if reduce == "none":
        return Moments(*(plain(part) for part in each))
    many = (values.size if axis is None else values.shape[axis]) if reduce == "mean" else 1
    sums = [part.sum(axis=axis) * scale for part in each]
    return Moments(plain(sums[0] / many), *(plain(part / many**2) for part in sums[1:]))


def _table(function: Function, noise: DiscreteLaplace, low: int, high: int, far: int) -> Floats:
    """The four moments, one per row, at every integer from low to high."""
    wide = np.asarray(function(np.arange(low - far - 1, high + far + 2)), np.float64)
    wide = np.nan_to_num(wide, nan=0.0, posinf=0.0, neginf=0.0)  # far out, where the noise has next to no mass
    return _moments(wide, float(noise.q), float(noise.a))[:, far : far + high - low + 1]


def _moments(f: Floats, q: float, a: float) -> Floats:
    """Bias, naive variance, variance and covariance, except at the two ends of the table.

    With m = E[f(x + Z)], L m = f: so f_hat = L f is unbiased for f, and f itself is unbiased for m. For any g and h,
    L g L h - L(g h) = a^2 D2 g D2 h + a (up g up h + down g down h) has the expectation Cov(L g, L h): sums of
    squares, where the plain formulas would subtract large numbers. Likewise m - f = a E[D2 f(x + Z)].
    """
    up, down = f[2:] - f[1:-1], f[:-2] - f[1:-1]
    mean_up, mean_down = smoothed(up, q), smoothed(down, q)  # of m
    second, mean_second = up + down, mean_up + mean_down

    def expected(one: tuple[Floats, Floats, Floats], other: tuple[Floats, Floats, Floats]) -> Floats:
        return smoothed(a * a * one[2] * other[2] + a * (one[0] * other[0] + one[1] * other[1]), q)

    of_f, of_m = (up, down, second), (mean_up, mean_down, mean_second)
    return np.stack([a * mean_second, expected(of_m, of_m), expected(of_f, of_f), expected(of_f, of_m)])


def _windows(
    function: Function, noise: DiscreteLaplace, values: Numbers, far: int, sample: bool
) -> tuple[list[Floats], float]:
    """The four moments at every count, each from its own window; if many, at an even sample of the sorted counts."""
    flat, scale = values.reshape(-1), 1.0
    most = max(1, _EVALUATIONS // (2 * min(far, 3 * _QUANTILES) + 1))
    if flat.size > most and sample:
        flat, scale = np.sort(flat)[np.linspace(0, flat.size - 1, most).astype(np.int64)], flat.size / most
    distinct, places = np.unique(flat, return_inverse=True)
    if len(distinct) > most:
        raise InvalidArgument("best", f"be unbiased for more than {most:,} distinct counts", "another")
    found = np.stack([_at(function, noise, value, far) for value in distinct.tolist()], axis=1)
    shape = values.shape if flat.size == values.size else flat.shape
    return [part[places].reshape(shape) for part in found], scale


def _at(function: Function, noise: DiscreteLaplace, value: int, far: int) -> Floats:
    """The four moments at one count."""
    if far <= _WIDEST:
        return _table(function, noise, value, value, far)[:, 0]
    shares = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    steps = np.floor(-np.log(shares) / noise.rate).astype(np.int64)
    terms = terms_at(function, noise, value + np.concatenate([steps, -1 - steps]))
    both = np.cov(terms.naive, terms.value)
    bias = float((terms.naive - terms.value).mean())  # a E[D2 f], more accurate than the mean of f minus f
    return np.array([bias, both[0, 0], both[1, 1], both[0, 1]])
