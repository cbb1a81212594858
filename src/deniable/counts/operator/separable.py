"""Sums of functions of single counts: each term is debiased by itself, then values and variances are added up.

A sum over independent noises is unbiased if its terms are, and its variance is the sum of their variances.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.errors import InvalidArgument
from deniable.counts.answer import Answer, settle
from deniable.counts.moments import Moments, plain
from deniable.counts.operator.debias import admissible, theorem_5_factor
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import Growth, is_endless
from deniable.counts.operator.plug_in import moments_of
from deniable.counts.operator.terms import reduced, terms_at
from deniable.counts.release import Release, as_release

ROUNDING = 2.0**-52


def separable(
    functions: Sequence[Any],
    data: Any,
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    below: Any = None,
    best: str = "unbiased",
    question: str = "sum of functions of the counts",
) -> Answer:
    """Estimate f_1(x_1) + ... + f_n(x_n) without bias: one function (or array of values) per count.

    If the function is the same for every count, `debias(f, data, reduce="sum")` is faster.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0).release([3, 8], seed=1)
    >>> dn.ask.separable([lambda x: x**2, lambda x: 5 * x], noisy).unbiased
    True
    """
    release = as_release(data, epsilon, sensitivity)
    rules = functions_of(functions, release, below)
    growths = [admissible(rule, release.noise) for rule in rules]
    flat, noise = release.values.reshape(-1), release.noise
    terms = [terms_at(rule, noise, flat[i : i + 1]) for i, rule in enumerate(rules)]
    value, variance, naive = (math.fsum(float(part[0]) for part in parts) for parts in zip(*terms, strict=True))
    endless = any(is_endless(growth, noise.rate) for growth in growths)
    sizes = (abs(float(term.naive[0])) + math.sqrt(float(term.variance[0]) / noise.a) for term in terms)
    size = math.fsum(sizes)
    answer = Answer(
        question=question,
        value=value,
        std_error=math.inf if endless else math.sqrt(variance),
        naive=naive,
        width=size * ROUNDING * (1 + 4 * float(noise.a)),
        factor=theorem_5_factor(noise),
        scale=math.fsum(abs(float(term.naive[0])) for term in terms) or math.inf,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: _added(each_moments(rules, growths, release)),
    )
    return settle(answer, best)


def functions_of(functions: Sequence[Any], release: Release, below: Any) -> list[Function]:
    """Return one function per count, checked."""
    if not isinstance(functions, (list, tuple)) or len(functions) != release.size:
        raise InvalidArgument("functions", f"be {release.size} functions, one per count", functions)
    return [Function.of(f, below) for f in functions]


def each_moments(rules: list[Function], growths: list[Growth], release: Release) -> list[Moments]:
    """The errors of every term at the plug-in."""
    flat = release.values.reshape(-1)
    return [
        moments_of(rule, release.noise, flat[i : i + 1], "sum", None, growth)
        for i, (rule, growth) in enumerate(zip(rules, growths, strict=True))
    ]


def _added(found: list[Moments]) -> Moments:
    # biases, variances and covariances of independent terms add up
    return Moments(
        sum(each.bias for each in found),
        sum(each.naive_variance for each in found),
        sum(each.variance for each in found),
        sum(each.covariance for each in found),
    )


def sum_answer(
    question: str,
    function: Function,
    release: Release,
    *,
    axis: int | None = None,
    slope: Any = 1.0,
    offset: Any = 0.0,
    scale: float | None = None,
    parts: float = 0.0,
    best: str = "unbiased",
    notes: tuple[str, ...] = (),
) -> Answer:
    """Answer offset + slope times the sum of one function over all counts, or along an axis, as most questions are.

    `parts` times (|y| + 1) bounds the terms of the function at y and its neighbours, if they can cancel.
    """
    values, noise = release.values, release.noise
    check_axis(axis, release)
    growth = admissible(function, noise)
    squares = not is_endless(growth, noise.rate)
    found = reduced(function, noise, values, "sum", axis)
    size = found.size + (parts * float(np.max((np.abs(values) + 1).sum(axis=axis))) if parts else 0.0)
    steep: Floats = np.abs(np.asarray(slope, np.float64))
    variance = steep**2 * found.terms.variance if squares else np.full(np.shape(found.terms.variance), np.inf)
    if not squares:
        notes = (*notes, "the function grows so fast that the variance is infinite at this epsilon")
    answer = Answer(
        question=question,
        value=plain(offset + slope * found.terms.value),
        std_error=plain(np.sqrt(variance)),
        naive=plain(offset + slope * found.terms.naive),
        width=ROUNDING * (float(steep.max()) * size * (1 + 4 * float(noise.a)) + float(np.max(np.abs(offset)))),
        factor=theorem_5_factor(noise),
        scale=(float(steep.max()) * found.largest or math.inf) if scale is None else scale,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: _scaled(moments_of(function, noise, values, "sum", axis, growth), slope),
        notes=notes,
    )
    return settle(answer, best)


def check_axis(axis: object, release: Release) -> None:
    """Refuse anything but an axis of the counts."""
    many = release.values.ndim
    whole = isinstance(axis, (int, np.integer)) and not isinstance(axis, bool)
    if axis is not None and not (whole and -many <= axis < many):  # type: ignore[operator]
        raise InvalidArgument("axis", f"be an axis of counts of shape {release.shape}", axis)


def _scaled(found: Moments, slope: Any) -> Moments:
    return Moments(
        found.bias * slope, found.naive_variance * slope**2, found.variance * slope**2, found.covariance * slope**2
    )
