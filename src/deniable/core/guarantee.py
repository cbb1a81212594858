"""The privacy guarantee of a mechanism, computed from the integers that run."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.core.display import brief

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

    @property
    def shown_ratio(self) -> str:
        """The ratio as a fraction and as a decimal number, unless it is too long to read."""
        bits = self.ratio.numerator.bit_length()
        if bits > _SHOWN_BITS:
            return f"(a fraction of {bits:,} bits)"
        return f"{self.ratio.numerator}/{self.ratio.denominator} = {_decimal_below(self.ratio, 20)}..."

    def __str__(self) -> str:
        spent = f"epsilon {self.epsilon!r}, slack {self.slack:.3g}"
        return f"largest ratio {self.shown_ratio} <= e^{self.requested!r}; {spent}"

    def __repr__(self) -> str:
        return brief(self, epsilon=self.epsilon, requested=self.requested, slack=f"{self.slack:.3g}")

    def _repr_html_(self) -> str:
        from deniable.cards.data import guarantee_card

        return guarantee_card(self)


def _decimal_below(number: Fraction, places: int) -> str:
    whole, rest = divmod(number.numerator * 10**places // number.denominator, 10**places)
    return f"{whole}.{rest:0{places}d}"
