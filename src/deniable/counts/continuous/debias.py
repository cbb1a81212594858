"""Unbiased answers from counts with Laplace or Staircase noise, for comparison with discrete noise.

Laplace noise of scale b: f(y) - b^2 f''(y) for f with two derivatives (Calmon et al. 2025; for polynomials Hillebrand
et al. 2023), with its variance estimated without bias by b^4 f''(y)^2 + 2 b^2 f'(y)^2. Any noise with moments:
polynomials only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice
from deniable.counts.answer import PLUG_IN_VARIANCE, Answer, settle
from deniable.counts.continuous.conversions import ContinuousRelease
from deniable.counts.continuous.noises import Laplace
from deniable.counts.moments import Moments, plain
from deniable.counts.operator.debias import admissible
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import is_endless

Derivative = Callable[[Any], Any]
Polynomial = np.polynomial.Polynomial


def debias_continuous(
    f: Any,
    release: ContinuousRelease,
    *,
    first: Derivative | None = None,
    second: Derivative | None = None,
    reduce: str = "none",
    best: str = "unbiased",
    question: str | None = None,
) -> Answer:
    """Estimate f of every true count, or the sum or mean of f, without bias, from counts with continuous noise.

    `f` is a numpy.polynomial.Polynomial, for any noise; or, for Laplace noise, a function with its derivatives
    `first` and `second`. Without `first` the standard error is unknown (NaN).
    """
    if not isinstance(release, ContinuousRelease):
        raise InvalidArgument("release", "be a ContinuousRelease", release)
    choice(("none", "sum", "mean"), reduce=reduce)
    y, moments_rule, notes = release.values, None, []
    if isinstance(f, Polynomial):
        f = f.convert()  # it may have another domain, such as a fitted polynomial
        line = Debiased(f, release)
        value, variance, naive = line.unbiased(y), line.variance(y), f(y)
        negative = variance < 0 if reduce == "none" else np.full(y.shape, np.sum(variance) < 0)
        if negative.any():
            variance = np.where(negative, line.moments(y).variance, variance)
            notes.append(PLUG_IN_VARIANCE)
        moments_rule = lambda: _reduced_moments(line.moments(y), reduce)  # noqa: E731
    elif isinstance(release.noise, Laplace) and callable(f) and second is not None:
        b = release.noise.scale
        curve = np.asarray(second(y), np.float64)
        slope = np.asarray(first(y), np.float64) if first is not None else np.full(y.shape, np.nan)
        naive = np.asarray(f(y), np.float64)
        value, variance = naive - b**2 * curve, b**4 * curve**2 + 2 * b**2 * slope**2
        if is_endless(admissible(Function.of(f), release.noise), release.noise.rate):
            variance = np.full(y.shape, np.inf)
    else:
        raise InvalidArgument("f", "be a Polynomial, or for Laplace noise a function with its second derivative", f)
    if not np.isfinite(value).all():
        raise InvalidArgument("f", "be finite at every count", "NaN or an infinite value")
    many = y.size if reduce == "mean" else 1
    if reduce != "none":
        value, variance, naive = value.sum() / many, variance.sum() / many**2, naive.sum() / many
    answer = Answer(
        question=question or {"none": "f of every count", "sum": "sum of f", "mean": "mean of f"}[reduce],
        value=plain(value),
        std_error=plain(np.sqrt(np.maximum(variance, 0.0))),
        naive=plain(naive),
        n=y.size,
        simulated=release.simulated,
        moments_rule=moments_rule,
        notes=tuple(notes),
    )
    return settle(answer, best)


class Debiased:
    """A polynomial and its unbiased counterpart, from the moments M_k of the noise.

    E[(x + U)^n] = sum_k C(n, k) M_k x^(n-k). The unbiased counterpart has c_k in place of M_k, with
    sum_k C(n, k) c_k M_(n-k) = 0.
    """

    def __init__(self, f: Any, release: ContinuousRelease) -> None:
        powers = range(2 * f.degree() + 1)
        self._moments = [release.noise.moment(k) for k in powers]
        inverse = [Fraction(1)]
        for n in powers[1:]:
            inverse.append(
                -sum(math.comb(n, k) * self._moments[k] * inverse[n - k] for k in range(1, n + 1)) + Fraction(0)
            )
        self._inverse, self.f = inverse, f
        self.unbiased = self._mixed(f, inverse)

    def expected(self, f: Any) -> Any:
        """The polynomial E[f(x + U)]."""
        return self._mixed(f, self._moments)

    def variance(self, y: Any) -> Any:
        """f_hat^2 - (f^2)_hat, an unbiased estimate of the variance; it can be negative."""
        return (self.unbiased**2 - self._mixed(self.f**2, self._inverse))(y)

    def moments(self, y: Any) -> Moments:
        """Errors of the naive and the unbiased answer if these were the true counts."""
        mean = self.expected(self.f)
        return Moments(
            (mean - self.f)(y),
            (self.expected(self.f**2) - mean**2)(y),
            (self.expected(self.unbiased**2) - self.f**2)(y),
            (self.expected(self.f * self.unbiased) - mean * self.f)(y),
        )

    @staticmethod
    def _mixed(f: Any, weights: list[Fraction]) -> Any:
        out = np.zeros(f.degree() + 1)
        for n, coefficient in enumerate(f.convert().coef):
            for k in range(n + 1):
                out[n - k] += coefficient * math.comb(n, k) * float(weights[k])
        return Polynomial(out)


def _reduced_moments(each: Moments, reduce: str) -> Moments:
    parts = (each.bias, each.naive_variance, each.variance, each.covariance)
    if reduce == "none":
        return each
    many = np.size(each.bias) if reduce == "mean" else 1
    bias, *rest = (float(np.sum(part)) for part in parts)
    return Moments(bias / many, *(part / many**2 for part in rest))
