"""Two-level channels: a report is E times likelier under the values it supports than under the others.

Pr[y | x] is `high` if y supports x and `low` otherwise. All such channels share their guarantee, their
attack rate and how a coin decides: with probability T/M a uniform one of the r reports that support x,
else a uniform one of the b - r others. Those in which every pair of values is supported together by the
same number lambda of reports, the (r, lambda)-designs, also share one estimator and one variance.

Reference: Ye and Barg 2018; Park, Nam, Lee 2023 (block designs).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from deniable.core.errors import InvalidArgument
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.mechanism import PureMechanism
from deniable.randomness.keystream import MODULUS


def truth_threshold(bound: Fraction, modulus: int, supporting: int, reports: int) -> int:
    """T = floor(M r E / (r E + b - r)), the largest for which high/low = T (b - r) / ((M - T) r) <= E."""
    return int(modulus * supporting * bound / (supporting * bound + reports - supporting))


@dataclass(frozen=True)
class TwoLevelMechanism(PureMechanism):
    """A (r, lambda)-design: b reports, r of them support a value, lambda support any two."""

    @property
    @abstractmethod
    def reports(self) -> int:
        """b: how many reports there are."""

    @property
    @abstractmethod
    def supporting(self) -> int:
        """r: how many reports support a value."""

    @property
    @abstractmethod
    def overlap(self) -> Fraction:
        """lambda: how many reports support two given values (a whole number; a fraction if averaged)."""

    @property
    def share(self) -> Fraction:
        """r/b: the share of reports that support a value."""
        return Fraction(self.supporting, self.reports)

    def _coin(self, bound: Fraction, modulus: int) -> int:
        """The threshold of the coin that decides for a supporting report."""
        truth = truth_threshold(bound, modulus, self.share.numerator, self.share.denominator)
        # without privacy loss the coin would fall by the number of reports alone
        if truth <= modulus * self.share:
            raise InvalidArgument("epsilon", f"be larger for k={self.k}: no 64-bit coin is that weak", self.epsilon)
        return truth

    @cached_property
    def high(self) -> Fraction:
        """Pr[y | x] where y supports x."""
        return Fraction(self.thresholds["truth"], MODULUS * self.supporting)

    @cached_property
    def low(self) -> Fraction:
        """Pr[y | x] where y does not support x."""
        return Fraction(MODULUS - self.thresholds["truth"], MODULUS * (self.reports - self.supporting))

    def _channel(self) -> PureChannel:
        # p = r high,  q = lambda high + (r - lambda) low
        q = self.overlap * self.high + (self.supporting - self.overlap) * self.low
        return PureChannel(self.supporting * self.high, q)

    def ratio(self) -> Fraction:
        # high/low = T (b - r) / ((M - T) r)
        truth = self.thresholds["truth"]
        return Fraction(truth, MODULUS - truth) * (1 / self.share - 1)

    def reconstruction_rate(self) -> Fraction:
        # every report supports some value, so the best guess is right with (1/k) sum_y max_x Pr[y | x] = b high/k
        return Fraction(self.thresholds["truth"], MODULUS) / (self.share * self.k)
