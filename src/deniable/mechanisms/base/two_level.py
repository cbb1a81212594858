"""Two-level channels: a report is E times likelier under the values it supports than under the others.

Pr[y | x] is `high` if y supports x and `low` otherwise. All such channels have the guarantee high/low. Reports are
drawn by a coin, in one of two ways:

    choice        with probability T/M uniform among the r reports that support x, else among the b - r others
    replacement   with probability T/M the symbol of x, else a uniform one of N symbols

Channels in which each pair of values is supported by the same number lambda of reports, the (r, lambda)-designs,
also share one estimator and one variance.

Reference: Ye and Barg 2018; Park, Nam, Lee 2023 (block designs).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from deniable.estimation.channel import PureChannel
from deniable.randomness.keystream import MODULUS


def choice_threshold(bound: Fraction, modulus: int, inside: int, reports: int) -> int:
    """T = floor(M r E / (r E + b - r)), the largest for which high/low = T (b - r) / ((M - T) r) <= E."""
    return int(modulus * inside * bound / (inside * bound + reports - inside))


def replacement_threshold(bound: Fraction, modulus: int, symbols: int) -> int:
    """T = floor(M (E - 1) / (E - 1 + N)), the largest for which high/low = 1 + N T / (M - T) <= E."""
    return int(modulus * (bound - 1) / (bound - 1 + symbols))


@dataclass(frozen=True)
class TwoLevel:
    """The two probabilities of a report: under a value that it supports, and under any other."""

    high: Fraction
    low: Fraction

    @staticmethod
    def by_choice(truth: int, inside: int, outside: int, *, repeats: int = 1) -> TwoLevel:
        """The levels of a choice among `inside` supporting reports or `outside` others, in `repeats` cohorts."""
        shares = Fraction(truth, MODULUS * inside), Fraction(MODULUS - truth, MODULUS * outside)
        return TwoLevel(*(share / repeats for share in shares))

    @staticmethod
    def by_replacement(truth: int, symbols: int, *, repeats: int = 1) -> TwoLevel:
        """The levels of a replacement by one of `symbols`, in each of `repeats` cohorts or under each public number."""
        low = Fraction(MODULUS - truth, MODULUS * symbols)
        return TwoLevel((low + Fraction(truth, MODULUS)) / repeats, low / repeats)

    @property
    def ratio(self) -> Fraction:
        """high/low: the largest ratio of the channel."""
        return self.high / self.low

    def given(self, supported: bool) -> Fraction:
        """Pr[report | value], by whether the report supports the value."""
        return self.high if supported else self.low

    def pure(self, inside: int, overlap: Fraction | int) -> PureChannel:
        """The pure channel of a design: r reports support a value, lambda any two."""
        # p = r high,  q = lambda high + (r - lambda) low
        return PureChannel(inside * self.high, overlap * self.high + (inside - overlap) * self.low)

    def best_guesses(self, reports: int, bare: int = 0) -> Fraction:
        """The sum over all reports of the largest Pr[report | value], if `bare` reports support no value."""
        return (reports - bare) * self.high + bare * self.low
