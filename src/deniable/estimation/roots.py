"""Where many functions that are nearly linear cross zero, all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deniable.core.arrays import Floats, Indices

_STEPS = 100
_CLOSE = 1e-9  # values of a function that count as zero
_NARROW = 2.0**-40  # of the interval given: where a function jumps


def crossing(
    inside: Floats, outside: Floats, start: Floats, slope: Floats, value: Callable[[Floats, Indices], Floats]
) -> Floats:
    """The points between `inside` and `outside`, on either side, at which the functions change sign.

    `value(points, places)` gives the functions at these places: nonnegative on the side of `inside`, negative or minus
    infinity on the other. The first step from `start` is by the `slope`, all others by the secant method. A step that
    leaves the interval that is known to hold the solution is replaced by halving it.
    """
    inside, outside, found = inside.copy(), outside.copy(), inside.copy()
    narrow = _NARROW * np.abs(outside - inside)
    places, at = np.arange(len(inside)), start
    here = value(at, places)
    for _ in range(_STEPS):
        kept, close = here >= 0, np.abs(here) <= _CLOSE
        inside[places[kept]], outside[places[~kept]] = at[kept], at[~kept]
        near, far = inside[places], outside[places]
        found[places] = np.where(close, at, near)
        left = ~close & (np.abs(far - near) > narrow[places])
        if not left.any():
            break
        near, far, slope, last, there = (part[left] for part in (near, far, slope, at, here))
        places = places[left]
        with np.errstate(invalid="ignore", divide="ignore"):
            at = last - there / slope
        lost = ~((np.minimum(near, far) < at) & (at < np.maximum(near, far)))
        at[lost] = (near[lost] + far[lost]) / 2
        here = value(at, places)
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = (here - there) / (at - last)
    return found
