"""The entropy of the counts' distribution, with their total public or not.

    H = log N - (1/N) sum over i of x_i log x_i,   N the sum of the counts.

With a public N this is a sum over single counts, to which any multiple of (sum of x_i) - N = 0 may be added. The terms
here are x log x - b x, b = 1 + log(N/d) or 0 if that is negative, d the number of counts: their slope, log x + 1 - b,
is zero for counts of the mean size, and for empty counts where counts are sparse. The sum of -(x/N) log(x/N) is
unbiased too, with a standard error that was 2.3 to 31 times as large in our trials.

Reference: Theorems 13 and 23, section E.2 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.core.validate import positive
from deniable.counts.answer import Answer
from deniable.counts.certain.balls import TOLERANCE, ball
from deniable.counts.certain.total_answers import Part, TotalFormula, total_answer
from deniable.counts.operator.function import Function
from deniable.counts.operator.separable import sum_answer
from deniable.counts.release import Release, as_release
from deniable.counts.whole import whole_counts


def entropy(
    data: Any,
    total: Any = None,
    *,
    base: float = math.e,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The entropy of the counts divided by their sum; one answer per row if they are a matrix.

    `total` is the sum of the true counts if it is public (one number, or one per row); otherwise it is estimated too.
    With a public total a person can only move from one count to another, so the sensitivity is 2. `base` is the base
    of the logarithm.

    Cost: linear with a public total. With an unknown total, linear, on numbers of n log2(1 + 4a) digits; the error is
    small if the total is several times the number of counts, and makes the answer useless if it is smaller.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0, sensitivity=2).release([30, 50, 20], seed=1)
    >>> dn.ask.entropy(noisy, total=100).unbiased
    True
    """
    release = as_release(data, epsilon, sensitivity)
    unit = _logarithm_of(base)
    wide = release.shape[-1] if release.shape else 1
    scale = math.log(wide) / unit if wide > 1 else math.inf
    if total is None:
        formula = TotalFormula((Part(x_log_x_ball, lambda n: -1 / (ball(n) * unit)),), lambda n: log_ball(n) / unit)
        return total_answer("entropy", formula, release, scale=scale, tolerance=tolerance, best=best)
    n = public_totals(total, release)
    axis = None if release.values.ndim < 2 else -1
    b = max(0.0, 1 + math.log(float(np.mean(n)) / wide))  # one for all rows
    return sum_answer(
        "entropy",
        Function.of(lambda x: x_log_x(x) - b * x),
        release,
        axis=axis,
        slope=-1 / (n * unit),
        offset=(np.log(n) - b) / unit,
        scale=scale,
        parts=b + math.log(2 + max(abs(int(release.values.max())), abs(int(release.values.min())))),
        best=best,
    )


def x_log_x(x: Any) -> Any:
    """x log x of an array; 0 where x is at most one."""
    larger = np.maximum(np.asarray(x, np.float64), 1.0)
    return larger * np.log(larger)


def x_log_x_ball(x: int) -> Any:
    """x log x in balls; 0 where x is at most one."""
    return x * log_ball(x) if x > 1 else ball(0)


def log_ball(x: int) -> Any:
    """log x in balls; 0 where x is at most one."""
    return ball(x).log() if x > 1 else ball(0)


def public_totals(total: Any, release: Release, name: str = "total") -> Any:
    """Return a public total as a float, or the totals of the rows as an array."""
    rows = release.shape[0] if release.values.ndim == 2 else 1
    array = np.asarray(total)
    if array.dtype == object:  # beyond 64 bits
        array = whole_counts(array, name)
    if release.values.ndim > 2:
        raise InvalidArgument("data", "be a vector or a matrix of counts", release.shape)
    if array.dtype.kind not in "iuO" or array.shape not in ((), (rows,)) or (array < 1).any():
        rule = "be a whole number, at least 1" + (f", or {rows} of them" if release.values.ndim == 2 else "")
        raise InvalidArgument(name, rule, total)
    return float(array) if release.values.ndim < 2 and array.size == 1 else array.astype(np.float64)


def _logarithm_of(base: float) -> float:
    if positive(base=base) <= 1:
        raise InvalidArgument("base", "be above 1", base)
    return 1.0 if base == math.e else math.log(base)
