"""The smallest and the largest count, in linear time.

With M the largest noisy count, m_0 the number of noisy counts that are M and m_1 the number that are M - 1, the largest
true count is estimated without bias by M + 1 - (1 + a)^m_0 - (-a)^m_0 (1 + a)^m_1; the smallest by the mirror image.

Reference: Theorem 20 of Hillebrand et al. 2026.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.core.arrays import Numbers
from deniable.core.validate import positive
from deniable.counts.answer import Answer
from deniable.counts.certain.balls import TOLERANCE, ball
from deniable.counts.certain.joint_error import Joint, Pair, certain_joint, joint_answer, simulated_moments
from deniable.counts.noise import DiscreteLaplace
from deniable.counts.questions.order_statistics import count_range
from deniable.counts.release import Release, as_release


def maximum(
    data: Any,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The largest of the counts.

    >>> import deniable as dn
    >>> dn.ask.maximum(dn.DiscreteLaplace(2.0).release([3, 80, 15], seed=1)).unbiased
    True
    """
    return _extreme(as_release(data, epsilon, sensitivity), 1, "largest count", tolerance, best)


def minimum(
    data: Any,
    *,
    tolerance: float = TOLERANCE,
    epsilon: float | None = None,
    sensitivity: int | None = None,
    best: str = "unbiased",
) -> Answer:
    """The smallest of the counts."""
    return _extreme(as_release(data, epsilon, sensitivity), -1, "smallest count", tolerance, best)


def _extreme(release: Release, sign: int, question: str, tolerance: float, best: str) -> Answer:
    """Answer the maximum (sign 1), or the minimum (sign -1) as its mirror image."""
    limit, noise = positive(tolerance=tolerance), release.noise
    scale = count_range(np.array([release.values.min(), release.values.max()], object))
    joint, end = _beyond(release.values, sign, noise, limit)

    def both(values: Numbers) -> tuple[float, float]:
        each, there = _beyond(values, sign, noise, limit)
        return there + sign * each.value, float(there)

    return joint_answer(
        question,
        release,
        [joint._replace(value=sign * joint.value)],
        float(end),
        float(end),
        scale=scale,
        best=best,
        moments_rule=lambda: simulated_moments(both, release, float(end)),
    )


def _beyond(values: Numbers, sign: int, noise: DiscreteLaplace, tolerance: float) -> tuple[Joint, int]:
    """Return the distance from the noisy extreme to the true one (outwards is positive), and the noisy extreme."""
    end = int(values.max() if sign > 0 else values.min())
    here, under = (int(np.count_nonzero(values == each)) for each in (end, end - sign))

    bits = int((here + under) * math.log2(1 + float(noise.a))) + 64
    return certain_joint(lambda: [largest_pair(here, under, noise)], tolerance, bits)[0], end


def largest_pair(here: int, under: int, noise: DiscreteLaplace) -> Pair:
    """Unbiased answers to x - M and (x - M)^2, x the largest count; `here` noisy counts are M, `under` are M - 1."""
    a = ball(noise.a)
    # estimates of 1[x <= M] and of 1[x <= M - 1]; for smaller bounds they are 0, since some count is above
    s_0, s_1 = (1 + a) ** here, (-a) ** here * (1 + a) ** under
    return Pair(1 - s_0 - s_1, 1 - s_0 + s_1)
