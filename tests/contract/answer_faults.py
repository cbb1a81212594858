"""Faults in what a mechanism answers: its likelihood, support, tails and default method, turned or moved.

Each is a function that takes the class of a sound mechanism and returns it with that fault alone, as in faults.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.estimation.channel import Operator, PureChannel
from deniable.estimation.evidence import Solution


@dataclass(frozen=True)
class _Turned:
    """An operator with its values or its reports in reverse order."""

    operator: Operator
    values: int = 1  # the step through them
    reports: int = 1

    def forward(self, weights: Any) -> Any:
        return self.operator.forward(np.ascontiguousarray(weights[:: self.values]))[:: self.reports]

    def adjoint(self, scores: Any) -> Any:
        return self.operator.adjoint(np.ascontiguousarray(scores[:: self.reports]))[:: self.values]

    def adjoint_squared(self, scores: Any) -> Any:
        return self.operator.adjoint_squared(np.ascontiguousarray(scores[:: self.reports]))[:: self.values]


@dataclass(frozen=True)
class _ListsTurned(_Turned):
    """An operator whose products are right, and which lists its entries in reverse order."""

    @property
    def quick(self) -> bool:
        return self.operator.quick  # type: ignore[attr-defined, no-any-return]

    @property
    def levels(self) -> tuple[float, ...]:
        return self.operator.levels  # type: ignore[attr-defined, no-any-return]

    def codes(self, values: Any, reports: Any) -> Any:
        return self.operator.codes(values, reports)[::-1]  # type: ignore[attr-defined]


def mirrored_values(sound: type[Any]) -> type[Any]:
    """Takes the last value for the first in the likelihood."""
    return type("MirroredValues", (sound,), {"operator": lambda self: _Turned(sound.operator(self), values=-1)})


def mirrored_reports(sound: type[Any]) -> type[Any]:
    """Takes the last report for the first in the likelihood."""
    return type("MirroredReports", (sound,), {"operator": lambda self: _Turned(sound.operator(self), reports=-1)})


def mirrored_entries(sound: type[Any]) -> type[Any]:
    """Lists entries of the channel under the wrong values."""
    return type("MirroredEntries", (sound,), {"operator": lambda self: _ListsTurned(sound.operator(self))})


def mirrored_evidence(sound: type[Any]) -> type[Any]:
    """Has the right operator, and shows methods another."""

    def evidence(self: Any, summary: Any) -> Any:
        right = sound.evidence(self, summary)
        return replace(right, operator=_Turned(right.operator, values=-1))

    return type("MirroredEvidence", (sound,), {"evidence": evidence})


def mirrored_kept_reports(sound: type[Any]) -> type[Any]:
    """Takes the last value for the first in the likelihood of kept reports."""

    def reports_operator(self: Any, data: Any) -> Any:
        return _Turned(sound.reports_operator(self, data), values=-1)

    return type("MirroredKeptReports", (sound,), {"reports_operator": reports_operator})


def next_values_support(sound: type[Any]) -> type[Any]:
    """Counts the reports that support the next value."""

    def support_counts(self: Any, summary: Any) -> Any:
        return np.roll(sound.support_counts(self, summary), 1)

    return type("NextValuesSupport", (sound,), {"support_counts": support_counts})


def mirrored_tails(sound: type[Any]) -> type[Any]:
    """Has tails with the counts in reverse order."""

    def tails(self: Any, summary: Any) -> Any:
        right = sound.tails(self, summary)
        return replace(right, support=right.support[::-1])

    return type("MirroredTails", (sound,), {"tails": tails})


def tails_of_another_channel(sound: type[Any]) -> type[Any]:
    """Has tails with a probability that is off by one part in 2^60."""

    def tails(self: Any, summary: Any) -> Any:
        right = sound.tails(self, summary)
        return replace(right, channel=PureChannel(right.channel.p, right.channel.q + Fraction(1, 2**60)))

    return type("TailsOfAnotherChannel", (sound,), {"tails": tails})


def backwards_by_default(sound: type[Any]) -> type[Any]:
    """Answers in reverse order by the default method alone."""

    def methods(self: Any) -> Any:
        def turned(evidence: Any) -> Solution:
            right = sound(self.domain, self.epsilon, **self._parameters())
            return Solution(right.estimate(evidence.summary).frequencies[::-1])

        return {**sound._methods(self), self.default_method: turned}

    return type("BackwardsByDefault", (sound,), {"_methods": methods})
