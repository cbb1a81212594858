"""The operator that makes any function of a noisy count unbiased.

    (L f)(y) = f(y) - a (f(y + 1) - 2 f(y) + f(y - 1)),   a = q/(1 - q)^2,   E[(L f)(x + Z)] = f(x).

Reference: Theorem 1 of Hillebrand et al. 2026; for thresholds Ghazi, Kamath, Kumar, Manurangsi 2022, Lemma 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.arrays import Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice, whole
from deniable.counts.answer import Answer, settle
from deniable.counts.continuous.noises import ContinuousNoise
from deniable.counts.moments import plain
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.operator.function import BELOW, Function
from deniable.counts.operator.growth import ROUNDING, Growth, growth_of, is_endless
from deniable.counts.operator.plug_in import moments_of
from deniable.counts.operator.terms import reduced
from deniable.counts.release import as_release

REDUCTIONS = ("none", "sum", "mean")
_ROUNDING = 2.0**-52


def debias(
    f: Any,
    data: Any,
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    reduce: str = "none",
    axis: int | None = None,
    below: Any = None,
    best: str = "unbiased",
    check_growth: bool = True,
    question: str | None = None,
) -> Answer:
    """Estimate f of every true count, or the sum or mean of f over them, without bias, from noisy counts.

    `f` maps an array to an array, or is the array of f(0), f(1), ...; `data` is a Release, or noisy counts
    with the `epsilon` (and `sensitivity`) of their discrete Laplace noise. `reduce` is "none" (an answer per
    count), "sum" or "mean", over all counts or along one `axis`. `below` extends f below zero: "f",
    "constant", "linear", "zero", a number or a function. `best` is "unbiased", "naive", "shrunk" or "auto", which
    takes the method with the least estimated mean square error; answers other than unbiased are marked biased.

    Formula: f(y) - a (f(y+1) - 2 f(y) + f(y-1)), with the variance estimated without bias by
    a^2 (f(y+1) - 2 f(y) + f(y-1))^2 + a (f(y+1) - f(y))^2 + a (f(y-1) - f(y))^2.
    Cost: three evaluations of f, or one per distinct count where counts are dense.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0).release([3, 0, 8], seed=1)
    >>> answer = dn.debias(lambda x: x**2, noisy, reduce="sum")
    >>> answer.unbiased
    True
    """
    release = as_release(data, epsilon, sensitivity)
    choice(REDUCTIONS, reduce=reduce)
    function, noise = Function.of(f, below), release.noise
    growth = admissible(function, noise) if check_growth else Growth(0.0, checked=False)
    squares = not is_endless(growth, noise.rate)
    values = release.values
    if axis is not None:
        axis = whole(-values.ndim, values.ndim - 1, axis=axis)
    name = question or {"none": "f of every count", "sum": "sum of f", "mean": "mean of f"}[reduce]

    found = reduced(function, noise, values, reduce, axis)
    variance = found.terms.variance if squares else np.full(np.shape(found.terms.variance), np.inf)
    answer = Answer(
        question=name,
        value=plain(found.terms.value),
        std_error=plain(np.sqrt(variance, out=variance if np.ndim(variance) else None)),
        naive=plain(found.terms.naive),
        width=found.size * _ROUNDING * (1 + 4 * float(noise.a)),
        factor=theorem_5_factor(noise),
        scale=found.largest if reduce != "none" and found.largest > 0 else math.inf,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: moments_of(function, noise, values, reduce, axis, growth),
        notes=_notes(function, growth, squares, values),
    )
    return settle(answer, best)


def theorem_5_factor(noise: DiscreteLaplace, coordinates: int = 1) -> float:
    """C^d, a bound on the mean square error of the unbiased answer over that of the naive one.

    C = ((1 + q^2 + 2 sqrt(q)) / (1 - q)^2)^2 per coordinate that f joins; a sum over counts joins one. We derived the
    constant ourselves, because the formula is missing from our copy of Theorem 5.
    """
    q = float(noise.q)
    base = (1 + q * q + 2 * math.sqrt(q)) / float(1 - noise.q) ** 2
    exponent = 2 * coordinates * math.log(base)
    return math.exp(exponent) if exponent < 700 else math.inf


def admissible(function: Function, noise: DiscreteLaplace | ContinuousNoise) -> Growth:
    """Return the growth of f; refuse f if its expectation over the noise does not exist."""
    growth = growth_of(function)
    if growth.rate >= noise.rate * (1 - ROUNDING):
        rule = f"grow more slowly than e^({noise.rate:.6g} |y|)"
        hint = "No unbiased answer exists at this epsilon and sensitivity."
        raise InvalidArgument("f", rule, f"about e^({growth.rate:.6g} |y|)", hint)
    return growth


def _notes(function: Function, growth: Growth, squares: bool, values: Numbers) -> tuple[str, ...]:
    notes = []
    negative = int(np.count_nonzero(values < 0)) if values.min() < 0 else 0
    if negative:
        notes.append(f"{negative:,} noisy counts are negative; there f is {function.extension}")
    if not growth.checked:
        notes.append("the growth of f was not checked")
    if not squares:
        notes.append("f grows so fast that the variance is infinite at this epsilon")
    return tuple(notes)


def compare_extensions(f: Any, data: Any, **options: Any) -> dict[str, Answer]:
    """The answers of `debias` for each extension of f below zero, by name; those that f does not allow are omitted.

    All of them are unbiased for true counts of zero and above; their standard errors differ. Choose by prior
    knowledge, not by the answer: choosing the smallest standard error on the data at hand introduces a bias.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(1.0).release([0, 2, 0, 1], seed=3)
    >>> sorted(dn.compare_extensions(lambda x: abs(x), noisy, reduce="sum"))
    ['constant', 'f', 'linear', 'zero']
    """
    found, refused = {}, None
    for below in BELOW:
        try:
            Function.of(f, below)
            found[below] = debias(f, data, below=below, **options)
        except InvalidArgument as error:
            refused = error
    if not found and refused is not None:
        raise refused
    return found
