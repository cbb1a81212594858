"""How fast a function grows: an unbiased answer needs growth below q^-|y|, a standard error below its root.

Reference: Theorem 1 and Lemma 18 of Hillebrand et al. 2026.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deniable.debias.function import Function

Floats = npt.NDArray[np.float64]

_DOUBLINGS = 40
_WINDOW = np.arange(4)  # so that a function that is zero at every other count still shows


@dataclass(frozen=True)
class Growth:
    """log|f(y)|/|y| in the limit, above and below zero, as far as values can tell; `checked` if they could."""

    rate: float
    checked: bool = True


def growth_of(function: Function) -> Growth:
    """Measured far out, near powers of two; right for polynomials times exponentials, up to rounding.

    log|f| = c + d log t + b t has slope b + d log(2)/h between h and 2h; the last two slopes before an overflow give b.
    """
    distances = 2 ** np.arange(1, _DOUBLINGS, dtype=np.int64)
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
        checked &= not np.isnan(values).any()  # a NaN that is met is refused where it is met
        if checked:
            rates.append(_limit(np.abs(values), distances.astype(np.float64)))
    return Growth(max(rates), checked)


def _limit(sizes: Floats, distances: Floats) -> float:
    for column in sizes.T:  # the first that is not zero out there
        wrong = np.flatnonzero(~np.isfinite(column))
        last = int(wrong[0]) if wrong.size else len(column)
        if last < 3:
            return np.inf
        if column[last - 3 : last].all():
            first, second = np.diff(np.log(column[last - 3 : last])) / np.diff(distances[last - 3 : last])
            return max(0.0, float(2 * second - first))
    return 0.0
