"""Estimated frequencies with standard errors, intervals, and the name of the method that made them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Integers, Mask
from deniable.core.defaults import LEVEL, RATE, SHOWN
from deniable.core.derivable import Derivable
from deniable.core.display import brief, cells, decimals, percent
from deniable.core.domain import Domain, Label
from deniable.core.errors import MissingExtra
from deniable.core.extras import needed
from deniable.core.validate import strictly_between, whole

_WHOM = {"users": "users who reported", "population": "population they were drawn from"}


class IntervalRule(Protocol):
    """The source of an estimate's intervals, of all values or of those at some places, and tests of presence."""

    def __call__(
        self, level: float, simultaneous: bool, exact: bool | None, places: Indices | None = None
    ) -> Interval: ...

    def present(self, rate: float, control: str) -> Mask: ...

    def least_visible(self, level: float, simultaneous: bool) -> float: ...


class WeightedSums(Protocol):
    """Weighted sums of the unbiased frequencies behind an estimate, with their variances (estimation/weighted_sums.py).

    The frequencies are shifted to sum to 1.
    """

    @property
    def unbiased(self) -> Floats: ...

    @property
    def frequencies(self) -> Floats: ...

    def supporters(self) -> Counts | None: ...

    def value(self, weights: Floats) -> float: ...

    def variance(self, weights: Floats) -> float: ...

    def most_added(self, weights: Floats) -> float: ...

    def share(self, members: Mask, level: float, *, inside: bool) -> tuple[float, float, float, float]: ...

    def rows(self, level: float, simultaneous: bool) -> tuple[Floats, Floats, Interval]: ...

    def errors_at(self, frequencies: Floats, places: Any) -> Floats: ...


class Interval(NamedTuple):
    """Lower and upper ends of the intervals, one pair per value."""

    low: Floats
    high: Floats


class Row(NamedTuple):
    """The estimate of one value."""

    label: Label
    frequency: float
    std_error: float
    low: float
    high: float
    users: float


@dataclass(frozen=True, eq=False)
class Estimate(Derivable):
    """Estimated frequencies of all values of a domain.

    `target` is what the error bars refer to: "users", the frequencies among the users who reported, or
    "population", the distribution the users were drawn from. `std_error` is the standard error of the
    unbiased estimate, evaluated at these frequencies clipped to [0, 1]; constrained methods vary less and
    are biased.
    """

    domain: Domain
    frequencies: Floats
    std_error: Floats
    n: int
    method: str
    target: str
    unbiased: bool
    interval_rule: IntervalRule = field(repr=False)
    interval_note: str
    fingerprint: str
    simulated: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    sums: WeightedSums | None = field(default=None, repr=False)
    influence: float | None = None  # the most that one report adds to the unbiased count of a value, where known

    @property
    def counts(self) -> Floats:
        """Estimated number of reporting users with each value: n times the frequency."""
        return self.frequencies * self.n

    def interval(self, level: float = LEVEL, *, simultaneous: bool = False, exact: bool | None = None) -> Interval:
        """Confidence intervals at this level, for each value or simultaneously for all values.

        The interval of each value holds for a value named beforehand; for values chosen by their estimates, such as
        the most frequent ones, use simultaneous intervals. By default tails replace the normal approximation where it
        fails; `exact` uses them for all values, or for none.
        """
        level = strictly_between(0, 1, level=level)
        return self.interval_rule(level, simultaneous, exact)

    def rows(self, level: float = LEVEL, *, simultaneous: bool = False, places: Any = None) -> list[Row]:
        """The estimates of the values at these positions (all by default), in the given order."""
        level = strictly_between(0, 1, level=level)
        chosen = np.arange(len(self.frequencies)) if places is None else np.asarray(places, np.int64)
        # most intervals are costly where few reports made them: no others than these are computed
        ends = self.interval_rule(level, simultaneous, None, None if places is None else chosen)
        columns = (self.frequencies, self.std_error, self.counts)
        frequencies, errors, users = (column[chosen].tolist() for column in columns)
        labels = (self.domain.label(place) for place in chosen.tolist())
        found = zip(labels, frequencies, errors, ends.low.tolist(), ends.high.tolist(), users, strict=True)
        return [Row(*each) for each in found]

    def top(self, count: int = 10, level: float = LEVEL, *, simultaneous: bool = True) -> list[Row]:
        """The most frequent values, most frequent first.

        The largest estimates are too large more often than not. Simultaneous intervals allow for that: they hold for
        all values at once, and so for those at the top. Without, each holds only for a value named beforehand.
        """
        return self.rows(level, simultaneous=simultaneous, places=self._largest(whole(1, count=count)))

    def present(
        self, rate: float = RATE, level: float = LEVEL, *, control: str = "discoveries", simultaneous: bool = True
    ) -> list[Row]:
        """The values that are present, most frequent first: each is tested against frequency 0.

        With the control "discoveries" at most a share `rate` of them is absent, on average (Benjamini and Hochberg
        1995, for estimates that are independent or positively dependent); with "family" the probability that any of
        them is absent is at most `rate` (Holm 1979).
        """
        there = np.flatnonzero(self.interval_rule.present(rate, control))
        order = there[np.lexsort((there, -self.frequencies[there]))]
        return self.rows(level, simultaneous=simultaneous, places=order)

    def visible(self, level: float = LEVEL, *, simultaneous: bool = True) -> float:
        """The least frequency that stands out from zero: the interval of an estimate below it contains zero.

        It is about the unbiased estimate; a constrained one may lie a little lower or higher.
        """
        return self.interval_rule.least_visible(strictly_between(0, 1, level=level), simultaneous)

    def to_arrow(self, level: float = LEVEL, *, simultaneous: bool = False) -> Any:
        """An Arrow table: label, frequency, std_error, low, high, users."""
        with needed():
            import pyarrow as pa

        low, high = self.interval(level, simultaneous=simultaneous)
        labels = self.domain.all_labels()
        if self.domain.extras:
            labels = [str(label) for label in labels]
        columns = [labels, self.frequencies, self.std_error, low, high, self.counts]
        metadata = {"method": self.method, "target": self.target, "n": str(self.n), "level": repr(level)}
        table = pa.table(dict(zip(Row._fields, columns, strict=True)))
        return table.replace_schema_metadata({f"deniable.{name}": text for name, text in metadata.items()})

    def to_pandas(self, level: float = LEVEL, *, simultaneous: bool = False) -> Any:
        """A pandas data frame indexed by label."""
        try:
            import pandas  # noqa: F401, ICN001
        except ImportError:
            raise MissingExtra("to_pandas", "pandas") from None
        return self.to_arrow(level, simultaneous=simultaneous).to_pandas().set_index("label")

    def plot(self, path: str | Path | None = None, *, top: int = 30, level: float = LEVEL, **options: Any) -> Any:
        """Draw the most frequent values with their intervals.

        Return matplotlib axes. With a path, also write a picture (.png, .svg, .pdf) or, for .html, an
        interactive page that works offline.
        """
        from deniable.plots.estimates import draw_estimate

        return draw_estimate(self, path, top=top, level=level, **options)

    def __repr__(self) -> str:
        simulated = "simulated" if self.simulated else ""
        return brief(self, simulated, k=f"{len(self):,}", n=f"{self.n:,}", method=self.method, target=self.target)

    def _repr_html_(self) -> str:
        from deniable.cards.intervals import estimate_card

        return estimate_card(self)

    def __str__(self) -> str:
        return "\n".join([self.title, *self._text_rows(), *self.remarks()])

    def __rich__(self) -> Any:
        with needed():
            from rich.markup import escape
            from rich.table import Table

        table = Table(title=escape(self.title), title_justify="left", caption="\n".join(self.remarks()))
        table.caption_justify = "left"
        table.add_column("value")
        for heading in ("frequency", "std. error", f"{LEVEL:.0%} interval"):
            table.add_column(heading, justify="right")
        rows = self.top(SHOWN)
        for row, (frequency, error, low, high) in zip(rows, cells(rows), strict=True):
            table.add_row(escape(str(row.label)), frequency, error, f"{low} .. {high}")
        return table

    @property
    def title(self) -> str:
        """One line: the method, the number of reports, and what the error bars refer to."""
        kind = "unbiased" if self.unbiased else "constrained, biased"
        simulated = ", simulated" if self.simulated else ""
        return f"{self.method} ({kind}) from {self.n:,} reports, error bars for the {_WHOM[self.target]}{simulated}"

    def remarks(self, level: float = LEVEL, *, simultaneous: bool = True) -> list[str]:
        """What to say below a table of the most frequent values: what the intervals promise, what can be seen."""
        count = len(self.frequencies)
        promise = f"The {100 * level:g}% intervals hold " + (
            f"for all {count:,} values at once, so also for those at the top."
            if simultaneous
            else "for each value named beforehand, not for those chosen because they are at the top."
        )
        seen = int((self.interval(level, simultaneous=simultaneous).low > 0).sum())
        least = percent(self.visible(level, simultaneous=simultaneous), decimals(self.std_error))
        many = "no value does" if seen == 0 else f"{seen:,} of {count:,} values {'does' if seen == 1 else 'do'}"
        seen_from = f"With {self.n:,} reports nothing below about {least} stands out from zero; {many}."
        return [promise, seen_from, *self._trust()]

    def _trust(self) -> list[str]:
        """What false reports can do to a count, where that is known."""
        added, error = self.influence, float(self.std_error.min())
        kind = "count" if self.unbiased else "unbiased count"
        whose = f"{'a' if self.unbiased else 'an'} {kind}"
        if added is None:
            if self.sums is None:
                return []
            place = int(self._largest(1)[0])  # where values differ, that of the most frequent one
            added, error = self.sums.most_added(np.eye(1, len(self.frequencies), place)[0]), self.std_error[place]
            whose = f"the {kind} of {self.domain.label(place)}"
        equal = max(1, round(error * self.n / added))
        many = f"{equal:,} of them make" if equal > 1 else "it alone makes"
        return [f"One false report moves {whose} by up to {added:.3g}; {many} one standard error."]

    def _text_rows(self) -> list[str]:
        rows = self.top(SHOWN)
        width = max(5, *(len(str(row.label)) for row in rows))
        lines = [f"{'value':<{width}} {'frequency':>11} {'std. error':>11}   {LEVEL:.0%} interval"]
        for row, (frequency, error, low, high) in zip(rows, cells(rows), strict=True):
            lines.append(f"{row.label!s:<{width}} {frequency:>11} {error:>11}   {low} .. {high}")
        hidden = len(self.frequencies) - len(rows)
        return [*lines, f"... and {hidden:,} more"] if hidden else lines

    def _largest(self, count: int) -> Integers:
        count = min(count, len(self.frequencies))
        found = np.argpartition(-self.frequencies, count - 1)[:count]
        return found[np.lexsort((found, -self.frequencies[found]))]
