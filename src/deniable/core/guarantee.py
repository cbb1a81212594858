"""The privacy guarantee of a mechanism, computed from the integers that run."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

_SHOWN_BITS = 1024  # longer fractions are too long to read


@dataclass(frozen=True)
class Guarantee:
    """The largest ratio Pr[report | value] / Pr[report | other value], as an exact fraction.

    `epsilon` is its logarithm, rounded up; `slack` is the part of the requested epsilon left unspent, rounded down.
    """

    ratio: Fraction
    epsilon: float
    slack: float
    requested: float

    def __str__(self) -> str:
        bits = self.ratio.numerator.bit_length()
        shown = f"(a fraction of {bits:,} bits)"
        if bits <= _SHOWN_BITS:
            shown = f"{self.ratio.numerator}/{self.ratio.denominator} = {_decimal_below(self.ratio, 20)}..."
        return f"largest ratio {shown} <= e^{self.requested!r}; epsilon {self.epsilon!r}, slack {self.slack:.3g}"


def _decimal_below(number: Fraction, places: int) -> str:
    whole, rest = divmod(number.numerator * 10**places // number.denominator, 10**places)
    return f"{whole}.{rest:0{places}d}"
