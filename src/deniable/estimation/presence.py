"""Tests of presence: one-sided tests of frequency 0, with a bound on wrong discoveries."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Floats, Mask
from deniable.core.extras import needed
from deniable.core.validate import choice, strictly_between

_LEAST_SKEWNESS = 1e-4  # below, a gamma variable is normal to working precision
CONTROLS = ("discoveries", "family")


def p_values(unbiased: Floats, noise: Floats, n: int, skewness: float | Floats = 0.0) -> Floats:
    """The chance of an estimate this large for an absent value; `noise` is n Var at frequency 0.

    Estimates are taken as normal, or, where they are skewed to the right, as gamma variables of the same skewness:
    far out, where many values are tested, sums of few reports exceed normal ones more often.
    """
    with needed():
        from scipy.special import gammaincc, ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(noise > 0, unbiased / np.sqrt(noise / n), 0.0)
    shape = _shape(skewness)
    leaning = gammaincc(shape, np.maximum(shape + score * np.sqrt(shape), 0.0))
    return np.asarray(np.where(np.asarray(skewness) > _LEAST_SKEWNESS, leaning, ndtr(-score)))


def score_at(chance: float, skewness: float | Floats = 0.0) -> Floats:
    """The score that the estimate of an absent value exceeds with this chance: the inverse of `p_values`."""
    with needed():
        from scipy.special import gammainccinv, ndtri

    shape = _shape(skewness)
    leaning = (gammainccinv(shape, chance) - shape) / np.sqrt(shape)
    return np.asarray(np.where(np.asarray(skewness) > _LEAST_SKEWNESS, leaning, -ndtri(chance)))


def _shape(skewness: float | Floats) -> Floats:
    # Pearson's type III: (G - a)/sqrt(a) with G gamma of shape a = 4/skewness^2
    return np.asarray(4 / np.maximum(skewness, _LEAST_SKEWNESS) ** 2)


def significant(chances: Floats, rate: float, control: str = "discoveries") -> Mask:
    """The values to call present.

    "discoveries": on average at most a share `rate` of the values called present is absent (Benjamini and Hochberg
    1995; for independent or positively dependent estimates). "family": the chance that any absent value is called
    present is at most `rate` (Holm 1979; always).
    """
    rate = strictly_between(0, 1, rate=rate)
    choice(CONTROLS, control=control)
    count = len(chances)
    order = np.argsort(chances, kind="stable")
    if control == "discoveries":
        passed = chances[order] <= rate * np.arange(1, count + 1) / count
        number = int(np.flatnonzero(passed)[-1]) + 1 if passed.any() else 0
    else:
        failed = chances[order] > rate / np.arange(count, 0, -1)
        number = int(np.argmax(failed)) if failed.any() else count
    present = np.zeros(count, bool)
    present[order[:number]] = True
    return present
