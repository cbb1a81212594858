"""How often the best guess of a person's value from one report is right, for whoever knows how frequent values are.

The best guess from a report y is the value with the largest prior(x) Pr[y | x]; it is right with probability

    sum over reports y of  max over values x of  prior(x) Pr[y | x].

Where values are taken in the order of falling prior, a report's best guess is the first value that it supports, or the
first value of all. That makes the sum short for every mechanism; the others go through their channel, value by value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.display import brief
from deniable.core.domain import Domain
from deniable.core.domain.open import Open
from deniable.core.errors import InvalidArgument, kind_of
from deniable.derived.labels import place_of
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.channels.finite_channel import FiniteChannel
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters
from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
from deniable.mechanisms.subsets.subset_selection import SubsetSelection
from deniable.mechanisms.unary.histogram_summation import SummationHistogramEncoding
from deniable.mechanisms.unary.unary_encoding import UnaryEncoding

Prior = Mapping[Any, float] | Sequence[float] | Floats
_SUM = 1e-6  # how far a prior may be from adding up to 1
_MOST = 2**29  # reports times values that are looked through
_FILTERS = 2**22  # the same, for filters of several hashes


@dataclass(frozen=True)
class Reconstruction:
    """How often guesses of a value are right: without a report, and with one, for somebody with this prior.

    `sure` is the largest probability that any report can give to any value: prior odds times e^epsilon.
    """

    mechanism: str
    k: int
    uniform: bool
    without: float
    with_report: float
    sure: float

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return dict(self.__dict__)

    def __repr__(self) -> str:
        shares = {"without": f"{self.without:.4g}", "with_report": f"{self.with_report:.4g}"}
        return brief(self, mechanism=self.mechanism, **shares)

    def __str__(self) -> str:
        prior = "all values equally likely" if self.uniform else "the prior that was given"
        return (
            f"The best guess is right in {100 * self.without:.3g}% of cases without a report and in "
            f"{100 * self.with_report:.3g}% with one ({prior}); no report makes any value likelier than "
            f"{100 * self.sure:.3g}%."
        )


def reconstruction(mechanism: Mechanism, prior: Prior | None = None) -> Reconstruction:
    """Compute exactly how often the best guess of a value from one report is right.

    `prior`: how likely each value is to begin with, as a mapping from labels (values left out have probability 0) or a
    sequence in the domain's order; by default all are equally likely.

    >>> import deniable as dn
    >>> m = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
    >>> found = dn.reconstruction(m, {"yes": 0.1, "no": 0.9})
    >>> round(found.without, 3), round(found.with_report, 3), round(found.sure, 3)
    (0.9, 0.9, 0.961)
    """
    if isinstance(mechanism.domain, Open):
        raise InvalidArgument("domain", "be closed here", "open", "A guess needs a list of values.")
    shares = checked_prior(prior, mechanism.domain)
    ratio, first = float(mechanism.guarantee().ratio), float(shares.max())
    uniform = bool((shares == shares[0]).all())
    rate = float(mechanism.reconstruction_rate()) if prior is None else min(1.0, _rate(mechanism, shares))
    sure = first * ratio / (first * ratio + 1 - first)
    return Reconstruction(mechanism.name, mechanism.k, uniform, first, max(rate, first), sure)


def checked_prior(prior: Prior | None, domain: Domain) -> Floats:
    """Return a prior as shares in the domain's order, or raise InvalidArgument."""
    if prior is None:
        return np.full(domain.k, 1 / domain.k)
    if isinstance(prior, Mapping):
        given = np.array([_share(value) for value in prior.values()], np.float64)
        shares = np.bincount([place_of(domain, label) for label in prior], given, domain.k)
    else:
        if isinstance(prior, (str, bytes)) or not isinstance(prior, (Sequence, np.ndarray)):
            raise InvalidArgument("prior", "be a mapping from labels, or a list of shares", kind_of(prior))
        shares = np.array([_share(value) for value in prior], np.float64)
        if len(shares) != domain.k:
            raise InvalidArgument("prior", f"have one share for each of {domain.k:,} values", f"{len(shares):,}")
    total = math.fsum(shares)
    if abs(total - 1) > _SUM:
        raise InvalidArgument("prior", "sum to 1", round(total, 12), "Divide each share by the sum.")
    return np.asarray(shares / total)


def _share(value: object) -> float:
    if isinstance(value, (bool, str)) or not isinstance(value, (int, float, np.number)) or not 0 <= value <= 1:
        raise InvalidArgument("prior", "have shares from 0 to 1", value)
    return float(value)


def _rate(mechanism: Mechanism, prior: Floats) -> float:
    """The sum over reports of the largest prior(x) Pr[y | x]."""
    if isinstance(mechanism, UnaryEncoding):
        return _of_bits(prior, float(mechanism.channel.p), float(mechanism.channel.q))
    if isinstance(mechanism, SubsetSelection):
        return _of_sets(prior, mechanism.w, float(mechanism.channel.p))
    if isinstance(mechanism, ModularSubsetSelection):
        parts = zip(mechanism.moduli, mechanism.sizes, mechanism.channels, strict=True)
        folded = ((_largest(prior, np.arange(mechanism.k) % m, m), w, float(c.p)) for m, w, c in parts)
        return sum(_of_sets(*each) for each in folded) / mechanism.cohorts
    if isinstance(mechanism, SummationHistogramEncoding):
        return _of_levels(prior, mechanism)
    if isinstance(mechanism, FlippedFilters):
        return _of_filters(prior, mechanism)
    if isinstance(mechanism, FiniteChannel):
        return float((prior[:, np.newaxis] * mechanism.matrix_run).max(axis=0).sum())
    return _through_channel(prior, mechanism)


def _largest(prior: Floats, place: Any, size: int) -> Floats:
    """For each bucket or residue, the largest prior of a value that has it."""
    found = np.zeros(size)
    np.maximum.at(found, place, prior)
    return found


def _of_bits(prior: Floats, p: float, q: float) -> float:
    """A bit per value: the first set bit, in the order of falling prior, competes with the first value."""
    order = np.sort(prior)[::-1]
    first = q * (1 - q) ** np.arange(len(order))  # that all bits before are clear, and this one is set
    unset = order[0] * (1 - p) / (1 - q)
    guesses = np.maximum(order * p / q, unset)
    guesses[0] = order[0] * p / q
    return float(first @ guesses + (1 - q) ** len(order) * unset)


def _of_sets(prior: Floats, w: int, p: float) -> float:
    """A set of w of k values: the first of them in the order of falling prior competes with the first value."""
    order, k = np.sort(prior)[::-1], len(prior)
    # that the i-th value is the first of a uniform set: w/(k - i) if none of those before is in it
    first, left = np.zeros(k), 1.0
    for place in range(k - w + 1):
        first[place] = left * w / (k - place)
        left *= max(0.0, 1 - w / (k - place))
    # all sets that hold a value are alike: k/w and k/(k - w) times the uniform law
    unset = order[0] * (1 - p) * k / (k - w)
    guesses = np.maximum(order * p * k / w, unset)
    guesses[0] = order[0] * p * k / w
    return float(first @ guesses)


def _of_levels(prior: Floats, mechanism: SummationHistogramEncoding) -> float:
    """A level per value, independent: the mean of the largest prior times the odds of the level."""
    weights = np.array([weight / 2**64 for weight in mechanism.weights])
    odds = weights[::-1] / weights
    scores = np.outer(prior, odds).reshape(-1)
    owner, chance = np.repeat(np.arange(len(prior)), len(odds)), np.tile(weights, len(prior))
    order = np.argsort(scores, kind="stable")
    below, at_most, mean = np.zeros(len(prior)), 0.0, 0.0
    missing = len(prior)  # values without any level so far: the product of all is 0 until then
    logarithm = 0.0
    for place in order.tolist():
        value, more = owner[place], chance[place]
        if below[value] == 0.0:
            missing -= 1
        else:
            logarithm -= math.log(below[value])
        below[value] += more
        logarithm += math.log(below[value])
        now = math.exp(min(0.0, logarithm)) if missing == 0 else 0.0
        mean += (now - at_most) * scores[place]
        at_most = now
    return mean


def _of_filters(prior: Floats, mechanism: FlippedFilters) -> float:
    mechanism.check_closed()
    flip = float(mechanism.flip)
    if mechanism.hashes == 1:
        rows = mechanism.whole_design.table
        return sum(
            _of_bits(_largest(prior, row.astype(np.int64), mechanism.buckets), 1 - flip, flip) for row in rows
        ) / len(rows)
    if mechanism.k * mechanism.cohorts << mechanism.buckets > _FILTERS:
        hint = "Filters of several hashes are looked through one by one, which is for few short ones."
        raise InvalidArgument("prior", "be left out for so many filters", f"{mechanism.buckets} bits", hint)
    reports, total = np.arange(1 << mechanism.buckets), 0.0
    for cohort in range(mechanism.cohorts):
        filters = np.array([mechanism.filter(index, cohort) for index in range(mechanism.k)])
        apart = np.bitwise_count(reports[:, np.newaxis] ^ filters).astype(np.int64)
        chances = flip**apart * (1 - flip) ** (mechanism.buckets - apart)
        total += float((chances * prior).max(axis=1).sum())
    return total / mechanism.cohorts


def _through_channel(prior: Floats, mechanism: Mechanism) -> float:
    operator = mechanism.operator()
    if operator is None:
        raise InvalidArgument("prior", f"be left out for {mechanism.name}", "a prior", "It does not state its channel.")
    order = np.argsort(-prior, kind="stable")
    # a value whose prior is below the largest one's by more than the largest ratio is nobody's best guess
    order = order[prior[order] * float(mechanism.guarantee().ratio) >= prior[order[0]] * (1 - 1e-9)]
    reports = mechanism.layout.cells
    if len(order) * reports > _MOST:
        hint = f"It takes {len(order):,} values times {reports:,} reports; up to {_MOST:,} are looked through."
        raise InvalidArgument("prior", "rule out more of the values", f"{len(order):,} likely ones", hint)
    best = np.zeros(reports)
    for value in order.tolist():
        unit = np.zeros(mechanism.k)
        unit[value] = prior[value]
        np.maximum(best, operator.forward(unit).reshape(-1), out=best)
    return float(best.sum())
