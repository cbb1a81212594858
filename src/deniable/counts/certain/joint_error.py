"""From balls to an Answer, for questions that join many counts: the value, and the variance from the answer to f^2.

E[f_hat^2 - L(f^2)] = Var(f_hat), but for an f that joins counts the estimate can be negative. Then the absolute values
of the two parts are added: a bound that is too large rather than too small.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from deniable.counts.answer import Answer, UnreliableAnswer, settle
from deniable.counts.certain.balls import Certain, known, until
from deniable.counts.moments import Moments, Number, plain
from deniable.counts.operator.debias import theorem_5_factor
from deniable.counts.release import Release

NEGATIVE = (
    "the unbiased estimate of the variance was negative: the standard error is the root of f_hat^2 + |estimate of f^2|"
)
BEYOND = "the answer is beyond the largest float"
_LARGEST = sys.float_info.max
_DRAWS = 100
_SHARE = 1e-6


class Pair(NamedTuple):
    """Unbiased answers to f - c and to (f - c)^2, where c is a reference value near f."""

    value: Any
    square: Any


class Joint(NamedTuple):
    """f - c, the width of its ball, its variance, and whether the variance was estimated without bias."""

    value: float
    width: float
    variance: float
    estimated: bool


def variance_of(pair: Pair) -> tuple[float, bool]:
    """The estimate value^2 - square, or the bound value^2 + |square| if that is negative."""
    squared = pair.value * pair.value
    found = _float(squared - pair.square)
    return (found, True) if found >= 0 else (_float(squared + abs(pair.square)), False)


def certain_joint(compute: Callable[[], Sequence[Pair]], tolerance: float, bits: int = 128) -> list[Joint]:
    """Repeat `compute` in balls, with more digits until all values are certain to the tolerance.

    Variances are then certain to a millionth, or standard errors to a millionth of the tolerance.
    """

    def values() -> list[tuple[Certain, Certain, Joint]]:
        found = []
        for pair in compute():
            value, variance = known(pair.value), known(pair.value * pair.value - pair.square)
            found.append((value, variance, Joint(*value, *variance_of(pair))))
        return found

    def enough(found: list[tuple[Certain, Certain, Joint]]) -> bool:
        least = (_SHARE * tolerance) ** 2
        return all(
            value.width <= tolerance and variance.width <= max(_SHARE * abs(variance.value), least)
            for value, variance, _ in found
        )

    return [joint for *_, joint in until(enough, values, tolerance, bits)]


def joint_answer(
    question: str,
    release: Release,
    joints: Sequence[Joint],
    reference: Number,
    naive: Number,
    *,
    scale: float,
    best: str = "unbiased",
    moments_rule: Callable[[], Moments] | None = None,
    notes: tuple[str, ...] = (),
) -> Answer:
    """Return the settled answer reference + joints; an array of answers if `reference` is an array."""
    answer = assembled(question, release, joints, reference, naive, scale, notes)
    return settle(replace(answer, moments_rule=moments_rule), best)


def assembled(
    question: str,
    release: Release,
    joints: Sequence[Joint],
    reference: Number,
    naive: Number,
    scale: float,
    notes: tuple[str, ...],
) -> Answer:
    """Build the Answer; warnings and the choice of method are added by `settle`."""
    shape = np.shape(reference)
    values, widths, variances = (np.array(column).reshape(shape) for column in list(zip(*joints, strict=True))[:3])
    value = np.clip(np.asarray(reference, np.float64) + values, -_LARGEST, _LARGEST)
    beyond = np.isinf(values)
    if beyond.any():
        notes = (*notes, BEYOND if not shape else f"{int(beyond.sum()):,} answers are beyond the largest float")
    if not all(joint.estimated for joint in joints):
        notes = (*notes, NEGATIVE)
    return Answer(
        question=question,
        value=plain(value),
        std_error=plain(np.where(beyond, math.inf, np.sqrt(variances))),
        naive=plain(naive),
        width=float(widths.max()),
        factor=theorem_5_factor(release.noise, release.size),
        scale=scale,
        n=release.size,
        simulated=release.simulated,
        notes=notes,
    )


def simulated_moments(
    solve: Callable[..., tuple[Number, Number]], releases: Release | Sequence[Release], here: Number
) -> Moments:
    """Errors of the unbiased and the naive answer if the noisy counts were the true ones, from 100 seeded draws.

    `solve` returns both answers for the noisy counts of each release; `here` is the naive answer at these counts.
    Rare large errors are missed, so the variance of the unbiased answer tends to be underestimated.
    """
    every = [releases] if isinstance(releases, Release) else list(releases)
    pairs = []
    for draw in range(_DRAWS):
        seeds = range(draw * len(every), (draw + 1) * len(every))
        noisy = (each.noise.release(each.values, seed=seed).values for each, seed in zip(every, seeds, strict=True))
        pairs.append(solve(*noisy))
    ours, naive = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    away, off = ours - ours.mean(axis=0), naive - naive.mean(axis=0)
    share = 1 / (_DRAWS - 1)
    return Moments(
        plain(naive.mean(axis=0) - here),
        plain((off * off).sum(axis=0) * share),
        plain((away * away).sum(axis=0) * share),
        plain((off * away).sum(axis=0) * share),
    )


def _float(number: Any) -> float:
    return float(number.mid()) if hasattr(number, "mid") else float(number)


def warn_of_useless(answer: Answer) -> Answer:
    """Return the array of answers unchanged, with one warning about all that are useless."""
    many = int(np.count_nonzero(answer.useless))
    if not many:
        return answer
    text = f"{many:,} of {np.size(answer.value):,} answers have a standard error above the largest possible answer"
    warnings.warn(f"{answer.question}: {text}", UnreliableAnswer, stacklevel=3)
    return replace(answer, notes=(*answer.notes, f"useless: {text} ({answer.scale:.3g})"))
