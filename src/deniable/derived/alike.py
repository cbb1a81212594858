"""A test that groups are alike: that every label is equally frequent in all of them.

Every label is tested by itself, and the smallest p-value is multiplied by the number of tests (Bonferroni), so that
groups that are alike are called different with a probability of at most the rate.

Exact: where all groups share a mechanism, the number of reports that support a label, those of a fixed set that
its senders make more often, is binomial in each group, with the same probability if the populations are alike. Given
their sum, the counts are then hypergeometric, whatever the frequencies are (Fisher 1934): each group is tested against
all others. Elsewhere, and for the target "users", the weighted squares of the differences from the common frequency
are taken as chi-squared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.core.defaults import RATE
from deniable.core.display import brief
from deniable.core.domain import Label
from deniable.core.errors import InvalidArgument
from deniable.core.estimate import Estimate
from deniable.core.extras import needed
from deniable.core.quantity import ABOUT
from deniable.core.validate import strictly_between
from deniable.derived.groups import check_targets, places_in
from deniable.derived.labels import sums_of

_FAR = 12.0  # standard deviations, beyond which a tail adds nothing
_TERMS = 2**26  # terms of all tails together up to which they are added up


@dataclass(frozen=True)
class Alike:
    """The outcome of `alike`. `p_values` are by label, before the correction that `p_value` has for their number."""

    groups: tuple[str, ...]
    p_value: float
    p_values: Mapping[Label, float]
    rate: float
    target: str
    exact: bool

    @property
    def differ(self) -> bool:
        """Whether the groups are found to differ. Of groups that are alike, at most a share `rate` are."""
        return self.p_value <= self.rate

    def __bool__(self) -> bool:
        raise TypeError("use .differ: not found to differ does not mean alike")

    @property
    def label(self) -> Label:
        """The label with the smallest p-value."""
        return min(self.p_values, key=lambda label: self.p_values[label])

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; the p-values as pairs of a label and a number."""
        return {
            "groups": list(self.groups),
            "p_value": self.p_value,
            "differ": self.differ,
            "rate": self.rate,
            "target": self.target,
            "exact": self.exact,
            "p_values": [list(pair) for pair in self.p_values.items()],
        }

    def __repr__(self) -> str:
        return brief(self, groups=len(self.groups), p_value=f"{self.p_value:.2g}", differ=self.differ)

    def _repr_html_(self) -> str:
        from deniable.cards.intervals import alike_card

        return alike_card(self)

    def __str__(self) -> str:
        found = f"differ, most in {self.label}" if self.differ else "are not found to differ"
        how = "exact" if self.exact else "normal approximation"
        about = f"about {ABOUT[self.target]}, {how}, at most {100 * self.rate:g}% false alarms"
        return f"{len(self.groups)} groups {found} (p = {self.p_value:.2g}; {about})"


def alike(groups: Mapping[str, Estimate] | Iterable[Estimate], rate: float = RATE) -> Alike:
    """Test whether every label is equally frequent in all groups: estimates from separate reports.

    The target is that of the estimates. "population" asks whether the groups were drawn from the same distribution,
    the usual question; "users" asks it of the very users who reported.
    """
    strictly_between(0, 1, rate=rate)
    named = dict(groups) if isinstance(groups, Mapping) else {str(i + 1): each for i, each in enumerate(groups)}
    estimates = list(named.values())
    if len(estimates) < 2 or not all(isinstance(each, Estimate) for each in estimates):
        raise InvalidArgument("groups", "be two or more estimates", groups)
    check_targets(estimates)
    first = estimates[0]
    places = [places_in(first, each) for each in estimates]
    if len({id(each) for each in estimates}) < len(estimates):
        raise InvalidArgument("groups", "be from separate reports", "the same estimate twice")
    support = _support(estimates)
    if support is None:
        found, tests = _by_normal(estimates, places), first.domain.k
    else:
        found, tests = _by_tails(support, [each.n for each in estimates])
    p_values = dict(zip(first.domain.all_labels(), found.tolist(), strict=True))
    least = min(1.0, float(found.min()) * tests)
    return Alike(tuple(named), least, p_values, rate, first.target, exact=support is not None)


def _support(estimates: list[Estimate]) -> Counts | None:
    """[group, label]: the reports that support each label, where the test of them is exact and affordable."""
    first = estimates[0]
    terms = _FAR * math.sqrt(max(each.n for each in estimates)) * first.domain.k * len(estimates)
    if first.target != "population" or terms > _TERMS or len({each.fingerprint for each in estimates}) > 1:
        return None
    found = [sums_of(each).supporters() for each in estimates]
    return None if any(each is None for each in found) else np.array(found)


def _by_tails(counts: Counts, reports: list[int]) -> tuple[Floats, int]:
    """The smallest p-value of each label over the groups, each against all others, and the number of tests."""
    total, everyone = counts.sum(axis=0), sum(reports)
    tested = len(reports) - (len(reports) == 2)  # of two groups, the second has the same p-value
    found = np.ones(counts.shape[1])
    for own, n in list(zip(counts, reports, strict=True))[:tested]:
        for label, (count, sum_of_all) in enumerate(zip(own.tolist(), total.tolist(), strict=True)):
            found[label] = min(found[label], fisher(count, n, sum_of_all, everyone))
    return found, counts.size if tested > 1 else counts.shape[1]


def fisher(count: int, n: int, total: int, everyone: int) -> float:
    """Twice the smaller tail of the hypergeometric count: `n` drawn of `everyone`, of whom `total` are marked."""
    with needed():
        from scipy.special import gammaln

    low, high = max(0, n + total - everyone), min(n, total)
    mean = n * total / everyone
    reach = _FAR * (1 + math.sqrt(mean * (1 - total / everyone) * (1 - n / everyone)))
    ends = max(low, math.floor(min(count, mean) - reach)), min(high, math.ceil(max(count, mean) + reach))
    values = np.arange(ends[0], ends[1] + 1, dtype=np.float64)

    def ways(size: float, part: Floats | float) -> Floats:
        return np.asarray(gammaln(size + 1) - gammaln(part + 1) - gammaln(size - part + 1))

    logs = ways(total, values) + ways(everyone - total, n - values) - ways(everyone, float(n))
    chances = np.exp(logs)
    tails = chances[: count - ends[0] + 1].sum(), chances[count - ends[0] :].sum()
    return float(min(1.0, 2 * min(tails)))


def _by_normal(estimates: list[Estimate], places: list[Any]) -> Floats:
    """p-values of the weighted squares about the common frequency, with the variances that it gives."""
    with needed():
        from scipy.special import chdtrc

    values = np.stack([sums_of(each).unbiased[own] for each, own in zip(estimates, places, strict=True)])
    reports = np.array([each.n for each in estimates], np.float64)[:, np.newaxis]
    common = np.clip((reports * values).sum(axis=0) / reports.sum(), 0.0, 1.0)
    errors = np.stack([sums_of(each).errors_at(common, own) for each, own in zip(estimates, places, strict=True)])
    weights = 1 / np.maximum(errors, 1e-300) ** 2
    middle = (weights * values).sum(axis=0) / weights.sum(axis=0)
    return np.asarray(chdtrc(len(estimates) - 1.0, (weights * (values - middle) ** 2).sum(axis=0)))
