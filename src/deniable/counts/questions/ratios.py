"""Ratios with noisy denominators: shares, means of a histogram, quotients of sums.

An unbiased 1/N is a sum over all totals near the noisy total. It requires a true total of at least one, below which 1/N
is extended by 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from deniable.core.arrays import Numbers
from deniable.core.errors import InvalidArgument
from deniable.core.validate import positive
from deniable.counts.answer import Answer
from deniable.counts.certain.balls import TOLERANCE, ball
from deniable.counts.certain.joint_error import Joint, Pair, certain_joint, joint_answer, simulated_moments
from deniable.counts.certain.total_answers import Part, TotalFormula, total_answer
from deniable.counts.certain.trinomial import digits
from deniable.counts.certain.unknown_total import NoisyTotal, relative_to
from deniable.counts.questions.sums import real_numbers
from deniable.counts.release import Release, as_release

_POSITIVE = "unbiased if the true denominator is at least one"


def mean(
    data: Any,
    values: Sequence[float],
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The mean of `values`, weighted by the counts: sum of v_i x_i over the sum of x_i.

    With values 1 and 0 it is the share of some counts in the total.

    >>> import deniable as dn
    >>> stays = dn.DiscreteLaplace(1.0).release([120, 80, 40, 10], seed=2)     # guests who stayed 1, 2, 3, 4 days
    >>> dn.ask.mean(stays, [1, 2, 3, 4]).unbiased
    True
    """
    release = as_release(data, epsilon, sensitivity)
    numbers = real_numbers(values, "values")
    if release.values.ndim > 1 or len(numbers) != release.size:
        raise InvalidArgument("values", f"be {release.size} numbers, one per count", values)
    formula = TotalFormula((Part(ball, lambda n: 1 / ball(n), numbers),))
    wide = max(numbers) - min(numbers) or max(map(abs, numbers)) or math.inf
    return total_answer("mean of the values", formula, release, scale=wide, tolerance=tolerance, best=best)


def ratio(
    data: Any,
    other: Any,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The sum of the counts over the sum of other counts, released with independent noise.

    With one count each it is the ratio of two counts; with a count and a number of persons, the mean per person.
    `other` is a release like `data`, or noisy counts with the same epsilon and sensitivity.
    """
    top = as_release(data, epsilon, sensitivity)
    bottom = other if isinstance(other, Release) else as_release(other, epsilon, sensitivity)
    limit = positive(tolerance=tolerance)

    def solve(numerators: Numbers, denominators: Numbers) -> tuple[Joint, float]:
        above, below = int(numerators.sum()), max(int(denominators.sum()), 1)
        naive = above / below

        def compute() -> list[Pair]:
            noisy = NoisyTotal(denominators, bottom.noise)
            inverse = noisy.table(lambda n: 1 / ball(n))
            value, square = noisy.alone(inverse), noisy.alone(inverse * inverse)
            # the square of a sum of n counts is estimated by Y^2 - 2 a n
            pair = Pair(above * value, (above**2 - 2 * top.size * ball(top.noise.a)) * square)
            return [relative_to(naive, pair)]

        return certain_joint(compute, limit, digits(bottom.size, bottom.noise) + 64)[0], naive

    def both(numerators: Numbers, denominators: Numbers) -> tuple[float, float]:
        found, naive = solve(numerators, denominators)
        return naive + found.value, naive

    joint, naive = solve(top.values, bottom.values)
    below = max(int(bottom.values.sum()), 1)
    return joint_answer(
        "ratio of sums",
        bottom,
        [joint],
        naive,
        naive,
        scale=max(abs(naive), math.sqrt(top.size) * top.std_error / below),
        best=best,
        moments_rule=lambda: simulated_moments(both, (top, bottom), naive),
        notes=(_POSITIVE,),
    )
