"""Inference after selection: intervals for strings that were chosen because they stood out, and what could be found.

An estimate X of frequency f, normal with standard deviation s, is shown only if X > t. Given that, its distribution is
a truncated normal; inverting it gives intervals that cover at their level among the strings shown, and a median that is
too large as often as too small.

Reference: Weinstein, Fithian, Benjamini 2013, "Selection adjusted confidence intervals".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.extras import needed

_BELOW, _ABOVE, _HALVINGS = 60.0, 12.0, 70


def given_selection(estimate: Floats, error: Floats, threshold: Floats, chance: float) -> Floats:
    """The frequency at which an estimate that passed the threshold is at least this large with this probability."""
    with needed():
        from scipy.special import log_ndtr

    low, high = estimate - _BELOW * error, estimate + _ABOVE * error
    wanted = np.log(chance)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        # log Pr[X > x | X > t], which increases with f
        reached = log_ndtr((middle - estimate) / error) - log_ndtr((middle - threshold) / error) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.asarray((low + high) / 2)


def found_from(steps: Sequence[tuple[float, Callable[[float], float]]], chance: float) -> float:
    """The smallest frequency that passes all thresholds with this probability; each has an error, given f."""
    normal = NormalDist()

    def passes(f: float) -> float:
        together = 1.0
        for threshold, error in steps:
            together *= normal.cdf((f - threshold) / max(error(f), 1e-300))
        return together

    low, high = 0.0, 1.0
    if passes(high) < chance:
        return 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if passes(middle) >= chance else (middle, high)
    return high
