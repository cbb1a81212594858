"""Concentration of counts: the Simpson index (two draws agree) and the Gini-Simpson index (two draws differ)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.counts.answer import Answer
from deniable.counts.certain.balls import TOLERANCE, ball
from deniable.counts.certain.total_answers import Part, TotalFormula, total_answer
from deniable.counts.operator.function import Function
from deniable.counts.operator.separable import sum_answer
from deniable.counts.questions.entropy import public_totals
from deniable.counts.release import as_release


def simpson(
    data: Any,
    total: Any = None,
    *,
    replacement: bool = True,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The Simpson index, sum of (x/N)^2: the probability that two draws are of the same kind.

    `total` is N if it is public (one number, or one per row of a matrix). Without `replacement` the index is the sum
    of x (x - 1)/(N (N - 1)), and the total must be at least two.
    """
    return _index("Simpson index", data, total, replacement, tolerance, epsilon, sensitivity, best, differ=False)


def gini(
    data: Any,
    total: Any = None,
    *,
    replacement: bool = True,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The Gini-Simpson index, 1 - sum of (x/N)^2: the probability that two draws are of different kinds."""
    return _index("Gini-Simpson index", data, total, replacement, tolerance, epsilon, sensitivity, best, differ=True)


def _index(
    name: str,
    data: Any,
    total: Any,
    replacement: bool,
    tolerance: float,
    epsilon: float | None,
    sensitivity: int | None,
    best: str,
    *,
    differ: bool,
) -> Answer:
    release = as_release(data, epsilon, sensitivity)
    back, sign = (0 if replacement else 1), (-1 if differ else 1)
    if total is None:
        part = Part(lambda x: ball(x * (x - back)), lambda n: sign / ball(n * (n - back) if n > back else 1))
        formula = TotalFormula((part,), _one if differ else None)
        return total_answer(name, formula, release, scale=1.0, tolerance=tolerance, best=best)
    n = public_totals(total, release)
    if not replacement and np.min(n) < 2:
        raise InvalidArgument("total", "be at least 2 for draws without replacement", total)
    # the true counts add up to n: subtracting b x from every term makes the slopes 2 x - b as small as possible
    b = 2 * float(np.mean(n)) / (release.shape[-1] if release.shape else 1)
    slope = sign / (n * (n - back))
    return sum_answer(
        name,
        Function.of(lambda x: x * (x - back - (Fraction(b) if x.dtype == object else b))),
        release,
        axis=None if release.values.ndim < 2 else -1,
        slope=slope,
        offset=(1.0 if differ else 0.0) + slope * b * n,
        scale=1.0,
        parts=b + 2 + max(abs(int(release.values.max())), abs(int(release.values.min()))),
        best=best,
    )


def _one(_: int) -> Any:
    return ball(1)
