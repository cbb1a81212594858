"""The Kullback-Leibler divergence of two noisy histograms, with their totals public or not.

    D = log(M/N) + (1/N) sum over i of (x_i log x_i - x_i log w_i),   N and M the totals of x and w.

With public totals, multiples of (sum of x_i) - N = 0 and of (sum of w_i) - M = 0 are added, chosen so that the slopes
are those of the distributions: log(x_i M/(w_i N)) and 1/M - x_i/(w_i N).

The logarithm is extended by 0 below one. The answer is unbiased if every w_i is at least one where x_i is not zero;
otherwise D is infinite.

Reference: Theorem 24 of Hillebrand et al. 2026; by the form above in linear time instead of d^3 terms.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import positive
from deniable.counts.answer import Answer, settle
from deniable.counts.certain.balls import TOLERANCE, ball
from deniable.counts.certain.joint_error import NEGATIVE, Pair, assembled, certain_joint, simulated_moments
from deniable.counts.certain.total_answers import UNKNOWN
from deniable.counts.certain.trinomial import digits
from deniable.counts.certain.unknown_total import NoisyTotal, relative_to
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.operator.function import Function
from deniable.counts.operator.separable import ROUNDING
from deniable.counts.operator.terms import terms_at
from deniable.counts.questions.entropy import log_ball, public_totals, x_log_x, x_log_x_ball
from deniable.counts.release import Release, as_release

_POSITIVE = "unbiased if the second histogram is at least one wherever the first is not zero"
_LOG = Function.of(lambda x: np.log(np.maximum(x.astype(np.float64), 1.0)))


def divergence(
    data: Any,
    other: Any,
    total: int | None = None,
    other_total: int | None = None,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """D(x/N || w/M) of the true counts behind two releases with independent noise, in nats.

    `total` and `other_total` are N and M if both are public; otherwise they are estimated too. `other` is a release
    like `data`, or noisy counts with the same epsilon and sensitivity.
    """
    first = as_release(data, epsilon, sensitivity)
    second = other if isinstance(other, Release) else as_release(other, epsilon, sensitivity)
    if first.values.ndim != 1 or first.shape != second.shape:
        raise InvalidArgument("other", f"be a vector of {first.size} counts, as many as the first", second.shape)
    if (total is None) != (other_total is None):
        raise InvalidArgument("other_total", "be given if and only if total is given", other_total)
    if total is None:
        answer = _unknown(first, second, positive(tolerance=tolerance))
    else:
        answer = _public(first, second, public_totals(total, first), public_totals(other_total, second, "other_total"))

    def both(values: Numbers, others: Numbers) -> tuple[float, float]:
        again = Release(values, first.noise), Release(others, second.noise)
        public = None if total is None or other_total is None else (float(total), float(other_total))
        found = _unknown(*again, tolerance) if public is None else _public(*again, *public)
        return found.value, found.naive

    rule = partial(simulated_moments, both, (first, second), answer.naive)
    return settle(replace(answer, moments_rule=rule), best)


def _public(first: Release, second: Release, n: float, m: float) -> Answer:
    a, c = float(first.noise.a), float(second.noise.a)
    y, v = first.values.astype(np.float64), second.values.astype(np.float64)
    b, k = math.log(n / m) + 1, n / m
    f = Function.of(lambda x: x_log_x(x) - b * x)
    terms, logs = terms_at(f, first.noise, first.values), terms_at(_LOG, second.noise, second.values)
    # covariances with a linear function keep first differences only: L(f) L(x) - L(f x) = a (f(y+1) - f(y-1))
    with_x, with_w = a * _slope(f, y), c * _slope(_LOG, v)
    # of f(x) - x log w + k w: v_f - 2 log w cov(f, x) + y^2 v_log + 2a (log^2 - v_log) + 2c k^2 - 2 k y cov(log, w)
    always = terms.variance + 2 * a * logs.value**2 + y**2 * logs.variance + 2 * c * k * k
    crossed = 2 * logs.value * with_x + 2 * a * logs.variance + 2 * k * y * with_w
    variance, notes = float((always - crossed).sum()), [_POSITIVE]
    if variance < 0:
        variance = float((always + np.abs(crossed)).sum())
        notes.append(NEGATIVE)
    constant = math.log(m / n) + b - 1  # k m/n = 1
    value = math.fsum(terms.value - y * logs.value + k * v) / n + constant
    naive = math.fsum(terms.naive - y * logs.naive + k * v) / n + constant
    size = math.fsum(np.abs(terms.naive) + np.abs(y * logs.naive) + np.abs(k * v)) / n
    return Answer(
        question="Kullback-Leibler divergence",
        value=value,
        std_error=math.sqrt(variance) / n,
        naive=naive,
        width=size * ROUNDING * (1 + 4 * a) * (1 + 4 * float(second.noise.a)),
        factor=theorem_5_factor(first.noise) * theorem_5_factor(second.noise),
        scale=_scale(first, second),
        n=first.size + second.size,
        simulated=first.simulated or second.simulated,
        notes=tuple(notes),
    )


def _slope(function: Function, points: Floats) -> Floats:
    """f(y + 1) - f(y - 1)."""
    down, _, up = function.around(points)
    return np.asarray(up - down, np.float64)


def _unknown(first: Release, second: Release, tolerance: float) -> Answer:
    counts, others = first.values.tolist(), second.values.tolist()
    top, bottom = max(sum(counts), 1), max(sum(others), 1)
    terms = (x * (math.log(max(x, 1)) - math.log(max(w, 1))) for x, w in zip(counts, others, strict=True))
    naive = math.log(bottom / top) + math.fsum(terms) / top

    def compute() -> list[Pair]:
        pair = _pair(NoisyTotal(first.values, first.noise), NoisyTotal(second.values, second.noise))
        return [relative_to(naive, pair)]

    bits = digits(first.size, first.noise) + digits(second.size, second.noise) + 64
    joint = certain_joint(compute, tolerance, bits)[0]
    notes = (UNKNOWN, _POSITIVE)
    answer = assembled("Kullback-Leibler divergence", first, [joint], naive, naive, _scale(first, second), notes)
    factor = answer.factor * theorem_5_factor(second.noise, second.size)
    every = first.simulated or second.simulated
    return replace(answer, factor=factor, n=first.size + second.size, simulated=every)


def _pair(x: NoisyTotal, w: NoisyTotal) -> Pair:
    """The unbiased D and D^2, D = Q + log M, Q = -log N + sum of x log x / N - sum of x_i log w_i / N.

    Given w, Q is a formula in x and its total with the unbiased logarithms as factors. In D^2 the unbiased estimates of
    (log M)^2, log M log w_i and (log w_i)^2 are not the products of the estimates: the differences are added.
    """
    logs = w.sum_of(log_ball)
    one, log_total = w.table(lambda _: ball(1)), w.table(log_ball)
    factors = w.each(logs, one)
    of_total = w.alone(log_total)
    inverse = x.table(lambda n: 1 / ball(n))
    shares = x.sum_of(ball)
    entropy, crossed = x.sum_of(x_log_x_ball), x.sum_of(ball, [-factor for factor in factors])
    alone = x.table(lambda n: of_total - log_ball(n))
    found = x.answer(alone, [(entropy, inverse), (crossed, inverse)])

    square = found.square + w.alone(log_total * log_total) - of_total * of_total
    squares = w.each(w.product(logs, logs), one)
    with_total = w.each(logs, log_total)
    means = x.each(shares, inverse)
    seconds = x.each(x.product(shares, shares), inverse * inverse)
    for factor, log_square, joint, mean, second in zip(factors, squares, with_total, means, seconds, strict=True):
        square += second * (log_square - factor * factor) - 2 * mean * (joint - of_total * factor)
    return Pair(found.value, square)


def _scale(first: Release, second: Release) -> float:
    """The largest D, reached if all of x lies where w is one: the logarithm of w's total."""
    return math.log(max(float(second.values.sum()), float(first.size), 2.0))
