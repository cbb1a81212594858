"""A table of summaries: one for each group, all of one spec, mergeable by addition.

Arrow layout 1 (stable): the columns of the groups, then `n` (int64) and `summary` (large_binary, the bytes of that
group's summary), one row per group, sorted by group; in the schema's metadata `deniable.summaries` (the layout) and
`deniable.fingerprint`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.core.display import brief
from deniable.core.errors import (
    DeniableError,
    EmptySummary,
    FingerprintMismatch,
    InvalidArgument,
    MalformedSummary,
    UnsupportedVersion,
    shown,
)
from deniable.core.extras import needed
from deniable.core.reports import as_table
from deniable.core.summary import MAGIC, Summary
from deniable.grouping.keys import (
    RESERVED,
    Group,
    as_key,
    check_kind,
    column_of,
    differing,
    group_columns,
    keys_of,
    kind_of_key,
    kinds_of,
    order_of,
)
from deniable.heavy_hitters.collected import MAGIC as HITTERS_MAGIC
from deniable.heavy_hitters.collected import HitterSummary

if TYPE_CHECKING:
    from deniable.grouping.estimates import GroupEstimates
    from deniable.mechanisms.base.mechanism import Mechanism

LAYOUT = 1
LAYOUT_KEY = b"deniable.summaries"
FINGERPRINT_KEY = b"deniable.fingerprint"
COUNT, SUMMARY = RESERVED
AnySummary = Summary | HitterSummary


@dataclass(frozen=True, eq=False)
class SummaryTable:
    """One summary for each group. Addition is exact, commutative and associative, as that of summaries is.

    `by` names the columns of the groups; `summaries` maps each group, a tuple of keys, to its summary, in order.

    >>> import deniable as dn
    >>> m = dn.mechanism("grr", labels=["yes", "no"], epsilon=1.0)
    >>> reports = m.privatize(["yes", "no", "yes"], seed=1)
    >>> table = dn.summarize_by(m, reports, by={"day": ["mon", "tue", "mon"]})
    >>> [(day, summary.n) for (day,), summary in table.items()]
    [('mon', 2), ('tue', 1)]
    """

    by: tuple[str, ...]
    summaries: Mapping[Group, AnySummary]
    fingerprint: str
    _kinds: tuple[str, ...] = field(init=False, repr=False)  # of the keys in each column

    def __post_init__(self) -> None:
        by = group_columns(self.by)
        found: dict[Group, AnySummary] = {}
        for group, summary in self.summaries.items():
            keys = group if isinstance(group, tuple) else (group,)
            if len(keys) != len(by):
                raise InvalidArgument("group", f"have {len(by)} keys, one for each of {', '.join(by)}", group)
            if not isinstance(summary, (Summary, HitterSummary)):
                raise InvalidArgument("summaries", "be summaries", summary)
            if summary.fingerprint != self.fingerprint:
                raise FingerprintMismatch("a summary", self.fingerprint, summary.fingerprint)
            found[tuple(as_key(key) for key in keys)] = summary
        object.__setattr__(self, "_kinds", kinds_of(found, by))
        object.__setattr__(self, "by", by)
        object.__setattr__(self, "summaries", {group: found[group] for group in sorted(found, key=order_of)})

    def __len__(self) -> int:
        return len(self.summaries)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.summaries)

    def items(self) -> Iterator[tuple[Group, AnySummary]]:
        """All groups with their summaries, in order."""
        return iter(self.summaries.items())

    def __getitem__(self, group: Any) -> AnySummary:
        return self.summaries[self.group(group)]

    def group(self, group: Any) -> Group:
        """Return a group of this table, given as its key or as a tuple of keys, or refuse it."""
        given = group if isinstance(group, tuple) else (group,)
        keys = tuple(key.item() if isinstance(key, np.generic) else key for key in given)
        if keys not in self.summaries or tuple(map(kind_of_key, keys)) != self._kinds:
            known = ", ".join(shown(each[0] if len(each) == 1 else each) for each in list(self.summaries)[:5])
            raise InvalidArgument("group", "be one of the table", group, f"It has {len(self)}: {known}, ...")
        return keys

    @property
    def n(self) -> int:
        """The number of reports, over all groups."""
        return sum(summary.n for summary in self.summaries.values())

    @property
    def simulated(self) -> bool:
        return any(summary.simulated for summary in self.summaries.values())

    def total(self) -> AnySummary:
        """The summary of all groups together."""
        if not self.summaries:
            raise EmptySummary("a table without groups has no total")
        first, *others = self.summaries.values()
        return sum(others, start=first)

    def over(self, by: Any) -> SummaryTable:
        """The same summaries in fewer, larger groups: by some of the columns."""
        wanted = group_columns(by)
        for name in wanted:
            if name not in self.by:
                raise InvalidArgument("by", f"name columns among {', '.join(self.by)}", name)
        places = [self.by.index(name) for name in wanted]
        merged: dict[Group, Any] = {}
        for group, summary in self.summaries.items():
            larger = tuple(group[place] for place in places)
            merged[larger] = merged[larger] + summary if larger in merged else summary
        return SummaryTable(wanted, merged, self.fingerprint)

    def __add__(self, other: SummaryTable) -> SummaryTable:
        if not isinstance(other, SummaryTable):
            return NotImplemented
        if other.fingerprint != self.fingerprint:
            raise FingerprintMismatch("a table of summaries", self.fingerprint, other.fingerprint)
        if other.by != self.by:
            rule = f"be grouped by {', '.join(self.by)}, as the first is"
            raise InvalidArgument("table", rule, ", ".join(other.by), "Use over() to group by fewer columns.")
        if clash := differing(self.by, self._kinds, other._kinds):
            raise InvalidArgument("table", "have the kinds of keys that the first has", clash)
        merged: dict[Group, Any] = dict(self.summaries)
        for group, summary in other.summaries.items():
            merged[group] = merged[group] + summary if group in merged else summary
        return SummaryTable(self.by, merged, self.fingerprint)

    def __radd__(self, other: object) -> SummaryTable:
        return self if other == 0 else NotImplemented  # sum() starts at 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SummaryTable):
            return NotImplemented
        mine, theirs = ((each.by, each.fingerprint, dict(each.summaries)) for each in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        simulated = "simulated" if self.simulated else ""
        named = ", ".join(self.by)
        return brief(self, simulated, by=named, groups=f"{len(self):,}", n=f"{self.n:,}", fingerprint=self.fingerprint)

    def _repr_html_(self) -> str:
        from deniable.grouping.cards import table_card

        return table_card(self)

    def estimate(
        self, mechanism: Mechanism, method: str | None = None, *, target: str = "users", **options: Any
    ) -> GroupEstimates:
        """Estimate the frequencies in every group, with error bars, by the mechanism of the reports."""
        from deniable.grouping.estimates import GroupEstimates

        return GroupEstimates.of(self, mechanism, method, target, options)

    def to_arrow(self) -> Any:
        """Return the table in the stable Arrow layout."""
        with needed():
            import pyarrow as pa

        groups = list(self.summaries)
        columns = [column_of([group[place] for group in groups], name) for place, name in enumerate(self.by)]
        fields = [pa.field(name, column.type, nullable=False) for name, column in zip(self.by, columns, strict=True)]
        fields += [pa.field(COUNT, pa.int64(), nullable=False), pa.field(SUMMARY, pa.large_binary(), nullable=False)]
        counts = pa.array([summary.n for summary in self.summaries.values()], pa.int64())
        data = pa.array([summary.to_bytes() for summary in self.summaries.values()], pa.large_binary())
        metadata = {LAYOUT_KEY: str(LAYOUT).encode(), FINGERPRINT_KEY: self.fingerprint.encode()}
        return pa.Table.from_arrays([*columns, counts, data], schema=pa.schema(fields, metadata=metadata))

    @staticmethod
    def from_arrow(table: Any) -> SummaryTable:
        """Read the Arrow layout; other layouts, groups that repeat and damaged summaries are refused."""
        with needed():
            import pyarrow as pa

        table = as_table(table)
        fingerprint = table_fingerprint(table.schema.metadata)
        *by, count, summary = table.column_names if table.num_columns > 2 else ("", "", "", "")
        if (count, summary) != RESERVED or len(set(table.column_names)) < table.num_columns:
            raise MalformedSummary("a table of summaries must have columns of groups, then n and summary")
        if any(table.column(name).null_count for name in table.column_names):
            raise MalformedSummary("a table of summaries must have no nulls")
        if not (pa.types.is_binary(table[SUMMARY].type) or pa.types.is_large_binary(table[SUMMARY].type)):
            raise MalformedSummary(f"column {SUMMARY!r} must hold bytes, got {table[SUMMARY].type}")
        for name in by:
            check_kind(_value_type(table[name].type), name)
        keys = [keys_of(table[name]) for name in by]
        found: dict[Group, AnySummary] = {}
        for group, n, data in zip(zip(*keys, strict=True), table[COUNT], table[SUMMARY], strict=True):
            if group in found:
                raise MalformedSummary(f"group {shown(group)} occurs twice in a table of summaries")
            try:
                found[group] = summary_of(data.as_buffer())
            except DeniableError as error:
                raise MalformedSummary(f"group {shown(group)}: {error}") from None
            if n.as_py() != found[group].n:
                raise MalformedSummary(f"group {shown(group)}: n must be {found[group].n}, as its summary says")
        return SummaryTable(tuple(by), found, fingerprint)


def _value_type(kind: Any) -> Any:
    return getattr(kind, "value_type", kind)  # of a dictionary


def is_summary_table(metadata: Mapping[bytes, bytes] | None) -> bool:
    """Whether an Arrow schema's metadata says that it is a table of summaries."""
    return LAYOUT_KEY in (metadata or {})


def table_fingerprint(metadata: Mapping[bytes, bytes] | None) -> str:
    """Return the fingerprint from the metadata of a table of summaries."""
    found = metadata or {}
    layout = found.get(LAYOUT_KEY, b"").decode(errors="replace")
    if not re.fullmatch("[1-9][0-9]{0,5}", layout) or FINGERPRINT_KEY not in found:
        raise MalformedSummary("this is not a table of summaries: its metadata names no layout and fingerprint")
    if int(layout) > LAYOUT:
        raise UnsupportedVersion("layout of summaries", layout, LAYOUT)
    return found[FINGERPRINT_KEY].decode(errors="replace")


def summary_of(data: Any) -> AnySummary:
    """Read the bytes of a summary of a mechanism or of heavy hitters."""
    view = memoryview(data)
    return HitterSummary.from_bytes(view) if bytes(view[: len(MAGIC)]) == HITTERS_MAGIC else Summary.from_bytes(view)
