"""The labels that a question names, as weights on the values of an estimate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Mask
from deniable.core.domain import Domain, Label
from deniable.core.domain.listed import Integers
from deniable.core.errors import DeniableError, InvalidArgument
from deniable.core.estimate import Estimate, WeightedSums
from deniable.core.suggest import did_you_mean

Group = Label | Iterable[Label]  # one label, or several that are taken together

_SUGGESTED = 10_000  # labels among which near ones are looked for


def place_of(domain: Domain, label: object) -> int:
    """The index of a label; unlike a value outside the domain, an unknown label never stands for "other"."""
    try:
        place = domain.index(label)
        found = domain.label(place)
    except DeniableError:
        found = None
    if found is None or found != label:
        labels = domain.all_labels() if domain.k <= _SUGGESTED else []
        raise InvalidArgument("label", f"be one of the {domain.k:,} labels", label, did_you_mean(label, labels))
    return place


def members_of(domain: Domain, group: Group) -> tuple[Mask, str]:
    """The values of a group, and its name."""
    labels: list[Any] = list(group) if isinstance(group, Iterable) and not isinstance(group, str) else [group]
    if not labels:
        raise InvalidArgument("labels", "name at least one label", labels)
    places = [place_of(domain, label) for label in labels]
    if len(set(places)) < len(places):
        twice = next(label for label, place in zip(labels, places, strict=True) if places.count(place) > 1)
        raise InvalidArgument("labels", "be distinct", twice)
    members = np.zeros(domain.k, np.bool_)
    members[places] = True
    return members, " + ".join(map(str, labels)) if len(labels) <= 4 else f"{labels[0]} + {len(labels) - 1} more"


def numbers_of(domain: Domain) -> tuple[Floats, Mask]:
    """The number that each value is, and which values are numbers: all but "other" and "no answer"."""
    if isinstance(domain, Integers):
        labels: Any = range(domain.low, domain.high + 1)
    else:
        labels = domain.all_labels()[: domain.listed]
        if not all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
            raise InvalidArgument("domain", "have whole numbers as labels", domain.kind, "Only numbers have a mean.")
    numbers, answered = np.zeros(domain.k), np.zeros(domain.k, np.bool_)
    numbers[: domain.listed], answered[: domain.listed] = labels, True
    return numbers, answered


def sums_of(estimate: Estimate) -> WeightedSums:
    """The weighted sums of an estimate, which only closed domains have."""
    if estimate.sums is None:
        hint = "In an open domain the errors of two candidates depend on strings that nobody listed."
        raise InvalidArgument("estimate", "be of a closed domain", estimate.domain.kind, hint)
    return estimate.sums


def note_on(estimate: Estimate, shown: float | None = None, percent: bool = False) -> str:
    """What to say where the table shows another method than the one behind a derived answer."""
    if estimate.unbiased:
        return ""
    number = "" if shown is None else f"; the frequencies by {estimate.method} give {_number(shown, percent)}"
    return f"From the unbiased estimate, whose errors are known{number}."


def _number(value: float, percent: bool) -> str:
    return f"{value:.2%}" if percent else f"{value:.4g}"
