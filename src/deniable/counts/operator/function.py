"""A function of one count, as the operator sees it: values at whole numbers, also below zero.

Counts are not negative, but noisy counts are. Any way to go on below zero keeps an answer unbiased for true counts of
zero and more; it changes the error of small counts, so it is said, never guessed.
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
    """f and how it goes on below zero, ready to be evaluated at many whole numbers at once.

    `below` is "f" (f itself), "constant" (f(0)), "linear" (the line through f(0) and f(1)), "zero", a number, or
    a function of its own.
    """

    rule: Callable[[Any], Any]
    below: Any = "f"

    @staticmethod
    def of(f: Any, below: Any = None) -> Function:
        """A callable of an array, or an array of f(0), f(1), ..., whose last value is that of all larger counts."""
        if isinstance(f, Function):
            return f if below is None else Function(f.rule, below)
        if callable(f):
            return Function(f, _checked_below("f" if below is None else below))
        values = np.asarray(f, np.float64) if not isinstance(f, (str, bytes)) else np.zeros((0, 0))
        if values.ndim != 1 or not values.size:
            raise InvalidArgument("f", "be a function of an array, or the values f(0), f(1), ...", f)
        checked = _checked_below("constant" if below is None else below)
        if isinstance(checked, str) and checked == "f":
            raise InvalidArgument("below", "say how an array of values goes on: constant, linear, zero", below)
        return Function(_Listed(values), checked)

    def __call__(self, points: Numbers) -> Numbers:
        """The values at these whole numbers; floats, or objects where floats do not hold the numbers."""
        if isinstance(self.below, str) and self.below == "f":
            return self.evaluate(points)
        negative = points < 0
        if not negative.any():
            return self.evaluate(points)
        values = np.array(self.evaluate(np.maximum(points, 0)))  # "constant" is this already
        if callable(self.below):
            values[negative] = Function(self.below).evaluate(points[negative])
        elif self.below == "linear":
            first = self.evaluate(np.array([0, 1]))
            values[negative] += (first[1] - first[0]) * points[negative]
        elif self.below != "constant":
            values[negative] = 0.0 if self.below == "zero" else self.below
        return values

    def evaluate(self, points: Numbers) -> Numbers:
        """f itself at these whole numbers, as floats if those hold them."""
        small = points.dtype == np.float64 or points.size == 0 or fits_floats(points)
        argument = points.astype(np.float64, copy=False) if small else points.astype(object)
        with np.errstate(all="ignore"):  # what comes of it is looked at below
            values = np.asarray(self.rule(argument))
        if values.shape != points.shape:
            if values.ndim:
                rule = "give one value per count (it is called with an array; np.vectorize helps)"
                raise InvalidArgument("f", rule, f"shape {values.shape} for {points.shape}")
            values = np.full(points.shape, values)
        if values.dtype.kind == "c":
            raise InvalidArgument("f", "have real values", f"an array of {values.dtype}")
        try:
            return values if values.dtype == object and not small else values.astype(np.float64, copy=False)
        except (TypeError, ValueError):
            raise InvalidArgument("f", "have real values", f"an array of {values.dtype}") from None

    def at(self, points: Numbers) -> Numbers:
        """The same, refused where f has no finite value."""
        values = self(points)
        wrong = ~np.isfinite(values.astype(np.float64))
        if wrong.any():
            place = points[wrong].flat[0]
            kind = "NaN" if np.isnan(values[wrong].flat[0]) else "an infinite value"
            help_text = "; say with below= how f goes on below zero" if place < 0 else ""
            raise InvalidArgument("f", f"be finite at every count and its neighbours{help_text}", f"{kind} at {place}")
        return values

    def around(self, values: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The values at y - 1, y and y + 1; what is not finite is the caller's to notice."""
        points = values - 1, values, values + 1  # all made before f is called, which may change what it is given
        if values.dtype == object or (not (isinstance(self.below, str) and self.below == "f") and values.min() < 1):
            down, here, up = map(self, points)
        else:
            down, here, up = map(self.evaluate, points)
        return down, here, up

    @property
    def continued(self) -> str:
        """How it goes on below zero, in words."""
        if callable(self.below):
            return "a function of its own"
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
