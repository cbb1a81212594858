"""Checks of arguments, all with the same wording: name, rule, value.

Each function takes the argument by keyword, so that the message can name it: `positive(epsilon=epsilon)`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable

from deniable.core.errors import InvalidArgument


def positive(**named: object) -> float:
    """Return a finite number above zero."""
    (name, value), *_ = named.items()
    number = _real(name, value, "be a positive number")
    if not number > 0 or math.isinf(number):
        raise InvalidArgument(name, "be positive" if not number > 0 else "be finite", value)
    return number


def between(low: float, high: float, /, **named: object) -> float:
    """Return a number from low to high, both allowed."""
    (name, value), *_ = named.items()
    rule = f"be a number from {low:g} to {high:g}"
    number = _real(name, value, rule)
    if not low <= number <= high:
        raise InvalidArgument(name, rule, value)
    return number


def strictly_between(low: float, high: float, /, **named: object) -> float:
    """Return a number above low and below high."""
    (name, value), *_ = named.items()
    rule = f"lie strictly between {low:g} and {high:g}"
    number = _real(name, value, rule)
    if not low < number < high:
        percent = (low, high) == (0, 1) and 1 < number < 100
        raise InvalidArgument(name, rule, value, f"For {number:g}% give {number / 100:g}." if percent else "")
    return number


def whole(low: int, high: int | None = None, /, **named: object) -> int:
    """Return a whole number from low to high, both allowed; NumPy integers are accepted, bools are not."""
    (name, value), *_ = named.items()
    rule = f"be a whole number from {low} to {high}" if high is not None else f"be a whole number, at least {low}"
    if isinstance(value, bool):
        raise InvalidArgument(name, rule, value)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InvalidArgument(name, rule, value) from None
    if number < low or (high is not None and number > high):
        raise InvalidArgument(name, rule, value)
    return number


def choice(options: Iterable[str], /, **named: object) -> str:
    """Return one of the options."""
    (name, value), *_ = named.items()
    words = list(options)
    if not isinstance(value, str) or value not in words:
        from deniable.core.suggest import did_you_mean

        raise InvalidArgument(name, "be one of " + ", ".join(words), value, did_you_mean(value, words))
    return value


def _real(name: str, value: object, rule: str) -> float:
    if isinstance(value, (bool, str, bytes)):
        raise InvalidArgument(name, rule, value)
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgument(name, rule, value) from None
    if math.isnan(number):
        raise InvalidArgument(name, rule, value)
    return number
