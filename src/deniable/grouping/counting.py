"""Counting reports of many groups at once: one row of counts for each group, in place."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Indices, Payloads
from deniable.core.errors import FingerprintMismatch, InvalidArgument, MalformedReport
from deniable.core.reports import COLUMN, Reports
from deniable.grouping.keys import Coded, Group, differing, kinds_of
from deniable.grouping.rows import MOST_BYTES, rows_of
from deniable.grouping.table import AnySummary, SummaryTable
from deniable.heavy_hitters.collected import LEVEL_COLUMN, HitterReports, HitterSummary
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.layouts.layout import Layout

Counted = Mechanism | HeavyHitters  # what reports are of, and knows how to count them


def check_counted(mechanism: object) -> Counted:
    """Refuse anything but a mechanism or heavy hitters."""
    if not isinstance(mechanism, (Mechanism, HeavyHitters)):
        raise InvalidArgument("mechanism", "be a mechanism, or heavy hitters", mechanism)
    return mechanism


def levels_of(counted: Counted) -> tuple[Mechanism, ...]:
    """The mechanism of each level."""
    return (counted,) if isinstance(counted, Mechanism) else counted.levels


def layout_of(counted: Counted) -> Layout:
    """The layout of the reports, which all levels of heavy hitters share but for the number of cells."""
    return levels_of(counted)[0].layout


def report_columns(counted: Counted) -> tuple[str, ...]:
    """The columns of a table of reports that counting needs."""
    return (COLUMN,) if isinstance(counted, Mechanism) else (LEVEL_COLUMN, COLUMN)


def check_beside(counted: Counted, by: tuple[str, ...]) -> None:
    """Refuse to group by the reports themselves."""
    for name in by:
        if name in report_columns(counted):
            raise InvalidArgument("by", "name columns beside those of the reports", name)


def reports_from(counted: Counted, table: Any) -> Reports | HitterReports:
    """Read reports from an Arrow table or record batch."""
    return Reports.from_arrow(table) if isinstance(counted, Mechanism) else HitterReports.from_arrow(table)


@dataclass(frozen=True, eq=False)
class Cells:
    """Counts of many groups, one entry for each that is not zero: how partial counts travel between machines.

    Entry i says that cell `cells[i]` of level `levels[i]` of the group `groups[codes[i]]` has `counts[i]`; the cell
    `REPORTS` has the number of reports. A mechanism has one level, 0.
    """

    groups: list[Group]
    codes: Indices
    levels: Indices
    cells: Indices
    counts: Counts

    @staticmethod
    def of(groups: Coded, levels: Indices, cells: Indices, counts: Counts) -> Cells:
        """Entries in these groups."""
        codes = np.zeros(len(cells), np.int64) if groups.codes is None else groups.codes
        return Cells(groups.groups, codes, levels, cells, counts)


class GroupAccumulator:
    """Counts of many groups that grow in place; by no columns, of one group. It belongs to one thread."""

    def __init__(self, counted: Counted, by: tuple[str, ...] = (), *, most_bytes: int = MOST_BYTES) -> None:
        self.counted = counted
        self.by = by
        self._levels = rows_of([level.layout for level in levels_of(counted)], most_bytes)
        self._places: dict[Group, int] = {}
        self._kinds: tuple[str, ...] = ()  # of the keys in each column
        self._simulated: set[int] = set()
        if not by:
            self._places_of([()])

    @property
    def n(self) -> int:
        """The number of reports counted so far."""
        return sum(int(level.n.sum()) for level in self._levels)

    @property
    def most(self) -> int:
        """How many groups there may be."""
        return self._levels[0].most

    @property
    def groups(self) -> Set[Group]:
        """The groups that have a row of counts."""
        return self._places.keys()

    def add(self, reports: Reports | HitterReports, groups: Coded) -> None:
        """Add a batch of reports in these groups; nothing is added if it raises."""
        parts = self.check(reports, groups)
        if not len(reports):
            return
        places = self._places_of(groups.groups)
        for level, (data, codes) in zip(self._levels, parts, strict=True):
            sizes = groups.sizes
            if codes is not None and len(self._levels) > 1:
                sizes = np.bincount(codes, minlength=len(places))
            level.add(data, codes, places, sizes)
        flagged = reports if isinstance(reports, Reports) else reports.reports
        if flagged.simulated:
            self._simulated.update(places.tolist())

    def check(self, reports: Reports | HitterReports, groups: Coded) -> list[tuple[Payloads, Indices | None]]:
        """Refuse reports that cannot be counted; return those of each level, with their groups."""
        return list(self._divided(reports, groups.codes))

    def _divided(
        self, reports: Reports | HitterReports, codes: Indices | None
    ) -> Iterator[tuple[Payloads, Indices | None]]:
        """The checked reports of each level, with their groups."""
        if isinstance(self.counted, Mechanism) and isinstance(reports, Reports):
            yield self.counted.checked(reports)[0], codes
        elif isinstance(self.counted, HeavyHitters) and isinstance(reports, HitterReports):
            own = self.counted.by_level(reports)
            for number, (level, part) in enumerate(zip(self.counted.levels, own, strict=True)):
                yield level.checked(part)[0], None if codes is None else codes[reports.levels == number]
        else:
            raise MalformedReport(f"reports must be of this spec, got {type(reports).__name__}")

    def _places_of(self, groups: list[Group]) -> Indices:
        """The rows of these groups, made where they are new."""
        if groups:
            self._check_kinds(groups[:1])  # of a column, all keys are of one kind
        known = len(self._places)
        places = np.array([self._places.setdefault(group, len(self._places)) for group in groups], np.int64)
        if len(self._places) > known:
            try:
                for level in self._levels:
                    level.make_room(len(self._places))
            except InvalidArgument:
                self._places = {group: place for group, place in self._places.items() if place < known}
                raise
        return places

    def _check_kinds(self, groups: list[Group]) -> None:
        """Refuse keys of another kind than those before: to Python, some of them are equal (1 and true)."""
        kinds = kinds_of(groups, self.by)
        self._kinds = self._kinds or kinds
        if clash := differing(self.by, self._kinds, kinds):
            hint = "Keys in the names of folders take a type, as in version:int."
            raise InvalidArgument("by", "name columns with one kind of key", clash, hint)

    def merge(self, other: GroupAccumulator) -> None:
        """Add the counts of another, of the same spec and columns."""
        places = self._places_of(list(other._places))
        for mine, theirs in zip(self._levels, other._levels, strict=True):
            mine.merge(theirs, places)
        self._simulated.update(places[list(other._simulated)].tolist() if other._simulated else ())

    def cells(self, at_once: int) -> Iterator[Cells]:
        """All counts that are not zero, of so many groups at a time that they have at most so many cells."""
        groups = list(self._places)
        step = max(1, at_once // sum(level.layout.cells for level in self._levels))
        for start in range(0, len(groups), step):
            own = groups[start : start + step]
            parts = [level.entries(range(start, start + len(own))) for level in self._levels]
            codes, cells, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
            yield Cells(own, codes, np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts]), cells, counts)

    def add_cells(self, cells: Cells, simulated: bool = False) -> None:
        """Add counts, of which a cell may have several; they were checked when they were counted."""
        places = self._places_of(cells.groups)
        rows = places[cells.codes]
        for number, level in enumerate(self._levels):
            own = cells.levels == number
            level.add_entries(rows[own], cells.cells[own], cells.counts[own])
        if simulated:
            self._simulated.update(places.tolist())

    def summary(self) -> AnySummary:
        """The summary of the one group there is if nothing is grouped."""
        assert not self.by, "a table has many summaries"
        return self._summary(0)

    def table(self) -> SummaryTable:
        """The summaries of all groups."""
        found = {group: self._summary(place) for group, place in self._places.items()}
        return SummaryTable(self.by, found, self.counted.fingerprint)

    def _summary(self, place: int) -> AnySummary:
        simulated = place in self._simulated
        if isinstance(self.counted, Mechanism):
            return self._levels[0].summary(place, self.counted.fingerprint, simulated)
        both = zip(self._levels, self.counted.levels, strict=True)
        parts = (level.summary(place, own.fingerprint, simulated) for level, own in both)
        return HitterSummary(tuple(parts), self.counted.fingerprint)


def same_spec(counted: Counted, fingerprint: str, what: str) -> None:
    """Refuse reports of another spec."""
    if fingerprint != counted.fingerprint:
        raise FingerprintMismatch(what, counted.fingerprint, fingerprint)
