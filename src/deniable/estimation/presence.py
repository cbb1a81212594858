"""Which values are really present: one-sided tests of frequency 0, and how many of them may be wrong."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from deniable.validate import choice, strictly_between

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

CONTROLS = ("discoveries", "family")


def p_values(unbiased: Floats, noise: Floats, n: int) -> Floats:
    """The chance of an estimate this large for a value nobody has; `noise` is n Var at frequency 0."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        score = np.where(noise > 0, unbiased / np.sqrt(noise / n), 0.0)
    return np.asarray(ndtr(-score))


def significant(chances: Floats, rate: float, control: str = "discoveries") -> Mask:
    """The values to call present.

    "discoveries": of those called present, a share of at most `rate` is absent on average (Benjamini and Hochberg
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
