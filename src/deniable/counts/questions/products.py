"""Products of functions of different counts: noises are independent, so a product of unbiased factors is unbiased.

Reference: Theorem 14 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from deniable.counts.answer import PLUG_IN_VARIANCE, Answer, settle
from deniable.counts.moments import Moments
from deniable.counts.operator.debias import admissible, theorem_5_factor
from deniable.counts.operator.growth import is_endless
from deniable.counts.operator.separable import ROUNDING, each_moments, functions_of
from deniable.counts.operator.terms import terms_at
from deniable.counts.release import as_release


def product(
    functions: Sequence[Any],
    data: Any,
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    below: Any = None,
    best: str = "unbiased",
    question: str = "product of functions of the counts",
) -> Answer:
    """Estimate f_1(x_1) f_2(x_2) ... f_n(x_n) without bias: one function (or array of values) per count.

    Formula: the product of the unbiased f_i(y_i). Its variance is estimated without bias by
    prod f_hat_i^2 - prod (f_hat_i^2 - v_i), where v_i estimates the variance of factor i.
    Cost: linear in the number of counts.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0).release([3, 8], seed=1)
    >>> dn.ask.product([lambda x: x**2, lambda x: x + 1], noisy).unbiased
    True
    """
    release = as_release(data, epsilon, sensitivity)
    rules = functions_of(functions, release, below)
    growths = [admissible(rule, release.noise) for rule in rules]
    flat, noise = release.values.reshape(-1), release.noise
    terms = [terms_at(rule, noise, flat[i : i + 1]) for i, rule in enumerate(rules)]
    factors = [float(term.value[0]) for term in terms]
    naive = math.prod(float(term.naive[0]) for term in terms)
    variance = product_variance(factors, [float(term.variance[0]) for term in terms])
    notes: tuple[str, ...] = ()
    if any(is_endless(growth, noise.rate) for growth in growths):
        variance = math.inf
    elif variance < 0:
        variance = _plug_in(each_moments(rules, growths, release), [float(term.naive[0]) for term in terms]).variance
        notes = (PLUG_IN_VARIANCE,)
    value = math.prod(factors)
    size = math.prod(abs(float(t.naive[0])) + abs(float(t.value[0])) for t in terms)
    answer = Answer(
        question=question,
        value=value,
        std_error=math.sqrt(variance),
        naive=naive,
        width=size * len(factors) * ROUNDING * (1 + 4 * float(noise.a)),
        factor=theorem_5_factor(noise, release.size),
        scale=(abs(value) + abs(naive)) or math.inf,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: _plug_in(each_moments(rules, growths, release), [float(term.naive[0]) for term in terms]),
        notes=notes,
    )
    return settle(answer, best)


def product_variance(factors: Sequence[float], variances: Sequence[float]) -> float:
    """prod A_i - prod B_i with A_i = factor^2, B_i = A_i - variance_i, without subtracting nearly equal numbers."""
    # sum over i of B_1 ... B_(i-1) (A_i - B_i) A_(i+1) ... A_n
    after = [1.0]
    for factor in reversed(factors):
        after.append(after[-1] * factor * factor)
    total, before = [], 1.0
    for factor, variance, rest in zip(factors, variances, reversed(after[:-1]), strict=True):
        total.append(before * variance * rest)
        before *= factor * factor - variance
    return math.fsum(total)


def _plug_in(found: list[Moments], here: list[float]) -> Moments:
    """Return the errors of a product of independent factors: its expectations are products of expectations."""
    at = math.prod(here)
    means = [f + each.bias for f, each in zip(here, found, strict=True)]
    mean = math.prod(means)
    # the product of (mean^2 + variance), minus the product of mean^2: all terms are positive
    naive = math.prod(m * m + each.naive_variance for m, each in zip(means, found, strict=True)) - mean**2
    ours = math.prod(f * f + each.variance for f, each in zip(here, found, strict=True)) - at**2
    both = math.prod(m * f + each.covariance for m, f, each in zip(means, here, found, strict=True)) - mean * at
    return Moments(mean - at, max(naive, 0.0), max(ours, 0.0), both)
