"""The growth of a function: an unbiased answer needs growth below q^-|y|, a finite variance below its root.

Reference: Theorem 1 and Lemma 18 of Hillebrand et al. 2026.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats
from deniable.counts.operator.function import Function

_DOUBLINGS = 40
ROUNDING = 1e-12  # relative to a rate
_RISE = 1e-6  # relative to a slope: anything less is rounding
_WINDOW = np.arange(4)  # several points, since a function may be zero at every other count


@dataclass(frozen=True)
class Growth:
    """The limit of log|f(y)|/|y|, above and below zero, as measured; `checked` if all values could be computed."""

    rate: float
    checked: bool = True


def growth_of(function: Function) -> Growth:
    """Measure the growth far out, near powers of two; exact for polynomials times exponentials, up to rounding.

    log|f| = c + d log t + b t has slope b + d log(2)/h between h and 2h; the last two slopes before an overflow give b.
    Slopes that keep rising until then, as those of x^x and e^(x^2) do, mean unlimited growth.
    """
    distances = 2 ** np.arange(_DOUBLINGS, dtype=np.int64)
    bounded = isinstance(function.below, float) or function.below in ("constant", "zero")
    sides = [distances] if bounded else [distances, -distances]
    rates, checked = [0.0], True
    for side in sides:
        points = side[:, np.newaxis] + np.sign(side)[:, np.newaxis] * _WINDOW
        try:
            with np.errstate(all="ignore"):
                values = np.asarray(function(points.reshape(-1)), np.float64).reshape(points.shape)
        except Exception:  # f may be undefined far from any count
            return Growth(0.0, checked=False)
        unknown = np.asarray(np.isnan(values).any(axis=1))  # a NaN at a count is refused when it is evaluated there
        checked &= not unknown.any()
        known = int(np.argmax(unknown)) if unknown.any() else len(unknown)
        if known >= 3 or not unknown.any():  # a NaN far out may be the ratio of two overflows
            rates.append(_limit(np.abs(values[:known]), distances[:known].astype(np.float64)))
    return Growth(max(rates), checked)


def is_endless(growth: Growth, rate: float) -> bool:
    """Whether f^2 grows like q^-|y| or faster, so that the variance is infinite; the rate is log(1/q)."""
    return 2 * growth.rate >= rate * (1 - ROUNDING)


def _limit(sizes: Floats, distances: Floats) -> float:
    for column in sizes.T:  # use the first column that is not zero far out
        wrong = np.flatnonzero(~np.isfinite(column))
        last = int(wrong[0]) if wrong.size else len(column)
        if last < 3:
            return np.inf
        if column[last - 3 : last].all():
            start = max(last - 4, 0)
            with np.errstate(divide="ignore"):
                slopes = np.diff(np.log(column[start:last])) / np.diff(distances[start:last])
            if wrong.size and _rises(slopes):
                return np.inf
            return max(0.0, float(2 * slopes[-1] - slopes[-2]))
    return 0.0


def _rises(slopes: Floats) -> bool:
    """Whether the slopes keep rising; steps towards a limit would shrink by half each time."""
    steps = np.diff(slopes)
    return bool((steps > _RISE * np.abs(slopes[1:])).all() and (len(steps) < 2 or steps[-1] > 0.75 * steps[-2]))
