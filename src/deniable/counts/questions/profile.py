"""Counts of counts: the number of counts that are at least t, and the number that are exactly r, for all r.

Reference: section E.4 of Hillebrand et al. 2026; Ghazi, Kamath, Kumar, Manurangsi 2022, Lemma 10.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.validate import whole
from deniable.counts.answer import Answer, settle
from deniable.counts.moments import Moments, plain
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.operator.function import Function
from deniable.counts.operator.growth import Growth
from deniable.counts.operator.plug_in import moments_of, reach, smoothed
from deniable.counts.operator.separable import ROUNDING
from deniable.counts.release import as_release

MAX_PROFILE = 2**24
_FARTHEST = 2**22  # steps of the noise held in memory
SMALL = 1000  # the profile ends at the largest noisy count, or here if that is larger, by default


def threshold(
    data: Any,
    at: int = 1,
    *,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The number of counts that are at least `at`; with 1, the number of counts that are not zero.

    Formula: #{y > t} + (1 + a) #{y = t} - a #{y = t - 1}; its variance is estimated without bias by
    a (1 + a) (#{y = t} + #{y = t - 1}).
    """
    release = as_release(data, epsilon, sensitivity)
    if isinstance(at, bool) or not isinstance(at, (int, np.integer)):
        raise InvalidArgument("at", "be a whole number", at)
    values, a, q = release.values.reshape(-1), float(release.noise.a), float(release.noise.q)
    above, here, under = (int(np.count_nonzero(found)) for found in (values > at, values == at, values == at - 1))
    answer = Answer(
        question=f"counts of at least {at}",
        value=above + (1 + a) * here - a * under,
        std_error=math.sqrt(a * (1 + a) * (here + under)),
        naive=float(above + here),
        width=release.size * ROUNDING * (1 + 2 * a),
        factor=theorem_5_factor(release.noise),
        scale=float(release.size),
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: moments_of(_at_least(int(at)), release.noise, release.values, "sum", None, Growth(0.0)),
    )

    def known() -> float:
        """The expectation of the estimated variance at the noisy counts, whatever their size."""
        steps = np.abs((values - int(at)).astype(np.float64)), np.abs((values - int(at) + 1).astype(np.float64))
        return a * (1 + a) * (1 - q) / (1 + q) * sum(float((q**step).sum()) for step in steps)

    return settle(answer, best, known)


def _at_least(at: int) -> Function:
    return Function.of(lambda x: (x >= at) * 1.0)


def profile(
    data: Any,
    most: int | None = None,
    *,
    fraction: bool = False,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The number of counts that are exactly r, for r = 0, 1, ..., most: an answer with an array of values.

    `most` is by default the largest noisy count, at most 1000; `fraction` divides by the number of counts. "Exactly
    0" is computed as "at most 0", which is the same for true counts and has less variance.

    Formula: (1 + 2a) p_r - a (p_(r-1) + p_(r+1)), p the profile of the noisy counts; for r = 0,
    #{y < 0} + (1 + a) p_0 - a p_1. The variance is estimated without bias by
    2a (1 + 2a) p_r + a (1 + a) (p_(r-1) + p_(r+1)); for r = 0 by a (1 + a) (p_0 + p_1).
    Cost: linear.
    """
    release = as_release(data, epsilon, sensitivity)
    values, a = release.values.reshape(-1), float(release.noise.a)
    if most is None:
        most = min(max(int(values.max()), 0), SMALL)
    most = whole(0, MAX_PROFILE, most=most)
    p = occurrences(values, -1, most + 1)
    under, here, over = p[:-2], p[1:-1], p[2:]
    value = (1 + 2 * a) * here - a * (under + over)
    variance = 2 * a * (1 + 2 * a) * here + a * (1 + a) * (under + over)
    naive = here.copy()
    negative = float(np.count_nonzero(values < 0))
    value[0] = negative + (1 + a) * here[0] - a * over[0]
    variance[0] = a * (1 + a) * (here[0] + over[0])
    naive[0] += negative
    share = 1 / release.size if fraction else 1.0
    answer = Answer(
        question=f"{'share' if fraction else 'number'} of counts that are 0 to {most}",
        value=plain(value * share),
        std_error=plain(np.sqrt(variance) * share),
        naive=plain(naive * share),
        width=release.size * share * ROUNDING * (1 + 4 * a),
        factor=theorem_5_factor(release.noise),
        scale=release.size * share,
        n=release.size,
        simulated=release.simulated,
        moments_rule=lambda: _moments(values, most, release.noise, share),
        notes=(f"{int(negative):,} noisy counts are negative and counted as 0",) if negative else (),
    )
    return settle(answer, best, lambda: _known_variance(values, most, release.noise) * share**2)


def _known_variance(values: Numbers, most: int, noise: DiscreteLaplace) -> Floats:
    """The expectations of the estimated variances at the noisy counts: sums of positive terms, so never 0."""
    far, a = _farthest(values, most, noise), float(noise.a)
    p = occurrences(values, -far - 1, most + far + 1)
    smooth = smoothed(p, float(noise.q))[far:-far]
    under, here, over = smooth[:-2], smooth[1:-1], smooth[2:]
    variance = np.asarray(2 * a * (1 + 2 * a) * here + a * (1 + a) * (under + over))
    variance[0] = a * (1 + a) * (here[0] + over[0])
    return variance


def _farthest(values: Numbers, most: int, noise: DiscreteLaplace) -> int:
    """The largest step of the noise that matters: one that is likely enough, and leads from a count to an answer."""
    far = min(reach(noise), max(most - int(values.min()), int(values.max()), 1))
    if far > _FARTHEST:
        hint = "The counts are too far apart for the errors of other methods at this epsilon."
        raise InvalidArgument("best", "be unbiased here", "another", hint)
    return far


def _moments(values: Numbers, most: int, noise: DiscreteLaplace, share: float) -> Moments:
    """The errors of all answers at the plug-in: sums over the noisy counts y of functions of r - y."""
    with needed():
        from scipy.signal import fftconvolve

    far, a = _farthest(values, most, noise), float(noise.a)
    steps = np.arange(-far - 1, far + 2)
    q = float(noise.q)
    chance = (1 - q) / (1 + q) * q ** np.abs(steps)
    up, down, here, none = chance[2:], chance[:-2], chance[1:-1], (steps[1:-1] == 0) * 1.0
    weights = occurrences(values, -far, most + far)

    def added(of_step: Floats) -> Floats:
        return np.asarray(fftconvolve(weights, of_step, mode="valid"))

    # for 1[x = r]: the naive answer has the probability of the step r - y; the square of the unbiased one is
    # (1 + 2a)^2 there and a^2 on both sides
    bias = added(here - none)
    naive = added(here * (1 - here))
    unbiased = added((1 + 2 * a) ** 2 * here + a * a * (up + down) - none)
    both = added((1 + 2 * a) * here - here * none)
    # for r = 0: 1[x <= 0]
    zero = moments_of(Function.of(lambda x: (x <= 0) * 1.0), noise, values, "sum", None, Growth(0.0))
    at_zero = (zero.bias, zero.naive_variance, zero.variance, zero.covariance)
    for part, moment in zip((bias, naive, unbiased, both), at_zero, strict=True):
        part[0] = moment
    return Moments(bias * share, naive * share**2, unbiased * share**2, both * share**2)


def occurrences(values: Numbers, low: int, high: int) -> Floats:
    """The number of values that are low, low + 1, ..., high."""
    kept = values[(values >= low) & (values <= high)]
    return np.bincount((kept - low).astype(np.int64), minlength=high - low + 1).astype(np.float64)
