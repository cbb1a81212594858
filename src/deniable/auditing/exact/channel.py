"""A channel as an auditor knows it: its worst ratio with a witness, and, where it is small, every probability."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any

Report = Any  # an integer or a tuple of them, as payloads are written
MOST_STEPS = 2**17  # probabilities that an enumeration may compute
UNCOUNTED = 2**64  # as the number of reports: too many to matter


@dataclass(frozen=True)
class Witness:
    """A report, the value under which it is likeliest, and one under which it is least likely, by index."""

    value: int
    other: int
    report: Report


@dataclass(frozen=True)
class Level:
    """One class of reports: how much likelier they are under one value than under another, and a witness.

    Without a witness the ratio is a bound: no report has a larger one, and none is known that has it.
    """

    ratio: Fraction | None  # None where the other value never makes the report: infinitely many times
    witness: Witness | None

    @property
    def size(self) -> Fraction | float:
        """The ratio, for comparisons."""
        return inf if self.ratio is None else self.ratio


@dataclass(frozen=True)
class Channel:
    """What a derivation found. `levels` are the classes of reports by ratio, the worst first."""

    values: int
    levels: tuple[Level, ...]
    rate: Fraction | None  # how often the best guess from one report is right, all values equally likely
    rate_is_bound: bool = False
    reports: int | None = None
    method: str = "closed form"
    faults: tuple[str, ...] = ()
    describe: Callable[[Report], str] = field(default=str, compare=False)
    bound: Fraction | None = None  # what a closed form can say of the ratio, if that is only a bound

    @property
    def worst(self) -> Level:
        """The class with the largest ratio."""
        return self.levels[0]


@dataclass(frozen=True)
class Enumerable:
    """A channel whose every probability can be asked for."""

    values: int
    reports: Callable[[], Iterable[Report]]
    probability: Callable[[Report, int], Fraction]


def enumerated(channel: Enumerable) -> tuple[tuple[Level, ...], Fraction, int, tuple[str, ...]]:
    """Go through every report and value: the classes of reports, the attack rate, the number of reports, and faults."""
    totals = [Fraction(0)] * channel.values
    best, count = Fraction(0), 0
    found: dict[Fraction | None, Witness] = {}
    for report in channel.reports():
        column = [channel.probability(report, value) for value in range(channel.values)]
        totals = [total + chance for total, chance in zip(totals, column, strict=True)]
        best += max(column)
        count += 1
        if max(column) > 0:
            ratio, witness = of_column(column, report)
            found.setdefault(ratio, witness)
    wrong = [value for value, total in enumerate(totals) if total != 1]
    faults = [f"the probabilities of value {value} add up to {float(totals[value]):.17g}, not 1" for value in wrong[:1]]
    return ordered(found), best / channel.values, count, tuple(faults)


def of_column(column: Sequence[Fraction], report: Report) -> tuple[Fraction | None, Witness]:
    """The largest ratio of a report's probabilities, and a witness of it."""
    most, least = max(column), min(column)
    witness = Witness(column.index(most), column.index(least), report)
    return (most / least if least else None), witness


def ordered(found: dict[Fraction | None, Witness]) -> tuple[Level, ...]:
    """Classes of reports, the worst first."""
    levels = [Level(ratio, witness) for ratio, witness in found.items()]
    return tuple(sorted(levels, key=lambda level: level.size, reverse=True))


def settled(
    enumerable: Enumerable | None,
    size: int,
    levels: Sequence[Level],
    rate: Fraction | None,
    describe: Callable[[Report], str],
    faults: Iterable[str] = (),
    values: int = 0,
    rate_is_bound: bool = True,
) -> Channel:
    """A channel by enumeration if it has at most MOST_STEPS probabilities, else by the closed form that is given.

    Where both are known they must agree: two derivations of one number. Without a rate, that is in an open domain,
    there is nothing to enumerate.
    """
    shown = {"describe": describe, "faults": tuple(faults)}
    if enumerable is None or rate is None or size * enumerable.values > MOST_STEPS:
        count = enumerable.values if enumerable is not None else values
        by_size = sorted(levels, key=lambda level: level.size, reverse=True)
        known = size if size < UNCOUNTED else None
        bound = by_size[0].ratio if by_size[0].witness is None else None
        return Channel(count, tuple(by_size), rate, rate_is_bound, known, bound=bound, **shown)  # type: ignore[arg-type]
    classes, exact, count, wrong = enumerated(enumerable)
    shown["faults"] = (*shown["faults"], *wrong)  # type: ignore[misc]
    given, bound = max(levels, key=lambda level: level.size), None
    if given.witness is None and given.size >= classes[0].size:
        bound = given.ratio
    elif given.size != classes[0].size:
        odd = f"the closed form gives the ratio {float(given.size):.17g}, enumeration {float(classes[0].size):.17g}"
        shown["faults"] = (*shown["faults"], odd)  # type: ignore[misc]
    exactly = enumerable.values, classes, exact, False, count, "enumeration"
    return Channel(*exactly, bound=bound, **shown)  # type: ignore[arg-type]
