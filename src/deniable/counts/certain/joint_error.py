"""Errors of answers that join many counts: values in balls, and the variance from the answer to f^2.

E[f_hat^2 - L(f^2)] = Var(f_hat), but for an f that joins counts the estimate can be negative. Then the two parts are
taken without their signs: a bound that is too large rather than too small.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from deniable.counts.answer import Answer, Moments, Number, UnreliableAnswer, plain, settle
from deniable.counts.certain.balls import Certain, known, until
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
    """Unbiased answers to f - c and to (f - c)^2, for some number c near f."""

    first: Any
    square: Any


class Joint(NamedTuple):
    """f - c with the width of its certainty, its variance, and whether the variance was estimated without bias."""

    value: float
    width: float
    variance: float
    estimated: bool


def variance_of(pair: Pair) -> tuple[float, bool]:
    """The estimate first^2 - square, or the bound first^2 + |square| if that is negative."""
    own = pair.first * pair.first
    found = _float(own - pair.square)
    return (found, True) if found >= 0 else (_float(own + abs(pair.square)), False)


def certain_joint(compute: Callable[[], Sequence[Pair]], tolerance: float, bits: int = 128) -> list[Joint]:
    """What `compute` returns, in balls, with precision raised until all values are certain to the tolerance.

    The variances are certain to a millionth, or standard errors to a millionth of the tolerance.
    """

    def values() -> list[tuple[Certain, Certain, Joint]]:
        found = []
        for pair in compute():
            own, spread = known(pair.first), known(pair.first * pair.first - pair.square)
            found.append((own, spread, Joint(*own, *variance_of(pair))))
        return found

    def enough(found: list[tuple[Certain, Certain, Joint]]) -> bool:
        least = (_SHARE * tolerance) ** 2
        return all(
            own.width <= tolerance and spread.width <= max(_SHARE * abs(spread.value), least)
            for own, spread, _ in found
        )

    return [joint for *_, joint in until(enough, values, tolerance, bits)]


def joint_answer(
    question: str,
    release: Release,
    joints: Sequence[Joint],
    centre: Number,
    naive: Number,
    *,
    scale: float,
    best: str = "unbiased",
    moments_rule: Callable[[], Moments] | None = None,
    notes: tuple[str, ...] = (),
) -> Answer:
    """The answer centre + f, settled; one, or an array of them if `centre` is one."""
    answer = assembled(question, release, joints, centre, naive, scale, notes)
    return settle(replace(answer, moments_rule=moments_rule), best)


def assembled(
    question: str,
    release: Release,
    joints: Sequence[Joint],
    centre: Number,
    naive: Number,
    scale: float,
    notes: tuple[str, ...],
) -> Answer:
    """The parts of an answer put together; what to think of it is not said yet."""
    shape = np.shape(centre)
    values, widths, variances = (np.array(column).reshape(shape) for column in list(zip(*joints, strict=True))[:3])
    value = np.clip(np.asarray(centre, np.float64) + values, -_LARGEST, _LARGEST)
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
    """Errors of the unbiased and the naive answer if the noisy counts were the true ones, by 100 seeded noises.

    `solve` gives both answers for the noisy counts of each release; `here` is the naive one at the counts themselves.
    Rare large errors are missed: the variance of the unbiased answer is rather larger.
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
    """The array of answers as it is, with one warning for all that are useless."""
    many = int(np.count_nonzero(answer.useless))
    if not many:
        return answer
    text = f"{many:,} of {np.size(answer.value):,} answers have a standard error above what they can be"
    warnings.warn(f"{answer.question}: {text}", UnreliableAnswer, stacklevel=3)
    return replace(answer, notes=(*answer.notes, f"useless: {text} ({answer.scale:.3g})"))
