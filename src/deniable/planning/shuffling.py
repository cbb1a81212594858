"""Reports that are shuffled: the largest local epsilon whose reports hide each other well enough."""

from __future__ import annotations

from collections.abc import Callable

from deniable.auditing.amplification.amplify import amplify
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.planning.question import Question

RESPONSE = "grr"
_PARTS = 1000  # an epsilon that was searched for is rounded down to a thousandth
_STEPS = 1.5  # by which it grows until it is too large


def largest_local(
    asked: Question, central: float, most: float, made: Callable[[float], Mechanism | None]
) -> float | None:
    """The largest local epsilon up to `most` whose shuffled reports have this central epsilon, but for delta.

    `made` makes the mechanism of an epsilon, or returns None where there is none.
    """

    def enough(epsilon: float) -> bool:
        mechanism = made(epsilon)
        if mechanism is None or asked.n is None or asked.others.delta is None:
            return False
        found = amplify(mechanism, n=asked.n, epsilon=central, liars=asked.others.liars or 0.0)
        return found.delta <= asked.others.delta

    low = _down(min(central, most))  # private enough without a shuffle
    if low <= 0 or made(low) is None:
        return None
    high = low
    while high < most and enough(high):
        low, high = high, min(most, max(_STEPS * high, high + 1 / _PARTS))
    if high == most and enough(most):
        return most
    while high - low > 1 / _PARTS:
        middle = (low + high) / 2
        low, high = (middle, high) if enough(middle) else (low, middle)
    return _down(low)


def _down(epsilon: float) -> float:
    return int(epsilon * _PARTS + 1e-6) / _PARTS
