"""A row of counts for each group, which grow in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from deniable.core.arrays import Bytes, Counts, Indices, Payloads
from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.mechanisms.layouts.layout import Layout
from deniable.mechanisms.layouts.symbols import SymbolLayout

MOST_BYTES = 2**31  # counts of all groups, over all threads; half as much again for a moment while rows grow
REPORTS = -1  # the cell, in a list of entries, that has the number of reports


def rows_of(layouts: Sequence[Layout], most_bytes: int) -> list[Rows]:
    """Rows for reports of each of these layouts, for as many groups as fit in so many bytes together."""
    kinds = [SymbolRows if isinstance(layout, SymbolLayout) else Rows for layout in layouts]
    group = sum(kind.cell_bytes * layout.cells for kind, layout in zip(kinds, layouts, strict=True))
    return [kind(layout, max(1, most_bytes // group)) for kind, layout in zip(kinds, layouts, strict=True)]


class Rows:
    """Counts and a number of reports for each group."""

    cell_bytes: ClassVar[int] = 8

    def __init__(self, layout: Layout, most: int) -> None:
        self.layout = layout
        self.most = most
        self._counts: Counts = np.zeros((0, layout.cells), np.int64)
        self.n: Counts = np.zeros(0, np.int64)

    def make_room(self, groups: int) -> None:
        """Have a row for each of so many groups."""
        if groups > self.most:
            hint = "Group by fewer columns, count some groups at a time, or with fewer threads, which share the memory."
            raise InvalidArgument("by", f"make at most {self.most:,} groups of this spec", f"{groups:,} or more", hint)
        if groups > len(self.n):
            self._grow(min(self.most, max(groups, 2 * len(self.n))))

    def _grow(self, rows: int) -> None:
        self._counts, self.n = _longer(self._counts, rows), _longer(self.n, rows)

    def add(self, data: Payloads, codes: Indices | None, places: Indices, sizes: Indices) -> None:
        """Add checked reports: report i in row places[codes[i]] or, without codes, all in the first of these rows.

        `sizes` says how many there are for each place.
        """
        if codes is None:
            self.layout.count(data, self._counts[places[0]])
            self.n[places[0]] += len(data)
        else:
            self._add_groups(data, codes, places, sizes)
            np.add.at(self.n, places, sizes)  # a place may come twice

    def _add_groups(self, data: Payloads, codes: Indices, places: Indices, sizes: Indices) -> None:
        ordered, end = data[np.argsort(codes, kind="stable")], 0
        for place, size in zip(places.tolist(), sizes.tolist(), strict=True):
            self.layout.count(ordered[end : end + size], self._counts[place])
            end += size

    def counts(self, place: int) -> Counts:
        """The counts of one group."""
        row: Counts = self._counts[place]
        return row

    def entries(self, places: range) -> tuple[Indices, Indices, Counts]:
        """Rows, cells and counts that are not zero, of these groups, of which the first is row 0.

        The cell REPORTS has the number of reports. Cost: a copy of the counts of these groups, and of those returned.
        """
        every = np.array([self.counts(place) for place in places], np.int64).reshape(len(places), self.layout.cells)
        rows, cells = np.nonzero(every)
        own = self.n[places.start : places.stop]
        present = np.flatnonzero(own)
        counts = np.concatenate([own[present], every[rows, cells]])
        return np.concatenate([present, rows]), np.concatenate([np.full(len(present), REPORTS), cells]), counts

    def add_entries(self, rows: Indices, cells: Indices, counts: Counts) -> None:
        """Add what `entries` returned, in any order; a cell may have several."""
        whole = cells == REPORTS
        np.add.at(self.n, rows[whole], counts[whole])
        np.add.at(self._counts, (rows[~whole], cells[~whole]), counts[~whole])

    def merge(self, other: Rows, places: Indices) -> None:
        """Add the rows of another: its row i to row places[i]."""
        for theirs, mine in enumerate(places.tolist()):
            self._counts[mine] += other.counts(theirs)
        self.n[places] += other.n[: len(places)]

    def summary(self, place: int, fingerprint: str, simulated: bool) -> Summary:
        """The summary of one group."""
        return Summary(self.counts(place), int(self.n[place]), fingerprint, simulated)


class SymbolRows(Rows):
    """Rows for reports of one symbol, which counts bytes that carry into the counts: a report touches no more."""

    cell_bytes = 9

    def __init__(self, layout: Layout, most: int) -> None:
        super().__init__(layout, most)
        self._low: Bytes = np.zeros((0, layout.cells), np.uint8)

    def _grow(self, rows: int) -> None:
        super()._grow(rows)
        if len(self._low):
            self._low = _longer(self._low, rows)

    def _add_groups(self, data: Payloads, codes: Indices, places: Indices, sizes: Indices) -> None:
        from deniable.kernels.response import count_groups

        del sizes
        if not len(self._low):
            self._low = np.zeros(self._counts.shape, np.uint8)
        count_groups(data, codes, places, self._low, self._counts)

    def counts(self, place: int) -> Counts:
        row = super().counts(place)
        return row + self._low[place] if len(self._low) else row


def _longer(rows: np.ndarray, length: int) -> np.ndarray:
    """A copy with more rows, which are zero."""
    made = np.zeros((length, *rows.shape[1:]), rows.dtype)
    made[: len(rows)] = rows
    return made
