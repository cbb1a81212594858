"""The figures of a row, its goals, and the verdicts.

A goal is judged on the figures of one run. A goal whose figures could not be measured is never met: its
verdict is None, with a note that says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

OURS = "ours"
TIME = "time"  # the figure in seconds; all other figures are plain numbers

Figures = Mapping[str, float]


@dataclass(frozen=True)
class Measured:
    """Figures by owner (ours, a peer, a limit of the machine), and the reasons why some are missing."""

    figures: Mapping[str, Figures] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)

    def __or__(self, other: Measured) -> Measured:
        names = {**self.figures, **other.figures}
        merged = {name: {**self.figures.get(name, {}), **other.figures.get(name, {})} for name in names}
        return Measured(merged, {**self.missing, **other.missing})

    def of(self, name: str, figure: str) -> float | None:
        """One figure, if it was measured."""
        return self.figures.get(name, {}).get(figure)


def timed(seconds: Mapping[str, float], per: int = 1) -> Measured:
    """Times as figures, each divided by the number of users (or elements) handled."""
    return Measured({name: {TIME: total / per} for name, total in seconds.items()})


@dataclass(frozen=True)
class Verdict:
    """A goal, the two figures compared, and whether it is met (None: not measured)."""

    goal: str
    figure: str
    ours: float | None
    against: str
    theirs: float | None
    met: bool | None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The figure we compare with, divided by ours: how many times faster ours is."""
        return self.theirs / self.ours if self.figure == TIME and self.theirs is not None and self.ours else None


class Goal(Protocol):
    """A target that a row has to reach."""

    def judge(self, measured: Measured) -> Verdict:
        """The verdict on these figures."""
        ...


@dataclass(frozen=True)
class AtMost:
    """Our figure is at most `bound`; it is shown beside another figure of the same run.

    With `or_beside`, the goal is also met if ours is no slower than that other figure.
    """

    bound: float
    figure: str = TIME
    beside: str = ""
    or_beside: bool = False

    def judge(self, measured: Measured) -> Verdict:
        ours, theirs = measured.of(OURS, self.figure), measured.of(self.beside, self.figure)
        goal = f"{'' if self.figure == TIME else self.figure + ' '}≤ {shown(self.figure, self.bound)}"
        goal += f" or {self.beside}" if self.or_beside else ""
        met, note = None, f"{self.figure} was not measured"
        if ours is not None:
            as_good = self.or_beside and theirs is not None and ours <= theirs
            met, note = ours <= self.bound or as_good, ""
        return Verdict(goal, self.figure, ours, self.beside, theirs, met, note)


@dataclass(frozen=True)
class Faster:
    """We are at least `times` faster than the fastest of the named peers; all of them must have run."""

    times: float
    than: tuple[str, ...]

    def judge(self, measured: Measured) -> Verdict:
        goal = f"≥ {self.times:g} × faster" if self.times != 1 else "faster"
        ours = measured.of(OURS, TIME)
        found = {name: seconds for name in self.than if (seconds := measured.of(name, TIME)) is not None}
        best = min(found, key=found.__getitem__, default=" and ".join(self.than))
        absent = [name for name in self.than if name not in found]
        note = "; ".join(f"{name}: {measured.missing.get(name, 'not measured')}" for name in absent)
        met = None if ours is None or absent else found[best] >= self.times * ours
        return Verdict(goal, TIME, ours, best, found.get(best), met, note)


def shown(figure: str, value: float) -> str:
    """Format a figure: times with their unit, plain numbers briefly."""
    if figure != TIME:
        return f"{value:.1e}" if value else "0"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
