"""How fast a function grows: an unbiased answer needs growth below q^-|y|, a standard error below its root.

Reference: Theorem 1 and Lemma 18 of Hillebrand et al. 2026.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats
from deniable.counts.operator.function import Function

_DOUBLINGS = 40
ROUNDING = 1e-12  # of a rate
_RISE = 1e-6  # of a slope: less is rounding
_WINDOW = np.arange(4)  # so that a function that is zero at every other count still shows


@dataclass(frozen=True)
class Growth:
    """log|f(y)|/|y| in the limit, above and below zero, as far as values can tell; `checked` if they could."""

    rate: float
    checked: bool = True


def growth_of(function: Function) -> Growth:
    """Measured far out, near powers of two; right for polynomials times exponentials, up to rounding.

    log|f| = c + d log t + b t has slope b + d log(2)/h between h and 2h; the last two slopes before an overflow give b.
    Slopes that go on rising until then, as those of x^x and e^(x^2) do, are endless growth.
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
        except Exception:  # f may be undefined far out, where no count is
            return Growth(0.0, checked=False)
        unknown = np.asarray(np.isnan(values).any(axis=1))  # a NaN that is met is refused where it is met
        checked &= not unknown.any()
        known = int(np.argmax(unknown)) if unknown.any() else len(unknown)
        if known >= 3 or not unknown.any():  # far out it may be an overflow divided by another
            rates.append(_limit(np.abs(values[:known]), distances[:known].astype(np.float64)))
    return Growth(max(rates), checked)


def is_endless(growth: Growth, rate: float) -> bool:
    """Whether f^2 grows like q^-|y| or faster, log(1/q) being the rate: then the variance is infinite."""
    return 2 * growth.rate >= rate * (1 - ROUNDING)


def _limit(sizes: Floats, distances: Floats) -> float:
    for column in sizes.T:  # the first that is not zero out there
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
    """Whether the slopes rise by steps that do not shrink by half, as those towards a limit do."""
    steps = np.diff(slopes)
    return bool((steps > _RISE * np.abs(slopes[1:])).all() and (len(steps) < 2 or steps[-1] > 0.75 * steps[-2]))
