"""Estimates under several specs of one question, such as an old and a new version, combined into one.

Formula: f = sum_i w_i f_i with weights that sum to 1 and do not depend on the reports, so that f is as unbiased as
the f_i. For the population, w_i is proportional to 1 / Var_i at frequency 0, which depends on the spec and n alone; for
the users who reported, to n_i, since the share among all is the mean of the groups' shares. Errors add in squares.
Intervals combine those of the parts (Zou and Donner 2008, MOVER), so that they are as good at small counts as those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Mask
from deniable.core.caches import FieldsOnly
from deniable.core.errors import InvalidArgument
from deniable.core.estimate import Estimate, Interval
from deniable.core.summary import Summary
from deniable.core.validate import choice
from deniable.derived.groups import places_in
from deniable.derived.labels import sums_of
from deniable.estimation.channel import TARGETS
from deniable.estimation.methods.linear import shifted
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.presence import p_values, score_at, significant
from deniable.mechanisms.base.mechanism import Mechanism

METHODS = ("projected", "unbiased")
_NOTE = "Per value: the intervals of the estimates under each spec, combined (Zou and Donner)."
_MOVED = " Moved into [0, 1] and widened to hold this estimate, which only adds coverage."
Part = tuple[Mechanism, Summary]


def combine_specs(parts: Iterable[Part], method: str | None = None, *, target: str = "users") -> Estimate:
    """Estimate from reports under several specs with the same labels, given as pairs of a mechanism and a summary.

    Each person must have answered under one of them only. One pair gives that mechanism's own estimate. Several give
    "projected" (the default), or "unbiased".

    >>> import deniable as dn
    >>> old, new = (dn.mechanism(name, labels=["yes", "no"], epsilon=2.0) for name in ("grr", "oue"))
    >>> dn.combine_specs([(old, dn.simulate(old, [60, 40])), (new, dn.simulate(new, [600, 400]))]).n
    1100
    """
    pairs = [(mechanism, summary) for mechanism, summary in parts if summary.n]
    if not pairs:
        raise InvalidArgument("parts", "have reports", "none")
    if len(pairs) == 1:
        return pairs[0][0].estimate(pairs[0][1], method, target=target)
    if len({mechanism.fingerprint for mechanism, _ in pairs}) < len(pairs):
        raise InvalidArgument("parts", "be of different specs", "one twice", "Add the summaries of the same spec.")
    choice(TARGETS, target=target)
    method = choice(METHODS, method=METHODS[0] if method is None else method)
    estimates = [mechanism.estimate(summary, "unbiased", target=target) for mechanism, summary in pairs]
    sums = CombinedSums(tuple(estimates), _weights(pairs, target))
    unbiased = sums.unbiased
    frequencies = unbiased if method == "unbiased" else nearest_distribution(unbiased)
    moved = None if method == "unbiased" else frequencies
    return Estimate(
        domain=estimates[0].domain,
        frequencies=_frozen(frequencies),
        std_error=_frozen(sums.errors_at(frequencies, slice(None))),
        n=sum(each.n for each in estimates),
        method=method,
        target=target,
        unbiased=method == "unbiased",
        interval_rule=CombinedIntervals(sums, moved),
        interval_note=_NOTE + ("" if moved is None else _MOVED),
        fingerprint="+".join(each.fingerprint for each in estimates),
        simulated=any(each.simulated for each in estimates),
        details={"weights": sums.weights.tolist(), "reports": [each.n for each in estimates]},
        sums=sums,
    )


def _weights(pairs: Sequence[Part], target: str) -> Floats:
    if target == "users":
        weights = np.array([float(summary.n) for _, summary in pairs])
    else:
        weights = np.array([1 / mechanism.variance(0.0, summary.n, target=target) for mechanism, summary in pairs])
    return np.asarray(weights / weights.sum())


def _frozen(array: Floats) -> Floats:
    array.setflags(write=False)
    return array


@dataclass(frozen=True, eq=False)
class CombinedSums(FieldsOnly):
    """Weighted sums of the combined frequencies: values add, variances add in squares."""

    estimates: tuple[Estimate, ...]
    weights: Floats

    @cached_property
    def places(self) -> list[Indices]:
        """The places of the first estimate's labels in each."""
        return [places_in(self.estimates[0], each) for each in self.estimates]

    @cached_property
    def unbiased(self) -> Floats:
        """The combined frequencies."""
        values = [each.frequencies[own] for each, own in zip(self.estimates, self.places, strict=True)]
        return np.asarray(self.weights @ np.stack(values))

    @cached_property
    def frequencies(self) -> Floats:
        """The combined frequencies, shifted to sum to 1."""
        return shifted(self.unbiased)

    def supporters(self) -> Counts | None:
        """None: reports of several specs are not one binomial count."""
        return None

    def value(self, weights: Floats) -> float:
        """sum_v w_v f_v."""
        return float(weights @ self.frequencies)

    def variance(self, weights: Floats) -> float:
        """The variance of `value`."""
        parts = (sums_of(each).variance(own) for each, own in self._spread(weights))
        return float(sum(w * w * part for w, part in zip(self.weights, parts, strict=True)))

    def most_added(self, weights: Floats) -> float:
        """The most that one report, under whichever spec, adds to the number of users in the weighted sum."""
        n = sum(each.n for each in self.estimates)
        spread = zip(self.weights, self._spread(weights), strict=True)
        return float(max(w * n / each.n * sums_of(each).most_added(own) for w, (each, own) in spread))

    def share(self, members: Mask, level: float, *, inside: bool) -> tuple[float, float, float, float]:
        """The share of users with one of these values, its standard error, and the ends of its interval."""
        found = np.array([sums_of(each).share(own, level, inside=False) for each, own in self._spread(members)])
        value = float(self.weights @ found[:, 0])
        error = float(np.sqrt((self.weights**2) @ found[:, 1] ** 2))
        low, high = (float(end) for end in self._mover(value, found[:, 0], found[:, 2], found[:, 3]))
        if not inside:
            return value, error, low, high
        value = min(max(value, 0.0), 1.0)
        return value, error, min(max(low, 0.0), value), max(min(high, 1.0), value)

    def _spread(self, by_value: Any) -> Iterable[tuple[Estimate, Any]]:
        """Something that each value has, in the order of each estimate."""
        for each, own in zip(self.estimates, self.places, strict=True):
            spread = np.empty_like(by_value)
            spread[own] = by_value
            yield each, spread

    def rows(self, level: float, simultaneous: bool) -> tuple[Floats, Floats, Interval]:
        """The combined frequency of every value, its standard error, and its interval."""
        ends = [
            tuple(end[own] for end in each.interval(level, simultaneous=simultaneous))
            for each, own in zip(self.estimates, self.places, strict=True)
        ]
        values = np.stack([each.frequencies[own] for each, own in zip(self.estimates, self.places, strict=True)])
        low, high = self._mover(
            self.unbiased, values, np.stack([low for low, _ in ends]), np.stack([high for _, high in ends])
        )
        return self.unbiased, self.errors_at(self.unbiased, slice(None)), Interval(low, high)

    def _mover(self, middle: Any, values: Floats, low: Floats, high: Floats) -> tuple[Any, Any]:
        squares = self.weights**2
        return middle - np.sqrt(squares @ (values - low) ** 2), middle + np.sqrt(squares @ (high - values) ** 2)

    def errors_at(self, frequencies: Floats, places: Any) -> Floats:
        """The standard errors that the values at these places would have at other frequencies."""
        parts = [
            sums_of(each).errors_at(frequencies, own[places])
            for each, own in zip(self.estimates, self.places, strict=True)
        ]
        return np.asarray(np.sqrt((self.weights**2) @ np.stack(parts) ** 2))


@dataclass(frozen=True, eq=False)
class CombinedIntervals:
    """Intervals and tests of combined frequencies; `constrained` is None for the unbiased ones."""

    sums: CombinedSums
    constrained: Floats | None

    def __call__(self, level: float, simultaneous: bool, exact: bool | None, places: Indices | None = None) -> Interval:
        """The intervals of these values (all by default); the parts know where a normal approximation fails."""
        del exact
        low, high = self.sums.rows(level, simultaneous)[2]
        if self.constrained is not None:
            low = np.minimum(np.clip(low, 0.0, 1.0), self.constrained)
            high = np.maximum(np.clip(high, 0.0, 1.0), self.constrained)
        return Interval(low, high) if places is None else Interval(low[places], high[places])

    @property
    def _errors(self) -> Floats:
        """The standard errors of absent values."""
        return self.sums.errors_at(np.zeros_like(self.sums.unbiased), slice(None))

    def present(self, rate: float, control: str) -> Mask:
        """The values that are present, by tests of frequency 0."""
        return significant(p_values(self.sums.unbiased, self._errors**2, 1), rate, control)

    def least_visible(self, level: float, simultaneous: bool) -> float:
        """The least estimate whose interval lies above zero."""
        miss = (1 - level) / (len(self.sums.unbiased) if simultaneous else 1)
        return float(score_at(miss / 2) * self._errors.min())
