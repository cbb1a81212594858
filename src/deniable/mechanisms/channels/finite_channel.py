"""Any channel with finitely many reports, from the matrix of its probabilities: all else follows.

A subclass states the matrix in `ideal`. One random word picks the report: the integer weights of the value's row divide
the 2^64 words among the reports. They are what runs, what the spec holds, and what the estimates are made with.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask, Numbers, Payloads, Words
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.estimation.channel import Noise
from deniable.estimation.evidence import Evidence
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.operators.dense import MatrixOperator
from deniable.estimation.tails import Steps
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.channels.inverse import LinearInverse
from deniable.mechanisms.channels.rounding import largest_ratio, weights
from deniable.mechanisms.layouts.layout import Payload
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.randomness.choices import Choices
from deniable.randomness.keystream import MODULUS


@dataclass(frozen=True)
class FiniteChannel(Mechanism):
    """A mechanism defined by the probabilities of its reports, at most 2^16 of them.

    Guarantee: the largest ratio of two weights of a report, at most e^epsilon.
    Cost: one random word and ceil(log2 reports) bits per report, one count each; an estimate multiplies by a matrix.
    """

    default_method: ClassVar[str] = "mle"

    @abstractmethod
    def ideal(self) -> Sequence[Sequence[Any]]:
        """The probabilities before rounding, of floats or Fractions: a row per value, a column per report."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._linear.exists:
            hint = "The probabilities of two values, or of mixtures of values, are too alike to tell them apart."
            raise InvalidArgument("epsilon", "be larger", self.epsilon, hint)

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        self.require_coin(bound > 1)
        rows = weights(self.ideal(), bound, modulus)
        self.require_coin(bool((rows.min(axis=0) < rows.max(axis=0)).any()))
        # the first word of each report but the first, which starts at 0
        starts = np.cumsum(rows, axis=1)[:, :-1]
        return {f"start_{value}_{report}": int(starts[value, report - 1]) for value, report in _places(starts.shape)}

    @cached_property
    def _starts(self) -> list[list[int]]:
        reports = len(self.thresholds) // self.k + 1
        names = ((value, report) for value, report in _places((self.k, reports - 1)))
        flat = [self.thresholds[f"start_{value}_{report}"] for value, report in names]
        return [flat[place : place + reports - 1] for place in range(0, len(flat), reports - 1)]

    @cached_property
    def weights(self) -> Numbers:
        """The integers that run: words that lead from a value, by row, to a report, by column."""
        return np.diff(np.array([[0, *row, MODULUS] for row in self._starts], dtype=object), axis=1)

    @cached_property
    def matrix_run(self) -> Floats:
        """The probabilities of the integers that run, as floats."""
        return np.asarray((self.weights / MODULUS).astype(np.float64))

    @cached_property
    def _linear(self) -> LinearInverse:
        return LinearInverse(self.matrix_run)

    @cached_property
    def layout(self) -> SymbolLayout:
        return SymbolLayout(len(self._starts[0]) + 1)

    @property
    def stride(self) -> int:
        return 1

    def randomize_one(self, index: int, choices: Choices) -> int:
        return choices.level(self._limits[index])

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        order = np.argsort(indices.astype(np.uint16), kind="stable")  # by radix, which is fast
        ends = np.cumsum(np.bincount(indices, minlength=self.k))
        for starts, own in zip(self._limits, np.split(order, ends[:-1]), strict=True):
            out[own] = np.searchsorted(starts, words[own], side="right")
        return np.empty(0, np.int64)  # no word is rejected

    @cached_property
    def _limits(self) -> Words:
        return np.array(self._starts, np.uint64)

    def _probability(self, payload: Payload, index: int) -> Fraction:
        assert isinstance(payload, int | np.integer)
        return Fraction(int(self.weights[index, int(payload)]), MODULUS)

    def supported(self, data: Payloads, indices: Indices) -> Mask:
        own = self.weights[indices]
        return np.asarray((own == own.max(axis=0)).T[data])

    def ratio(self) -> Fraction:
        return largest_ratio(self.weights)

    def reconstruction_rate(self) -> Fraction:
        return Fraction(int(self.weights.max(axis=0).sum()), MODULUS * self.k)

    def operator(self) -> MatrixOperator:
        return MatrixOperator(self.matrix_run)

    def unbiased(self, summary: Summary) -> Floats:
        return summary.counts / summary.n @ self._linear.adds

    def scores(self, weights: Floats) -> Floats:
        return self._linear.adds @ weights

    def noise(self, target: str) -> tuple[float, float, float]:
        return self._linear.average(target)

    def noise_of(self, evidence: Evidence, target: str) -> Noise:
        return self._linear.given(nearest_distribution(evidence.unbiased), target)

    def steps_of(self, evidence: Evidence, target: str) -> Steps:
        del evidence
        return self._linear.steps(target)

    def supporters(self, summary: Summary) -> Counts | None:
        # a value is supported by the reports that it makes most often; None if there is a value without any
        most = self.weights == self.weights.max(axis=0)
        alone = most & (most.sum(axis=0) == 1)
        return most.astype(np.int64) @ summary.counts if alone.any(axis=1).all() else None

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        return np.asarray(generator.multinomial(true_counts, self.matrix_run).sum(axis=0))


def _places(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """The values and the reports but the first, which the names of thresholds hold."""
    return [(value, report) for value in range(shape[0]) for report in range(1, shape[1] + 1)]
