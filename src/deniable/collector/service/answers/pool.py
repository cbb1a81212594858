"""The published counts behind an answer: one summary for each spec, and how many reports are withheld."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from deniable.collector.service.answers.cache import AROUND, key_of
from deniable.collector.service.answers.selection import Selection
from deniable.collector.service.directory import Desk
from deniable.collector.store.protocol import Store
from deniable.collector.store.records import Kept
from deniable.core.summary import Summary
from deniable.grouping.table import AnySummary, summary_of
from deniable.wire.refusals import Refused

Sums = dict[str, Any]  # a summary for each fingerprint
_COUNT_BYTES = 8
_MOST_BYTES = 2**26  # of all sums that are kept


@dataclass(frozen=True, eq=False)
class Pool:
    """The cells of a selection."""

    desk: Desk
    cells: Sequence[Kept]

    @staticmethod
    def of(desk: Desk, kept: Sequence[Kept], selection: Selection) -> Pool:
        """The selected cells, or refuse them if they have fewer published reports than the minimum."""
        pool = Pool(desk, selection.of(kept))
        require_enough(desk, pool.n)
        return pool

    @property
    def n(self) -> int:
        """Published reports."""
        return sum(each.published for each in self.told)

    @property
    def withheld(self) -> int:
        """Counted reports that are not published yet."""
        return sum(each.n for each in self.cells) - self.n

    @property
    def version(self) -> bytes:
        """What changes whenever the answer may."""
        return key_of([(each.cell, each.version, each.n) for each in self.cells])

    @property
    def told(self) -> list[Kept]:
        """The cells of which something is published: not those from before the minimum was raised."""
        least = max(1, self.desk.settings.minimum)
        return [each for each in self.cells if each.published >= least]

    @property
    def ends(self) -> tuple[int, int]:
        """The first and the last bucket."""
        buckets = [each.cell.bucket for each in self.told]
        return min(buckets), max(buckets)


def require_enough(desk: Desk, n: int) -> None:
    """Refuse to tell about so few published reports."""
    least = max(1, desk.settings.minimum)
    if n < least:
        raise Refused("too-few-reports", f"fewer than {least:,} published reports are in this selection")


class Totals:
    """The sums of published summaries behind the latest pools, so that several questions about one read them once."""

    def __init__(self, store: Store, most: int = _MOST_BYTES) -> None:
        self._store = store
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[bytes, tuple[Sums, int]] = OrderedDict()

    def of(self, pool: Pool) -> dict[str, AnySummary]:
        """The sum of the published summaries of each spec, the newest spec first."""
        told, last = pool.told, max((each.cell.bucket for each in pool.told), default=0)
        # the latest bucket grows, so the sum of the others is kept by itself
        parts = [each for each in told if each.cell.bucket < last], [each for each in told if each.cell.bucket == last]
        found = self._sum(pool.desk.row.number, told, [part for part in parts if part])
        # cells may vanish after they were listed, by their retention
        require_enough(pool.desk, sum(summary.n for summary in found.values()))
        newest_first = [row.fingerprint for row in reversed(pool.desk.rows)]
        return {fingerprint: found[fingerprint] for fingerprint in newest_first if fingerprint in found}

    def _sum(self, collection: int, cells: Sequence[Kept], parts: Sequence[Sequence[Kept]] = ()) -> Sums:
        """The sum of these cells: as it is kept, or made of their parts, or read."""
        key = key_of(collection, [(each.cell, each.version) for each in cells])
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key][0]
        found: Sums = {}
        if len(parts) > 1:
            for part in parts:
                found = _added(found, self._sum(collection, part))
        else:
            found = self._read(cells)
        size = sum(AROUND + _COUNT_BYTES * _cells(summary) for summary in found.values())
        with self._lock:
            if key not in self._kept and size <= self._most:
                self._kept[key] = found, size
                while sum(own for _, own in self._kept.values()) > self._most:
                    self._kept.popitem(last=False)
        return found

    def only(self, pool: Pool) -> tuple[str, AnySummary]:
        """The one spec that there are reports of, with its summary."""
        found = self.of(pool)
        if len(found) > 1:
            hint = "Choose one: spec=FINGERPRINT."
            raise Refused("conflict", f"there are reports of {len(found)} specs, which cannot be combined here. {hint}")
        return next(iter(found.items()))

    def _read(self, cells: Sequence[Kept]) -> Sums:
        found: Sums = {}
        for each, data in zip(cells, self._store.published([kept.cell for kept in cells]), strict=True):
            if data is not None:
                found = _added(found, {each.cell.fingerprint: summary_of(data)})
        return found


def _added(one: Sums, other: Sums) -> Sums:
    """Sums of two sets of cells, added spec by spec."""
    return one | {name: one[name] + summary if name in one else summary for name, summary in other.items()}


def _cells(summary: AnySummary) -> int:
    parts = (summary,) if isinstance(summary, Summary) else summary.levels
    return sum(len(part.counts) for part in parts)
