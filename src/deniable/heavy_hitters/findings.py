"""The result of a search: strings with frequencies and intervals, and a statement of what it may have missed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from deniable.core.arrays import Floats
from deniable.core.defaults import LEVEL, SHOWN
from deniable.core.display import brief, cells
from deniable.core.extras import needed
from deniable.core.validate import strictly_between, whole
from deniable.heavy_hitters.selection import given_selection
from deniable.heavy_hitters.strings import CUT

NOTE = (
    "Per string: the truncated normal law of an estimate that stood out, inverted; covers the truth at the level among "
    "the strings listed, up to the normal approximation."
)


class FoundString(NamedTuple):
    """The estimate of one string. If not `whole`, it is the prefix of longer strings."""

    label: str
    whole: bool
    frequency: float
    std_error: float
    low: float
    high: float
    users: float

    @property
    def text(self) -> str:
        """The string as it is printed: a prefix ends in dots."""
        return self.label if self.whole else f"{self.label}…"


class LevelNote(NamedTuple):
    """What happened at one level: the prefixes extended, the candidates, and the prefixes kept."""

    length: int
    n: int
    candidates: int
    extended: int
    kept: int
    threshold: float  # the frequency that a candidate's estimate had to reach
    mass: float  # estimated share of users whose prefix, or whole string, stood out
    mass_error: float


@dataclass(frozen=True, eq=False)
class Findings:
    """The strings found, most frequent first: print it, or use `rows`, `to_arrow`, `plot`."""

    texts: tuple[bytes, ...] = field(repr=False)
    estimates: Floats = field(repr=False)
    errors: Floats = field(repr=False)
    thresholds: Floats = field(repr=False)
    n: int
    rate: float
    target: str
    tested: int
    notes: tuple[LevelNote, ...]
    found_from: tuple[tuple[int, float], ...]
    alphabet: str | None
    fingerprint: str
    simulated: bool

    def __len__(self) -> int:
        return len(self.texts)

    def rows(self, level: float = LEVEL) -> list[FoundString]:
        """All strings found, with intervals at this confidence level.

        Given that the string was found, the frequency is too large as often as too small.
        """
        miss = 1 - strictly_between(0, 1, level=level)
        low, middle, high = (
            np.clip(given_selection(self.estimates, self.errors, self.thresholds, chance), 0.0, 1.0)
            for chance in (miss / 2, 0.5, 1 - miss / 2)
        )
        order = np.lexsort((-self.estimates, -middle))
        return [
            FoundString(
                self.texts[i][:-1].decode(errors="replace"),
                self.texts[i][-1] != CUT,
                float(middle[i]),
                float(self.errors[i]),
                float(low[i]),
                float(high[i]),
                float(middle[i]) * self.n,
            )
            for i in order.tolist()
        ]

    def top(self, count: int = 10, level: float = LEVEL) -> list[FoundString]:
        """The most frequent strings."""
        return self.rows(level)[: whole(1, count=count)]

    @property
    def unlisted(self) -> tuple[float, float]:
        """The share of users whose string is not listed, and its standard error.

        A sum of medians is not a median: the truth lies between the sum of the medians and the sum of the estimates
        before the correction for selection, and the whole difference is counted as error.
        """
        listed = sum(row.frequency for row in self.rows())
        difference = float(self.estimates.sum()) - listed
        return max(0.0, 1 - listed), float(np.sqrt((self.errors**2).sum() + difference**2))

    @property
    def missed(self) -> str:
        """What may have been missed, in words."""
        share, error = self.unlisted
        limits = "; ".join(f"up to {length} bytes: {f:.3%}" for length, f in self.found_from)
        dropped = "; ".join(
            f"{note.length} bytes: {max(0.0, 1 - note.mass):.1%} +- {note.mass_error:.1%}" for note in self.notes
        )
        room = [
            note.length for before, note in zip(self.notes, self.notes[1:], strict=False) if note.extended < before.kept
        ]
        short = (
            f" The budget was too small to extend all prefixes to {', '.join(map(str, room))} bytes." if room else ""
        )
        letters = "" if self.alphabet is None else f" Only strings of the characters {self.alphabet!r} were looked for."
        return (
            f"{share:.1%} +- {error:.1%} of users have a string that is not listed. A string was found with a chance "
            f"of 90% from this frequency on: {limits}. Users whose first bytes did not stand out: {dropped}."
            f"{short}{letters}"
        )

    @property
    def promise(self) -> str:
        """The guarantee about the list, in words."""
        return (
            f"Of the strings listed, at most {100 * self.rate:g}% are absent, on average (Benjamini and Hochberg, "
            f"{self.tested:,} strings tested)."
        )

    def to_dict(self, level: float = LEVEL, top: int | None = None) -> dict[str, Any]:
        """Everything as plain data."""
        share, error = self.unlisted
        return {
            "n": self.n,
            "target": self.target,
            "level": level,
            "rate": self.rate,
            "found": len(self),
            "tested": self.tested,
            "promise": self.promise,
            "interval_note": NOTE,
            "unlisted": {"frequency": share, "std_error": error},
            "found_from": [{"max_bytes": length, "frequency": f} for length, f in self.found_from],
            "missed": self.missed,
            "levels": [note._asdict() for note in self.notes],
            "simulated": self.simulated,
            "fingerprint": self.fingerprint,
            "strings": [row._asdict() for row in self.rows(level)[:top]],
        }

    def to_arrow(self, level: float = LEVEL) -> Any:
        """An Arrow table: label, whole, frequency, std_error, low, high, users."""
        with needed():
            import pyarrow as pa

        kinds = (pa.string(), pa.bool_(), *[pa.float64()] * 5)
        rows = self.rows(level)
        columns = [pa.array([row[place] for row in rows], kind) for place, kind in enumerate(kinds)]
        return pa.table(dict(zip(FoundString._fields, columns, strict=True)))

    def plot(self, path: str | Path | None = None, *, top: int = 30, level: float = LEVEL) -> Any:
        """Draw the most frequent strings with their intervals; with a path, write .png, .svg or .pdf."""
        from deniable.plots.estimates import draw_rows

        return draw_rows(self.top(top, level), path, f"{len(self):,} strings found in {self.n:,} reports")

    @property
    def title(self) -> str:
        """One line: how many strings were found in how many reports."""
        return f"{len(self):,} strings found in {self.n:,} reports{', simulated' if self.simulated else ''}"

    def __repr__(self) -> str:
        simulated = "simulated" if self.simulated else ""
        return brief(self, simulated, found=f"{len(self):,}", n=f"{self.n:,}", target=self.target)

    def _repr_html_(self) -> str:
        from deniable.heavy_hitters.cards import findings_card

        return findings_card(self)

    def __str__(self) -> str:
        rows = self.top(SHOWN)
        width = max([5, *(len(row.label) + 1 for row in rows)])
        lines = [self.title]
        lines.append(f"{'value':<{width}} {'frequency':>11} {'std. error':>11}   {LEVEL:.0%} interval")
        for row, (frequency, error, low, high) in zip(rows, cells(rows), strict=True):
            lines.append(f"{row.text:<{width}} {frequency:>11} {error:>11}   {low} .. {high}")
        hidden = len(self) - len(rows)
        return "\n".join([*lines, *([f"... and {hidden:,} more"] if hidden else []), self.promise, self.missed])
