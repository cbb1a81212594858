"""What an estimator may know of a mechanism: two probabilities, or the channel as a linear operator.

A channel has two levels if a report is E times likelier under the values it supports than under the others:
Pr[y | x] is `high` if y supports x and `low` otherwise. All such channels have the guarantee high/low. Reports are
drawn by a coin, in one of two ways:

    choice        with probability T/M uniform among the r reports that support x, else among the b - r others
    replacement   with probability T/M the symbol of x, else a uniform one of N symbols

A replacement takes one word where N divides M - T: the words from T on fall into N equal shares.

Channels in which each pair of values is supported by the same number lambda of reports, the (r, lambda)-designs,
also share one estimator and one variance.

Reference: Ye and Barg 2018; Park, Nam, Lee 2023 (block designs).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np

from deniable.core.arrays import Codes, Counts, Floats, Indices, Mask
from deniable.core.validate import choice
from deniable.randomness.keystream import MODULUS

TARGETS = ("users", "population")


@dataclass(frozen=True)
class PureChannel:
    """A report supports its sender's value with probability p, any other given value with q.

    Reference: Wang, Blocki, Li, Jha 2017, section 3 ("pure protocols").
    """

    p: Fraction
    q: Fraction

    @property
    def gain(self) -> Fraction:
        """p - q: the information in a report."""
        return self.p - self.q

    def unbiased(self, counts: Counts, n: int) -> Floats:
        """f = (count/n - q) / (p - q). Unbiased; sums to 1 for randomised response; may be negative.

        Reference: Kairouz, Bonawitz, Ramage 2016, section 4.1 (Inv in Pinzón et al. 2026, eq. 2).
        """
        frequencies: Floats = self.excess(counts, n) / float(n * self.gain)
        return frequencies

    def excess(self, counts: Counts, n: int) -> Floats:
        """count - n q: the integer part of n q is subtracted exactly, so large counts do not cancel."""
        expected = n * self.q
        whole = expected.numerator // expected.denominator
        return (counts - whole).astype(np.float64) - float(expected - whole)

    def noise(self, target: str) -> tuple[float, float, float]:
        """Coefficients of n Var[unbiased estimate of f] as a polynomial in f: v0 + v1 f + v2 f^2.

        Formula, for the frequencies among the users who reported (design-based):
            n Var = [q(1-q) + f (p-q)(1-p-q)] / (p-q)^2
        and for the distribution the users were drawn from, which adds the sampling error f(1-f):
            n Var = m(1-m) / (p-q)^2,  m = q + f(p-q)
        Reference: Wang et al. 2017, Theorem 2; Kairouz, Bonawitz, Ramage 2016, Proposition 3.
        """
        p, q, gain = self.p, self.q, self.gain
        v0, v1, v2 = for_target(q * (1 - q) / gain**2, (1 - p - q) / gain, target)
        return float(v0), float(v1), v2


def choice_threshold(bound: Fraction, modulus: int, inside: int, reports: int) -> int:
    """T = floor(M r E / (r E + b - r)), the largest for which high/low = T (b - r) / ((M - T) r) <= E."""
    return int(modulus * inside * bound / (inside * bound + reports - inside))


def replacement_threshold(bound: Fraction, modulus: int, symbols: int) -> int:
    """T = floor(M (E - 1) / (E - 1 + N)), the largest for which high/low = 1 + N T / (M - T) <= E."""
    return int(modulus * (bound - 1) / (bound - 1 + symbols))


def one_word_threshold(bound: Fraction, modulus: int, symbols: int) -> int:
    """The largest T up to `replacement_threshold` for which N divides M - T, or a negative number if there is none."""
    return modulus - symbols * -(-(modulus - replacement_threshold(bound, modulus, symbols)) // symbols)


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


Noise = tuple[Any, Any, float]  # v0, v1, v2: numbers, or v0 and v1 arrays with one entry per value


def for_target(v0: Any, v1: Any, target: str) -> Noise:
    """Coefficients of n Var for a target, from those for "users": "population" adds the sampling error f(1-f)."""
    return (v0, v1, 0.0) if choice(TARGETS, target=target) == "users" else (v0, v1 + 1, -1.0)


def noise_at(noise: Noise, f: Any) -> Any:
    """v0 + v1 f + v2 f^2, never below zero: n times the variance of the unbiased estimate of a frequency f."""
    v0, v1, v2 = noise
    return np.maximum(v0 + v1 * f + v2 * f * f, 0.0)


def noise_among(noise: Noise, chosen: Mask | Indices) -> Noise:
    """The noise of some values."""
    return taken(noise[0], chosen), taken(noise[1], chosen), noise[2]


def taken(numbers: Any, chosen: Mask | Indices) -> Any:
    """The numbers of some values, where they are not one number for all."""
    return numbers[chosen] if np.ndim(numbers) else numbers


class Operator(Protocol):
    """A channel C[value, report] known only by its products."""

    def forward(self, weights: Floats) -> Floats:
        """C^T weights: the distribution of reports when values follow the weights."""
        ...

    def adjoint(self, scores: Floats) -> Floats:
        """C scores: for each value, the expected score of its report."""
        ...

    def adjoint_squared(self, scores: Floats) -> Floats:
        """C scores with every entry of C squared (the diagonal of C diag(scores) C^T)."""
        ...


@runtime_checkable
class Listing(Operator, Protocol):
    """An operator that can list entries of C: worth it where few values and few reports matter."""

    @property
    def quick(self) -> bool:
        """Whether the operator's own products are those of a few additions per cell, and a list seldom pays."""
        ...

    @property
    def levels(self) -> tuple[float, ...]:
        """The different entries of C: where a report does not support a value, where it does, and any rare ones."""
        ...

    def codes(self, values: Indices, reports: Indices) -> Codes:
        """The level of C[value, report], by its place in `levels`; one row per value."""
        ...


@runtime_checkable
class Paired(Listing, Protocol):
    """An operator that finds the entries above the first level without looking at all others."""

    def above(self, values: Indices, reports: Indices) -> tuple[Indices, Indices, Codes] | None:
        """The places of values, which all differ, and of reports, and the codes of these entries.

        None where `codes` finds them sooner.
        """
        ...


@runtime_checkable
class Sparing(Operator, Protocol):
    """An operator that takes the scores of few reports without the zeros of all others."""

    def adjoint_of(self, reports: Indices, scores: Floats) -> Floats:
        """`adjoint` of scores that are zero except for these reports."""
        ...


def entries(operator: Listing, values: Indices, reports: Indices) -> Floats:
    """C[value, report], one row per value."""
    return np.array(operator.levels)[operator.codes(values, reports)]
