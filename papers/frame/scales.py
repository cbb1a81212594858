"""Axes: where a number stands, and which numbers are written beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from papers.frame.words import short

_MARGIN = 0.04  # of the axis, on either side
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic axis from `low` to `high`."""

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """The position of a number, 0 at the low end and 1 at the high one; NaN if it has none."""
        if not math.isfinite(value) or (self.log and value <= 0):
            return math.nan
        at, low, high = (math.log10(each) if self.log else each for each in (value, self.low, self.high))
        return (at - low) / (high - low)

    def ticks(self) -> list[tuple[float, str]]:
        """The numbers to write, with their texts.

        >>> [text for _, text in Scale(0.5, 2000, log=True).ticks()]
        ['1', '10', '100', '1,000']
        >>> [text for _, text in Scale(-0.1, 1.1).ticks()]
        ['0', '0.5', '1']
        """
        if self.log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            if last - first >= 2:
                step = -(-(last - first) // 5)
                return [(10.0**power, _decade(power)) for power in range(first, last + 1, step)]
            within = [m * 10.0**power for power in range(first - 1, last + 1) for m in (1, 2, 5)]
            found = [each for each in within if self.low <= each <= self.high]
            if len(found) >= 2:
                return [(each, short(each)) for each in found]
        return [(each, short(each)) for each in _round_numbers(self.low, self.high)]


def scale(values: Iterable[float], *, log: bool = False) -> Scale:
    """Return the axis that shows all of these numbers, with a margin."""
    found = [each for each in values if math.isfinite(each) and (each > 0 or not log)]
    if not found:
        return Scale(0.1, 1.0, log) if log else Scale(0.0, 1.0)
    low, high = min(found), max(found)
    if log:
        margin = (high / low) ** _MARGIN if high > low else 1.5
        return Scale(low / margin, high * margin, log=True)
    margin = _MARGIN * (high - low) if high - low > 1e-12 * max(abs(high), abs(low)) else 0.1 * abs(high) or 1.0
    return Scale(low - margin, high + margin)


def share(one: Scale, whole: Scale) -> float:
    """The part of an axis that another one covers."""
    return whole.place(one.high) - whole.place(one.low)


def _round_numbers(low: float, high: float) -> list[float]:
    """At most five round numbers in an interval."""
    size = 10.0 ** math.floor(math.log10((high - low) / 4))
    step = next(each * size for each in (1, 2, 5, 10, 20) if (high - low) / (each * size) <= 4)
    first = math.ceil(low / step - 1e-9)
    return [round(number * step, 12) for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _decade(power: int) -> str:
    """A power of ten, in digits where they are few."""
    return short(10.0**power) if -3 < power < 5 else f"10{str(power).translate(_RAISED)}"
