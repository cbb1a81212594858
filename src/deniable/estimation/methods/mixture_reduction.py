"""Mixture reduction: values that cannot be told from zero share one weight, if the likelihood loses little.

Reports are draws from a mixture with one component per value. With many rare values the maximum of the
likelihood fits their noise. So the values whose unbiased estimate lies below two standard errors (at zero) are
merged into one component, whose distribution of reports is their mean; the likelihood is maximised over
the smaller mixture, and the merged weight is divided evenly. The reduction is accepted if it lowers
    BIC = (free weights) log n - 2 (log-likelihood of all reports),
with k - 1 free weights before and k - c after merging c values.

Reference: Ye, Wang, Zhang, Feng 2025, who merge in rounds, from the rarest on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats, Mask
from deniable.estimation.channel import Operator, PureChannel
from deniable.estimation.methods.iterative import iterate
from deniable.estimation.methods.likelihood import log_likelihood, most_likely
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.operators.two_level import Identity, two_level_operator

Maximise = Callable[[Mask], tuple[Floats, float]]  # merged values -> frequencies of all values, certified gap

STANDARD_ERRORS = 2.0


@dataclass(frozen=True)
class Reduced:
    """The estimate, the number of values merged (0 if the reduction was refused), both BICs, and the gap."""

    frequencies: Floats
    merged: int
    candidates: int
    bic: float
    bic_unmerged: float
    gap: float


class GroupedOperator:
    """A channel whose merged values are one component: the mean of their distributions of reports.

    Its components are the other values, in order, and then the merged one.
    """

    def __init__(self, operator: Operator, merged: Mask) -> None:
        self.operator, self.merged = operator, merged
        self.members = int(merged.sum())
        self.mean = operator.forward(merged / self.members)

    def expand(self, weights: Floats) -> Floats:
        """Weights of the components as frequencies of all values."""
        out = np.full(len(self.merged), weights[-1] / self.members)
        out[~self.merged] = weights[:-1]
        return out

    def forward(self, weights: Floats) -> Floats:
        return self.operator.forward(self.expand(weights))

    def adjoint(self, scores: Floats) -> Floats:
        return np.append(self.operator.adjoint(scores)[~self.merged], self.mean @ scores)

    def adjoint_squared(self, scores: Floats) -> Floats:
        return np.append(self.operator.adjoint_squared(scores)[~self.merged], self.mean**2 @ scores)


def reduced(counts: Counts, operator: Operator, unbiased: Floats, v0: float) -> Reduced:
    """Mixture reduction for any channel, by the certified iterative update. Biased.

    Cost: two maximisations of the likelihood.
    """

    start = nearest_distribution(unbiased)

    def maximise(merged: Mask) -> tuple[Floats, float]:
        if not merged.any():
            found = iterate(counts, operator, start=start)
            return found.frequencies, found.gap
        grouped = GroupedOperator(operator, merged)
        found = iterate(counts, grouped, start=np.append(start[~merged], start[merged].sum()))
        return grouped.expand(found.frequencies), found.gap

    return _choose(counts, operator, unbiased, v0, maximise)


def reduced_replacement(counts: Counts, channel: PureChannel, unbiased: Floats, v0: float) -> Reduced:
    """Mixture reduction for randomised response, in closed form. Biased.

    The merged channel, with its outputs merged too, gives the component of c members the probability
    c q + (p - q) theta. Its maximum of the likelihood keeps x if h_x (R + a) >= s (most_likely), where the
    component has the mean of its members' counts and is counted c times in R. So it is the ordinary maximum
    with each merged count replaced by the mean of the merged counts.
    Cost: linear, twice the cost of `most_likely`.
    """
    operator = two_level_operator(Identity(), channel.p, channel.q)

    def maximise(merged: Mask) -> tuple[Floats, float]:
        members = int(merged.sum())
        if members * int(counts.sum()) >= 2**62:  # the scaled counts would overflow
            grouped = GroupedOperator(operator, merged)
            found = iterate(counts, grouped)
            return grouped.expand(found.frequencies), found.gap
        # all counts times c, so that the mean of the merged ones is a whole number
        scaled = np.where(merged, counts[merged].sum(), counts * max(members, 1))
        return most_likely(scaled, channel), 0.0

    return _choose(counts, operator, unbiased, v0, maximise)


def details(found: Reduced) -> dict[str, Any]:
    """The details of a reduction that an estimate reports."""
    return {name: getattr(found, name) for name in ("merged", "candidates", "bic", "bic_unmerged", "gap")}


def _choose(counts: Counts, operator: Operator, unbiased: Floats, v0: float, maximise: Maximise) -> Reduced:
    n, k = int(counts.sum()), len(unbiased)

    def bic(frequencies: Floats, free: int) -> float:
        return free * math.log(n) - 2 * n * log_likelihood(frequencies, counts, operator)

    plain, gap = maximise(np.zeros(k, np.bool_))
    before = bic(plain, k - 1)
    merged = unbiased < STANDARD_ERRORS * math.sqrt(v0 / n)
    candidates = int(merged.sum())
    if candidates > 1:
        smaller, smaller_gap = maximise(merged)
        after = bic(smaller, k - candidates)
        if after <= before:
            return Reduced(smaller, candidates, candidates, after, before, smaller_gap)
    return Reduced(plain, 0, candidates, before, before, gap)
