"""Answers to formulas in the counts and their unknown total, on top of unknown_total.py and joint_error.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import positive
from deniable.counts.answer import Answer
from deniable.counts.certain.balls import ball, precision
from deniable.counts.certain.joint_error import (
    Joint,
    Pair,
    certain_joint,
    joint_answer,
    simulated_moments,
    warn_of_useless,
)
from deniable.counts.certain.trinomial import digits
from deniable.counts.certain.unknown_total import NoisyTotal, Rule, relative_to
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.release import Release

_SLACK = 64
UNKNOWN = "the total was not given: it is estimated by the sum of the noisy counts"


@dataclass(frozen=True)
class Part:
    """T g(N), T = sum over i of factor_i f(x_i)."""

    f: Rule
    g: Rule
    factors: Sequence[float] | None = None


@dataclass(frozen=True)
class TotalFormula:
    """g_0(N) + sum of parts, with functions from whole numbers to balls; totals below one count as one."""

    parts: tuple[Part, ...]
    alone: Rule | None = None

    def naive(self, values: Numbers) -> float:
        """The formula at the noisy counts themselves."""
        counts = [int(value) for value in values.reshape(-1)]
        total = max(sum(counts), 1)
        with precision(128):
            value = ball(0) if self.alone is None else self.alone(total)
            for part in self.parts:
                terms = (part.f(count) for count in counts)
                if part.factors is not None:
                    terms = (factor * term for factor, term in zip(part.factors, terms, strict=True))
                value += sum(terms, ball(0)) * part.g(total)
            return float(value.mid())

    def unbiased(self, values: Numbers, noise: DiscreteLaplace, tolerance: float, reference: float) -> Joint:
        """The unbiased answer minus a reference value near it, and its variance."""

        def compute() -> list[Pair]:
            noisy = NoisyTotal(values, noise)
            parts = [(noisy.sum_of(part.f, part.factors), noisy.table(part.g)) for part in self.parts]
            alone = None if self.alone is None else noisy.table(self.alone)
            return [relative_to(reference, noisy.answer(alone, parts))]

        return certain_joint(compute, tolerance, digits(values.size, noise) + _SLACK)[0]


def total_answer(
    question: str, formula: TotalFormula, release: Release, *, scale: float, tolerance: float, best: str
) -> Answer:
    """Answer a formula about a vector of counts, or one per row of a matrix."""
    limit, noise = positive(tolerance=tolerance), release.noise
    if release.values.ndim > 2:
        raise InvalidArgument("data", "be a vector or a matrix of counts", release.shape)
    rows = [release.values.reshape(-1)] if release.values.ndim <= 1 else list(release.values)
    naive = [formula.naive(row) for row in rows]
    joints = [formula.unbiased(row, noise, limit, here) for row, here in zip(rows, naive, strict=True)]
    if release.values.ndim > 1:
        answer = joint_answer(
            question, release, joints, np.array(naive), naive, scale=scale, best=best, notes=(UNKNOWN,)
        )
        return warn_of_useless(answer)

    def both(values: Numbers) -> tuple[float, float]:
        here = formula.naive(values)
        return here + formula.unbiased(values, noise, limit, here).value, here

    return joint_answer(
        question,
        release,
        joints,
        naive[0],
        naive[0],
        scale=scale,
        best=best,
        moments_rule=lambda: simulated_moments(both, release, naive[0]),
        notes=(UNKNOWN,),
    )
