"""What a check says when it fails: plain sentences, without a test framework to explain a bare assertion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


def require(holds: object, why: str) -> None:
    """Raise AssertionError with this reason unless the condition holds; unlike `assert`, also under `python -O`."""
    if not holds:
        raise AssertionError(why)


def require_equal(found: Any, wanted: Any, what: str) -> None:
    """Raise AssertionError with both values unless they are equal."""
    require(found == wanted, f"{what} must be {wanted!r}, got {found!r}")


def require_close(found: Any, wanted: Any, what: str, *, scale: float = 1.0) -> None:
    """Raise AssertionError unless all entries agree within 1e-11, times `scale` if it is more than 1."""
    apart = float(np.abs(np.asarray(found) - wanted).max())
    most = 1e-11 * max(1.0, scale)
    require(apart <= most, f"{what} must agree within {most:.3g}; they are {apart:.6g} apart")


def require_alike(found: Any, wanted: Any, what: str, rtol: float = 1e-12) -> None:
    """Raise AssertionError unless all entries agree up to this relative error."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    require_equal(found.shape, wanted.shape, f"the shape of {what}")
    wrong = ~(np.abs(found - wanted) <= rtol * np.abs(wanted))
    if wrong.any():
        at = tuple(int(place) for place in np.argwhere(wrong)[0])
        require(False, f"{what} must be {wanted[at]!r} at {at}, got {found[at]!r} (relative tolerance {rtol:g})")


@contextmanager
def refused(error: type[Exception], pattern: str = "", what: str = "this") -> Iterator[list[str]]:
    """Expect the block to raise this error with a message that matches; the list then holds the message."""
    message: list[str] = []
    try:
        yield message
    except error as reason:
        message.append(str(reason))
        require(re.search(pattern, str(reason)), f"{what} must be refused with {pattern!r}, got: {reason}")
        return
    raise AssertionError(f"{what} must be refused with {error.__name__}, and was accepted")


def one_line(message: str) -> None:
    """A refusal is one line."""
    require("\n" not in message, f"a refusal must be one line, got {message!r}")
