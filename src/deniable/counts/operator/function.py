"""A function of one count, as the operator sees it: values at all integers, including negative ones.

True counts are never negative, but noisy counts can be. Any extension below zero keeps an answer unbiased for true
counts of zero and above, but it changes the error of small counts; so the caller chooses it, and it is never guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Numbers
from deniable.core.errors import InvalidArgument
from deniable.counts.whole import fits_floats

BELOW = ("f", "constant", "linear", "zero")


@dataclass(frozen=True)
class Function:
    """f and its extension below zero, evaluated at many integers at once.

    `below` is "f" (f itself), "constant" (f(0)), "linear" (the line through f(0) and f(1)), "zero", a number, or
    another function.
    """

    rule: Callable[[Any], Any]
    below: Any = "f"

    @staticmethod
    def of(f: Any, below: Any = None) -> Function:
        """Make one from a callable of an array, or from an array f(0), f(1), ... whose last value holds beyond it."""
        if isinstance(f, Function):
            return f if below is None else Function(f.rule, below)
        if callable(f):
            return Function(f, _checked_below("f" if below is None else below))
        values = np.asarray(f, np.float64) if not isinstance(f, (str, bytes)) else np.zeros((0, 0))
        if values.ndim != 1 or not values.size:
            raise InvalidArgument("f", "be a function of an array, or the values f(0), f(1), ...", f)
        checked = _checked_below("constant" if below is None else below)
        if isinstance(checked, str) and checked == "f":
            hint = "Use constant, linear, zero, a number or a function."
            raise InvalidArgument("below", "extend an array of values below zero", below, hint)
        return Function(_Listed(values), checked)

    def __call__(self, points: Numbers) -> Numbers:
        """Return the values at these integers: floats, or objects where floats cannot represent the integers."""
        if isinstance(self.below, str) and self.below == "f":
            return self.evaluate(points)
        negative = points < 0
        if not negative.any():
            return self.evaluate(points)
        values = np.array(self.evaluate(np.maximum(points, 0)))  # "constant" is this already
        if callable(self.below):
            values[negative] = Function(self.below).evaluate(points[negative])
        elif self.below == "linear":
            at_zero, at_one = self.evaluate(np.array([0, 1]))
            values[negative] += (at_one - at_zero) * points[negative]
        elif self.below != "constant":
            values[negative] = 0.0 if self.below == "zero" else self.below
        return values

    def evaluate(self, points: Numbers) -> Numbers:
        """Return f itself at these integers, called with floats if those represent the integers."""
        small = points.dtype == np.float64 or points.size == 0 or fits_floats(points)
        argument = points.astype(np.float64, copy=False) if small else points.astype(object)
        with np.errstate(all="ignore"):  # the results are checked by the caller
            values = np.asarray(self.rule(argument))
        if values.shape != points.shape:
            if values.ndim:
                hint = "It is called with an array; np.vectorize adapts a function of one number."
                got = f"shape {values.shape} for {points.shape}"
                raise InvalidArgument("f", "return one value per count", got, hint)
            values = np.full(points.shape, values)
        if values.dtype.kind == "c":
            raise InvalidArgument("f", "have real values", f"an array of {values.dtype}")
        try:
            return values if values.dtype == object and not small else values.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise InvalidArgument("f", "have real values", f"an array of {values.dtype}") from None

    def at(self, points: Numbers) -> Numbers:
        """Return the values at these integers; refuse an f that is not finite there."""
        values = self(points)
        wrong = ~np.isfinite(values.astype(np.float64))
        if wrong.any():
            place = points[wrong].flat[0]
            kind = "NaN" if np.isnan(values[wrong].flat[0]) else "an infinite value"
            hint = "Extend f below zero with below=." if place < 0 else ""
            raise InvalidArgument("f", "be finite at every count and its neighbours", f"{kind} at {place}", hint)
        return values

    def around(self, values: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return the values at y - 1, y and y + 1; the caller checks that they are finite."""
        points = values - 1, values, values + 1  # all made before f is called, which may change its argument
        if values.dtype == object or (not (isinstance(self.below, str) and self.below == "f") and values.min() < 1):
            down, here, up = map(self, points)
        else:
            down, here, up = map(self.evaluate, points)
        return down, here, up

    @property
    def extension(self) -> str:
        """The extension below zero, in words."""
        if callable(self.below):
            return "the function given as below"
        return {"f": "f itself", "constant": "f(0)", "linear": "the line through f(0) and f(1)", "zero": "0"}.get(
            self.below, f"{self.below}"
        )


@dataclass(frozen=True)
class _Listed:
    """f(0), f(1), ... from an array."""

    values: Floats

    def __call__(self, points: Any) -> Any:
        last = len(self.values) - 1
        return self.values[np.clip(points, 0, last).astype(np.int64)]


def _checked_below(below: Any) -> Any:
    if callable(below) or (isinstance(below, str) and below in BELOW):
        return below
    if isinstance(below, (bool, str)) or not np.isscalar(below) or not np.isfinite(below):
        raise InvalidArgument("below", f"be one of {', '.join(BELOW)}, a number or a function", below)
    return float(below)  # type: ignore[arg-type]
