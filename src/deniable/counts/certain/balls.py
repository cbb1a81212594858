"""Ball arithmetic for sums that cancel: precision is raised until the result is certain.

The weights of neighbours alternate in sign and grow like (1 + 4a)^d, so floats are useless beyond a few dozen
counts. A ball carries its own error; if it is too wide, the sum is repeated with twice the digits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple, TypeVar

from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.forks import in_child
from deniable.core.validate import positive

Found = TypeVar("Found")

TOLERANCE = 1e-9
_FIRST_BITS, _MOST_BITS = 128, 2**20


class _Precision:
    """The turn of one thread: flint has one precision for all threads."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.thread = 0  # whose turn it is
        self.before = 0  # the precision to return to; 0 if it is nobody's turn

    def renew(self) -> None:
        """Begin anew in a forked process, where the thread whose turn it was does not go on."""
        if self.before and self.thread == threading.get_ident():
            return  # it is the thread that forked, and goes on
        self.lock = threading.RLock()  # held by a thread that may not have said so yet
        if self.before:
            import flint

            flint.ctx.prec, self.before = self.before, 0


_turn = _Precision()
in_child(_turn.renew)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Ball arithmetic with this many bits, for one thread at a time."""
    with needed():
        import flint

    with _turn.lock:
        nested = _turn.before
        if not nested:
            _turn.thread, _turn.before = threading.get_ident(), flint.ctx.prec
        try:
            with flint.ctx.workprec(bits):
                yield
        finally:
            if not nested:
                _turn.before = 0


class Certain(NamedTuple):
    """A value and the width of the ball it lies in, not counting the rounding to a float."""

    value: float
    width: float


def ball(number: Fraction | int) -> Any:
    """Return an exact number as a ball of the current precision."""
    with needed():
        import flint

    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def certain(
    compute: Callable[[], Any], tolerance: float = TOLERANCE, relative: bool = False, bits: int = _FIRST_BITS
) -> Certain:
    """Repeat `compute`, which returns a flint.arb, with more digits until the result is certain to the tolerance.

    With `relative` the tolerance is relative to the value. `compute` converts exact numbers by `ball`. `bits` is a
    guess at the number of binary digits needed.
    """
    return certain_all(lambda: [compute()], tolerance, relative, bits)[0]


def certain_all(
    compute: Callable[[], list[Any]], tolerance: float = TOLERANCE, relative: bool = False, bits: int = _FIRST_BITS
) -> list[Certain]:
    """Repeat `compute`, which returns several balls, until all of them are certain to the tolerance."""
    limit = positive(tolerance=tolerance)

    def enough(found: list[Certain]) -> bool:
        return all(width <= (limit * abs(value) if relative else limit) or width == 0 for value, width in found)

    return until(enough, lambda: [known(each) for each in compute()], tolerance, bits)


def known(number: Any) -> Certain:
    """Return the middle of a ball and its width."""
    return Certain(float(number.mid()), 2 * float(number.rad()))


def until(enough: Callable[[Found], bool], compute: Callable[[], Found], tolerance: float, bits: int) -> Found:
    """Repeat `compute`, with twice the digits each time, until its result is `enough`."""
    while bits <= _MOST_BITS:
        with precision(bits):
            found = compute()
        if enough(found):
            return found
        bits *= 2
    raise InvalidArgument("tolerance", f"be reachable with {_MOST_BITS} binary digits", tolerance)
