"""The estimates of all groups: one tidy table, differences of two groups, and a test that all are alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.defaults import LEVEL, RATE
from deniable.core.display import brief
from deniable.core.errors import EmptySummary, InvalidArgument
from deniable.core.estimate import Estimate
from deniable.core.extras import needed
from deniable.core.summary import Summary
from deniable.derived.alike import Alike, alike
from deniable.derived.groups import Differences
from deniable.grouping.keys import Group, column_of
from deniable.mechanisms.base.mechanism import Mechanism

if TYPE_CHECKING:
    from deniable.grouping.table import SummaryTable

_SHOWN_GROUPS, _SHOWN_VALUES = 10, 3


def named(group: Group) -> str:
    """A group in one line of text, which no other group has: keys with commas or quotes are quoted."""
    texts = [str(key) for key in group]
    return ", ".join(repr(text) if set(text) & set(",'\"") or text != text.strip() else text for text in texts)


@dataclass(frozen=True, eq=False)
class GroupEstimates:
    """An estimate for each group of a table of summaries; groups without reports are left out."""

    table: SummaryTable
    mechanism: Mechanism
    estimates: Mapping[Group, Estimate]
    options: Mapping[str, Any] = field(repr=False)  # of each estimate

    @staticmethod
    def of(
        table: SummaryTable, mechanism: Mechanism, method: str | None, target: str, options: Mapping[str, Any]
    ) -> GroupEstimates:
        """Estimate every group by itself."""
        if not isinstance(mechanism, Mechanism):
            raise InvalidArgument("mechanism", "be the mechanism of the reports", mechanism)
        found: dict[Group, Estimate] = {}
        for group, summary in table.items():
            if not isinstance(summary, Summary):
                hint = "These are summaries of heavy hitters: use find() on the summary of each group."
                raise InvalidArgument("table", "hold summaries of a mechanism", type(summary).__name__, hint)
            mechanism.same_spec("a table of summaries", summary.fingerprint)
            if summary.n:
                found[group] = mechanism.estimate(summary, method, target=target, **options)
        if not found:
            raise EmptySummary("an estimate needs at least one report; this table has none")
        return GroupEstimates(table, mechanism, found, dict(options))

    def __len__(self) -> int:
        return len(self.estimates)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.estimates)

    def items(self) -> Iterator[tuple[Group, Estimate]]:
        """All groups with their estimates, in order."""
        return iter(self.estimates.items())

    def __getitem__(self, group: Any) -> Estimate:
        keys = self.table.group(group)
        if keys not in self.estimates:
            raise EmptySummary(f"an estimate needs at least one report; group {named(keys)} has none")
        return self.estimates[keys]

    def difference(self, first: Any, second: Any) -> Differences:
        """The frequencies of one group minus those of another, with intervals, for every label."""
        return Differences.of(self[first], self[second])

    def alike(self, rate: float = RATE, *, target: str = "population") -> Alike:
        """Test whether every label is equally frequent in all groups.

        Groups that are alike are found to differ with a probability of at most `rate`. For the target "population",
        that the people of all groups were drawn from one distribution, the test is exact where the mechanism has
        binomial counts; for "users", the very people who reported, it is an approximation. The answer says which.
        """
        named_groups = {
            named(group): self.mechanism.estimate(self.table[group], "unbiased", target=target, **self.options)  # type: ignore[arg-type]
            for group in self.estimates
        }
        return alike(named_groups, rate)

    def to_arrow(self, level: float = LEVEL, *, simultaneous: bool = False) -> Any:
        """One tidy table: the columns of the group, its n, then those of an estimate, a row per group and label.

        Intervals hold for each label of each group or, with `simultaneous`, for all labels of a group at once.
        """
        with needed():
            import pyarrow as pa

        parts = [each.to_arrow(level, simultaneous=simultaneous) for each in self.estimates.values()]
        groups, repeats = list(self.estimates), [len(part) for part in parts]
        rows = pa.array(np.repeat(np.arange(len(groups)), repeats))
        body = pa.concat_tables([part.replace_schema_metadata(None) for part in parts])
        columns = {name: column_of([group[at] for group in groups], name) for at, name in enumerate(self.table.by)}
        columns["n"] = pa.array([each.n for each in self.estimates.values()], pa.int64())
        first = next(iter(self.estimates.values()))
        keep = {b"deniable.method": first.method, b"deniable.target": first.target, b"deniable.level": repr(level)}
        taken, whole = {*body.column_names, *columns}, dict[str, Any]()
        for name, column in columns.items():
            free = name
            while free in body.column_names or (free != name and free in taken):
                free = f"group_{free}"
            taken.add(free)
            whole[free] = column.take(rows)
        whole |= {name: body.column(name) for name in body.column_names}
        return pa.table(whole).replace_schema_metadata(keep)

    def to_pandas(self, level: float = LEVEL, *, simultaneous: bool = False) -> Any:
        """The tidy table as a pandas DataFrame."""
        return self.to_arrow(level, simultaneous=simultaneous).to_pandas()

    def to_polars(self, level: float = LEVEL, *, simultaneous: bool = False) -> Any:
        """The tidy table as a polars DataFrame."""
        with needed():
            import polars as pl

        return pl.from_arrow(self.to_arrow(level, simultaneous=simultaneous))

    @property
    def title(self) -> str:
        """One line: how many groups and reports, how they were estimated, and what the errors refer to."""
        first = next(iter(self.estimates.values()))
        return (
            f"{len(self):,} groups by {', '.join(self.table.by)}, {self.table.n:,} reports, "
            f"{first.method}, about {first.target}"
        )

    def __repr__(self) -> str:
        return brief(self, by=", ".join(self.table.by), groups=f"{len(self):,}", n=f"{self.table.n:,}")

    def _repr_html_(self) -> str:
        from deniable.grouping.cards import estimates_card

        return estimates_card(self)

    def __str__(self) -> str:
        lines = [self.title]
        for group, estimate in list(self.items())[:_SHOWN_GROUPS]:
            rows = estimate.top(_SHOWN_VALUES)
            top = "; ".join(f"{row.label} {row.frequency:.1%} ({row.low:.1%} to {row.high:.1%})" for row in rows)
            lines.append(f"{named(group)}  n = {estimate.n:,}: {top}")
        left = len(self) - _SHOWN_GROUPS
        return "\n".join([*lines, *([f"... and {left:,} more groups"] if left > 0 else [])])
