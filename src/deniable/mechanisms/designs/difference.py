"""Difference mechanisms: the report is the value moved, modulo K, by an element in or out of a set.

The cohort j is uniform. With probability T/M the value moves by a uniform element of D_j = m_j D, else by a
uniform element outside it; the report (j, y) is sent as the number j K + y. Given j, each y has probability
T/(M w) or (M - T)/(M (K - w)), so the channel is two-level whatever the sets are. If the shifts of all
D_j form a balanced design (every difference but 0 occurs equally often), it is a pure channel.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Payloads, Symbols, Words
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.core.validate import choice
from deniable.estimation.channel import TARGETS, Noise, PureChannel
from deniable.estimation.evidence import Evidence
from deniable.estimation.intervals import BinomialTails
from deniable.estimation.methods.linear import unbiased
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.operators.designs import (
    ShiftFamily,
    ShiftOperator,
    average_over_pairs,
    average_over_users,
    kernel_moment,
)
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.base.two_level import truth_threshold
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS, SymbolReports
from deniable.randomness.choices import Choices, rejection_bound
from deniable.randomness.keystream import MODULUS


@dataclass(frozen=True)
class DifferenceMechanism(SymbolReports, Mechanism):
    """Base of `csr` and `pgr`: a modulus, a set of size w, and a multiplier per cohort."""

    high: Fraction = field(init=False, repr=False, compare=False)  # Pr[y | x, j] where y - x lies in D_j
    low: Fraction = field(init=False, repr=False, compare=False)  # and where it does not
    channel: PureChannel | None = field(init=False, repr=False, compare=False)  # the design's, if balanced

    @property
    @abstractmethod
    def modulus(self) -> int:
        """K: values and reports are numbers modulo K."""

    @property
    @abstractmethod
    def set_size(self) -> int:
        """w: the number of elements of each set."""

    @property
    @abstractmethod
    def multipliers(self) -> tuple[int, ...]:
        """m_j: the set of cohort j is m_j times the base set."""

    @property
    @abstractmethod
    def balanced(self) -> bool:
        """Whether every difference but 0 occurs equally often in the sets of all cohorts together."""

    @abstractmethod
    def element(self, place: int) -> int:
        """The elements of Z_K in a fixed order, those of the base set first."""

    @cached_property
    def elements(self) -> Symbols:
        """All elements in that order, as the kernel's table."""
        return np.array([self.element(place) for place in range(self.modulus)], np.uint32)

    @cached_property
    def family(self) -> ShiftFamily:
        """The sets, for the server's transforms."""
        return ShiftFamily(self.modulus, self.elements[: self.set_size].astype(np.int64), self.multipliers, self.k)

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        if len(self.multipliers) * self.modulus > MAX_SYMBOLS:
            raise InvalidArgument("k", f"be smaller: {len(self.multipliers)} cohorts of {self.modulus}", self.k)
        truth = truth_threshold(bound, modulus, self.set_size, self.modulus)
        if truth * self.modulus <= modulus * self.set_size:
            raise InvalidArgument("epsilon", f"be larger for k={self.k}: no 64-bit coin is that weak", self.epsilon)
        names = ("rejection_cohort", "rejection_inside", "rejection_outside")
        rejections = {n: rejection_bound(b, modulus) for n, b in zip(names, self._bounds, strict=True)}
        return {"truth": truth, **rejections}

    def _derive(self) -> None:
        truth = self.thresholds["truth"]
        object.__setattr__(self, "high", Fraction(truth, MODULUS * self.set_size))
        object.__setattr__(self, "low", Fraction(MODULUS - truth, MODULUS * (self.modulus - self.set_size)))
        object.__setattr__(self, "channel", self._design_channel() if self.balanced else None)

    def _design_channel(self) -> PureChannel:
        # each of the K - 1 differences occurs w (w - 1)/(K - 1) times a cohort, on average over cohorts
        overlap = Fraction(self.set_size * (self.set_size - 1), self.modulus - 1)
        return PureChannel(self.set_size * self.high, overlap * self.high + (self.set_size - overlap) * self.low)

    @property
    def _bounds(self) -> tuple[int, int, int]:
        return len(self.multipliers), self.set_size, self.modulus - self.set_size

    @property
    def stride(self) -> int:
        return 4  # the coin, the cohort, a place inside and a place outside the set

    @property
    def symbols(self) -> int:
        return len(self.multipliers) * self.modulus

    def randomize_one(self, index: int, choices: Choices) -> int:
        t, (cohorts, inside, outside) = self.thresholds, self._bounds
        truthful = choices.coin(t["truth"])
        cohort = choices.below(cohorts, t["rejection_cohort"])
        place_inside = choices.below(inside, t["rejection_inside"])
        place_outside = inside + choices.below(outside, t["rejection_outside"])
        moved = index + self.multipliers[cohort] * self.element((place_outside, place_inside)[truthful])
        return cohort * self.modulus + moved % self.modulus

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.designs import shift

        t = self.thresholds
        rejections = np.array([t[name] for name in t if name.startswith("rejection")], np.uint64)
        multipliers, bounds = np.array(self.multipliers, np.uint64), np.array(self._bounds, np.uint64)
        again = np.empty(len(indices), np.bool_)
        count = shift(indices, words, np.uint64(t["truth"]), bounds, rejections, self.elements, multipliers, again, out)
        return np.flatnonzero(again) if count else np.empty(0, np.int64)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, int | np.integer)
        cohort, y = divmod(int(payload), self.modulus)
        inside = self._inside[cohort][(y - index) % self.modulus]
        return (self.high if inside else self.low) / len(self.multipliers)

    @cached_property
    def _inside(self) -> Mask:
        return np.array([self.family.indicator(j) > 0 for j in range(len(self.multipliers))])

    def ratio(self) -> Fraction:
        return self.high / self.low

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over reports of the largest Pr[y | x]; a report may support no value if the set has a
        # gap longer than the domain
        elements = self.family.base
        bare = 0
        for multiplier in self.multipliers:
            places = np.sort(elements * multiplier % self.modulus)
            gaps = np.diff(places, append=places[0] + self.modulus)
            bare += int(np.maximum(gaps - self.k, 0).sum())
        covered = self.symbols - bare
        return (covered * self.high + bare * self.low) / (len(self.multipliers) * self.k)

    def support_counts(self, summary: Summary) -> Counts:
        """For each value, how many reports support it."""
        return self.family.support(summary.counts)

    def unbiased(self, summary: Summary) -> Floats:
        if self.channel is not None:
            return unbiased(self.support_counts(summary), summary.n, self.channel)
        # f^(m) = (c/n) sum_j conj(D_j^(m)) H_j^(m) / ((high - low) S_m), f^(0) = 1
        rows = summary.counts.reshape(len(self.multipliers), self.modulus) / summary.n
        gain = float((self.high - self.low) / len(self.multipliers))
        return self.family.invert(rows)[: self.k] / gain + 1 / self.modulus

    def noise(self, target: str) -> tuple[float, float, float]:
        if self.channel is not None:
            return self.channel.noise(target)
        own, others = float(self._moment[0]) - 1, average_over_pairs(self._moment, self.k)
        users = choice(TARGETS, target=target) == "users"
        return (others, own - others, 0.0) if users else (others, own - others + 1, -1.0)

    def noise_of(self, summary: Summary, target: str) -> Noise:
        if self.channel is not None:
            return self.channel.noise(target)
        others = average_over_users(self._moment, nearest_distribution(self.unbiased(summary)))
        bend = 0.0 if target == "users" else -1.0  # the sampling error f (1 - f)
        return others, float(self._moment[0]) - 1 - others - bend, bend

    @cached_property
    def _moment(self) -> Floats:
        return kernel_moment(self.family, float(self.high), float(self.low))

    def tails(self, summary: Summary) -> BinomialTails | None:
        return BinomialTails(self.support_counts(summary), summary.n, self.channel) if self.channel else None

    def _evidence(self, summary: Summary) -> Evidence:
        tails = self.tails(summary)
        if tails is None:
            return super()._evidence(summary)
        # one transform serves both
        first = unbiased(tails.support, tails.n, tails.channel)
        return Evidence(first, summary.n, self.noise("users"), summary.counts, tails, self.operator())

    def operator(self) -> ShiftOperator:
        """The channel as an operator: the summary carries the likelihood."""
        cohorts = len(self.multipliers)
        return ShiftOperator(self.family, self.k, float(self.high / cohorts), float(self.low / cohorts))
