"""Difference mechanisms: the report is the value moved, modulo K, by an element inside or outside a set.

The cohort j is uniform. With probability T/M the value moves by a uniform element of D_j = m_j D, else by a
uniform element outside it; the report (j, y) is sent as the number j K + y. Given j, each y has probability
T/(M w) or (M - T)/(M (K - w)), so the channel is two-level whatever the sets are. If the shifts of all
D_j form a balanced design (every difference but 0 occurs equally often), it is a pure channel.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Payloads, Symbols, Words
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.channel import Noise, PureChannel, TwoLevel, choice_threshold, for_target
from deniable.estimation.evidence import Evidence
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.operators.designs import (
    ShiftFamily,
    average_over_pairs,
    average_over_users,
    kernel_moment,
    kernels,
)
from deniable.estimation.operators.two_level import TwoLevelOperator, two_level_operator
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.client import randomized
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import MAX_SYMBOLS, SymbolLayout
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import Choices


class DifferenceSets(Protocol):
    """Sets D_j = m_j D of w elements of Z_K, one per cohort."""

    @property
    def modulus(self) -> int:
        """K: values and reports are numbers modulo K."""
        ...

    @property
    def set_size(self) -> int:
        """w: the number of elements of each set."""
        ...

    @property
    def multipliers(self) -> tuple[int, ...]:
        """m_j, for each cohort j."""
        ...

    @property
    def balanced(self) -> bool:
        """Whether every difference but 0 occurs equally often in the sets of all cohorts together."""
        ...

    @property
    def elements(self) -> Symbols:
        """The elements of Z_K in a fixed order, D first: the kernel's table."""
        ...

    def element(self, place: int) -> np.uint64:
        """The element at this place of the order."""
        ...


@dataclass(frozen=True)
class DifferenceMechanism(Mechanism):
    """Base of `csr` and `pgr`: all that follows from the sets."""

    @property
    @abstractmethod
    def sets(self) -> DifferenceSets:
        """The sets by whose elements values move."""

    @property
    def cohorts(self) -> int:
        """Number of sets."""
        return len(self.sets.multipliers)

    @cached_property
    def family(self) -> ShiftFamily:
        """The sets, for the server's transforms."""
        base = self.sets.elements[: self.sets.set_size].astype(np.int64)
        return ShiftFamily(self.sets.modulus, base, self.sets.multipliers, self.k)

    @property
    def _bounds(self) -> tuple[int, int, int]:
        return self.cohorts, self.sets.set_size, self.sets.modulus - self.sets.set_size

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        if self.symbols > MAX_SYMBOLS:
            raise InvalidArgument("k", f"leave {self.name} at most {MAX_SYMBOLS} different reports", self.k)
        _, inside, outside = self._bounds
        truth = choice_threshold(bound, modulus, inside, inside + outside)
        self.require_coin(truth * self.sets.modulus > modulus * inside)
        names = ("rejection_cohort", "rejection_inside", "rejection_outside")
        rejections = {n: rejection_bound(b, modulus) for n, b in zip(names, self._bounds, strict=True)}
        return {"truth": truth, **rejections}

    @cached_property
    def two_level(self) -> TwoLevel:
        cohorts, inside, outside = self._bounds
        return TwoLevel.by_choice(self.thresholds["truth"], inside, outside, repeats=cohorts)

    def supports(self, payload: Payload, index: int) -> bool:
        assert isinstance(payload, int | np.integer)
        return bool(self.family.supported(np.array([index]), np.array([int(payload)]))[0, 0])

    def public_part(self, data: Payloads) -> Indices:
        return data.astype(np.int64) // self.sets.modulus  # the cohort

    @cached_property
    def channel(self) -> PureChannel | None:
        if not self.sets.balanced:
            return None
        # each of the K - 1 differences occurs w (w - 1)/(K - 1) times per cohort, on average over cohorts
        w = self.sets.set_size
        overlap = Fraction(w * (w - 1), self.sets.modulus - 1)
        return self.two_level.pure(self.cohorts * w, self.cohorts * overlap)

    @property
    def symbols(self) -> int:
        """Number of different reports."""
        return self.cohorts * self.sets.modulus

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(self.symbols)

    @property
    def stride(self) -> int:
        return 4  # the coin, the cohort, a place inside and a place outside the set

    def randomize_one(self, index: int, choices: Choices) -> int:
        t, (cohorts, inside, outside) = self.thresholds, self._bounds
        truthful = choices.coin(t["truth"])
        cohort = choices.below(cohorts, t["rejection_cohort"])
        place_inside = choices.below(inside, t["rejection_inside"])
        place_outside = inside + choices.below(outside, t["rejection_outside"])
        # integers of 64 bits from here on: the time of Python's depends on how large they are
        element, modulus = self.sets.element((place_outside, place_inside)[truthful]), np.uint64(self.sets.modulus)
        moved = np.uint64(index) + np.uint64(self.sets.multipliers[cohort]) * element
        return int(np.uint64(cohort) * modulus + moved % modulus)

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.designs import shift

        t = self.thresholds
        rejections = np.array([t[name] for name in t if name.startswith("rejection")], np.uint64)
        multipliers, bounds = np.array(self.sets.multipliers, np.uint64), np.array(self._bounds, np.uint64)
        numbers = np.uint64(t["truth"]), bounds, rejections, self.sets.elements, multipliers
        return randomized(shift, indices, words, *numbers, out=out)

    def reconstruction_rate(self) -> Fraction:
        # (1/k) sum over reports of the largest Pr[y | x]; a report may support no value if the set has a
        # gap longer than the domain
        bare = 0
        for multiplier in self.sets.multipliers:
            places = np.sort(self.family.base * multiplier % self.sets.modulus)
            gaps = np.diff(places, append=places[0] + self.sets.modulus)
            bare += int(np.maximum(gaps - self.k, 0).sum())
        return self.two_level.best_guesses(self.symbols, bare) / self.k

    def support_counts(self, summary: Summary) -> Counts:
        return self.family.support(summary.counts)

    def unbiased(self, summary: Summary) -> Floats:
        if self.channel is not None:
            return super().unbiased(summary)
        # f^(m) = (c/n) sum_j conj(D_j^(m)) H_j^(m) / ((high - low) S_m), f^(0) = 1
        rows = summary.counts.reshape(self.cohorts, self.sets.modulus) / summary.n
        return self.family.invert(rows)[: self.k] / self._gain + 1 / self.sets.modulus

    def noise(self, target: str) -> tuple[float, float, float]:
        if self.channel is not None:
            return super().noise(target)
        own, others = float(self._moment[0]) - 1, average_over_pairs(self._moment, self.k)
        return for_target(others, own - others, target)

    def noise_of(self, evidence: Evidence, target: str) -> Noise:
        if self.channel is not None:
            return super().noise_of(evidence, target)
        others = average_over_users(self._moment, nearest_distribution(evidence.unbiased))
        return for_target(others, float(self._moment[0]) - 1 - others, target)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        del evidence
        least, most = self._adds
        own, others = float(self._moment[0]) - 1, float(self._moment[1:].min())
        return Steps(most, 1 - least, for_target(others, own - others, target))

    @cached_property
    def _adds(self) -> tuple[float, float]:
        """The least and the most that a report adds to an estimate."""
        ends = [(float(one.min()), float(one.max())) for one in kernels(self.family, self._gain)]
        return min(low for low, _ in ends), max(high for _, high in ends)

    @property
    def _gain(self) -> float:
        return float(self.two_level.high - self.two_level.low)

    @cached_property
    def _moment(self) -> Floats:
        high, low = (float(self.cohorts * level) for level in (self.two_level.high, self.two_level.low))
        return kernel_moment(self.family, high, low)

    def operator(self) -> TwoLevelOperator:
        return two_level_operator(self.family, self.two_level.high, self.two_level.low)
