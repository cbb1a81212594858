"""Any function of several counts: the operator in every coordinate, over all 3^d neighbours or a sample of them.

    (L f)(y) = sum over s in {-1, 0, 1}^d of c_s1 ... c_sd f(y + s),   c_0 = 1 + 2a, c_-1 = c_1 = -a.

Reference: Theorem 2 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.counts.answer import PLUG_IN_VARIANCE, Answer, settle
from deniable.counts.moments import Moments
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.release import as_release
from deniable.counts.whole import fits_floats

Joint = Callable[[Floats], Any]  # maps points, one per row, to values

MAX_TERMS = 3**13
_CHUNK = 3**9
_DRAWS = 400  # draws of the noise at the plug-in


class _Sum(NamedTuple):
    """The debiased f and f^2, the sum of |weight f|, and the variance added by sampling."""

    value: float
    square: float
    size: float
    added: float = 0.0


def debias_multivariate(
    f: Joint,
    data: Any,
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    samples: int | None = None,
    max_terms: int = MAX_TERMS,
    best: str = "unbiased",
    scale: float | None = None,
    seed: int | None = None,
    question: str = "f of all counts",
) -> Answer:
    """Estimate f of all true counts jointly, without bias, for any f whose expectation over the noise exists.

    `f` takes an array with one point of d counts per row, and returns one value per row. The array holds floats, which
    do not overflow, or integers if f refuses floats (as np.gcd and indexing do). Up to `max_terms` terms, all
    3^d neighbours are summed; beyond, or if `samples` is given, a sample of neighbours is drawn by the size of their
    weights, and the standard error includes the error of sampling. The sample is fresh, or determined by `seed`;
    answers that are to be combined must not share a seed. The growth of f cannot be checked here: f must grow more
    slowly than q^-|y| in every count.

    Cost: 3^d evaluations of f. The variance grows with d like the bound `factor`; for sums, products, order
    statistics, trees and entropies use the functions made for them.

    >>> import deniable as dn
    >>> noisy = dn.DiscreteLaplace(2.0).release([5, 9, 1], seed=4)
    >>> dn.debias_multivariate(lambda x: x.max(axis=1), noisy).unbiased
    True
    """
    release = as_release(data, epsilon, sensitivity)
    y = release.values.reshape(-1)
    if not fits_floats(y):
        raise InvalidArgument("data", "be below 2^53 for functions of several counts", "larger counts")
    noise, d, trials = release.noise, y.size, seed or 0
    sampled = samples is not None or 3**d > whole(1, max_terms=max_terms)
    count = whole(2, samples=samples) if samples is not None else max_terms
    found = _sampled(f, y, noise, count, np.random.default_rng(seed)) if sampled else _all(f, y, noise)
    naive = float(_values(f, y[np.newaxis])[0])

    # E[f_hat^2] - E[L(f^2)] = E[f_hat^2] - f(x)^2, whether f_hat was sampled or not
    variance, notes = found.value**2 - found.square, []
    if sampled:
        notes.append(f"{count:,} of 3^{d} neighbours were sampled, which adds {found.added:.3g} to the variance")
    if variance <= found.added:
        variance = max(_plug_in(f, y, noise, trials).variance, 0.0) + found.added
        notes.append(PLUG_IN_VARIANCE)
    answer = Answer(
        question=question,
        value=found.value,
        std_error=math.sqrt(variance),
        naive=naive,
        width=found.size * 2.0**-52,
        factor=theorem_5_factor(noise, d),
        scale=abs(found.value) + abs(naive) if scale is None else scale,
        n=d,
        simulated=release.simulated,
        moments_rule=lambda: _plug_in(f, y, noise, trials, found.added),
        notes=tuple(notes),
    )
    return settle(answer, best)


def neighbours(d: int, a: float) -> Iterator[tuple[Floats, Floats]]:
    """Yield all steps from {-1, 0, 1}^d and their weights, in chunks."""
    logs = np.array([math.log(a), math.log1p(2 * a), math.log(a)])
    powers = 3 ** np.arange(d, dtype=np.int64)
    for start in range(0, 3**d, _CHUNK):
        code = np.arange(start, min(start + _CHUNK, 3**d), dtype=np.int64)
        steps = code[:, np.newaxis] // powers % 3 - 1
        signs = 1.0 - 2.0 * (np.count_nonzero(steps, axis=1) % 2)
        yield steps.astype(np.float64), signs * np.exp(logs[steps + 1].sum(axis=1))


def _all(f: Joint, y: Numbers, noise: DiscreteLaplace) -> _Sum:
    sums: list[tuple[float, float, float]] = []
    for steps, weights in neighbours(y.size, float(noise.a)):
        values = _values(f, y + steps)
        terms = weights * values
        sums.append((math.fsum(terms), math.fsum(terms * values), float(np.abs(terms).sum())))
    return _Sum(*(math.fsum(column) for column in zip(*sums, strict=True)))


def _sampled(f: Joint, y: Numbers, noise: DiscreteLaplace, count: int, source: np.random.Generator) -> _Sum:
    """Draw steps with probability |weight|/(1 + 4a)^d, each weighted by its sign times (1 + 4a)^d."""
    a = float(noise.a)
    worth = math.exp(min(y.size * math.log1p(4 * a), 700.0))
    terms, squares = [], []
    for start in range(0, count, _CHUNK):
        drawn = source.random((min(_CHUNK, count - start), y.size)) * (1 + 4 * a)
        steps = (drawn < a).astype(np.float64) - (drawn >= 1 + 3 * a)
        values = _values(f, y + steps)
        signs = 1.0 - 2.0 * (np.count_nonzero(steps, axis=1) % 2)
        terms.append(worth * signs * values)
        squares.append(worth * signs * values**2)
    all_terms = np.concatenate(terms)
    added = float(all_terms.var(ddof=1)) / count
    size = float(np.abs(all_terms).mean())
    return _Sum(float(all_terms.mean()), float(np.concatenate(squares).mean()), size, added)


def _plug_in(f: Joint, y: Numbers, noise: DiscreteLaplace, seed: int, added: float = 0.0) -> Moments:
    """Return the errors of both answers if the noisy counts were the true ones, from seeded draws of the noise."""
    draws = _DRAWS if 3**y.size * _DRAWS <= 2**22 else max(16, 2**22 // 3 ** min(y.size, 16))
    points = y + noise.release(np.zeros((draws, y.size), np.int64), seed=seed).values
    naive = _values(f, points)
    here = float(_values(f, y[np.newaxis])[0])
    if 3**y.size <= MAX_TERMS:
        ours = np.array([_all(f, point, noise).value for point in points])
    else:
        source = np.random.default_rng(seed)
        ours = np.array([_sampled(f, point, noise, 2**10, source).value for point in points])
    both = np.cov(naive, ours)
    return Moments(float(naive.mean()) - here, float(both[0, 0]), float(both[1, 1]) + added, float(both[0, 1]))


def _values(f: Joint, points: Numbers) -> Floats:
    with np.errstate(all="ignore"):
        try:
            values = np.asarray(f(points.astype(np.float64)), np.float64)
        except (TypeError, IndexError):  # a function of integers only, or one that is wrong, which fails again
            values = np.asarray(f(points.astype(np.int64)), np.float64)
    if values.shape != (len(points),):
        rule = "return one value per row of the array it is called with"
        raise InvalidArgument("f", rule, f"shape {values.shape} for {points.shape}")
    if not np.isfinite(values).all():
        raise InvalidArgument("f", "be finite at the counts and their neighbours", "NaN or an infinite value")
    return values
