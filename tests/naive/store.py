"""A store in memory that does one obvious thing at a time; what real stores are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from deniable.collector.store.protocol import AlreadyThere, Counting
from deniable.collector.store.records import (
    TOO_OLD,
    Cell,
    CollectionRow,
    Counted,
    Delivery,
    Kept,
    KeyRow,
    SpecRow,
    Waiting,
)


@dataclass
class Report:
    """One stored report, or a whole batch."""

    id: bytes
    hour: int
    payload: bytes
    n: int
    whole: bool
    counted: bool = False


@dataclass
class Counts:
    """What is known of a cell."""

    reports: list[Report] = field(default_factory=list)
    summary: bytes | None = None
    n: int = 0
    published: bytes | None = None
    published_n: int = 0
    version: int = 0

    def take(self, counted: Counted, version: int) -> None:
        """Replace the summary, and what is published of it if asked."""
        self.summary, self.n = counted.summary, counted.n
        if counted.publish:
            self.published, self.published_n, self.version = counted.summary, counted.n, version


class MemoryStore:
    """A store without any database."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, int, bytes], str] = {}  # waiting, counted or deleted
        self._cells: dict[Cell, Counts] = {}
        self._imports: set[tuple[int, bytes]] = set()
        self._refusals: Counter[tuple[int, int, str]] = Counter()
        self._latest = 0
        self._revision = 0
        self._versions = count(1)
        self._collections: list[CollectionRow] = []
        self._specs: list[SpecRow] = []
        self._keys: list[KeyRow] = []

    def close(self) -> None:
        """Do nothing."""

    def commit(self, deliveries: Sequence[Delivery]) -> list[int]:
        """Store each report whose id was not seen."""
        return [self._commit(delivery) for delivery in deliveries]

    def _commit(self, delivery: Delivery) -> int:
        collection = delivery.cell.collection
        if delivery.hour < self._collections[collection - 1].remembered_from:
            return TOO_OLD
        reports = self._cells.setdefault(delivery.cell, Counts()).reports
        width = len(delivery.payloads) // len(delivery.ids) if delivery.ids else 0
        new = 0
        for place, one in enumerate(delivery.ids):
            if (collection, delivery.hour, one) not in self._ids:
                self._ids[collection, delivery.hour, one] = "waiting"
                payload = delivery.payloads[place * width : (place + 1) * width]
                reports.append(Report(one, delivery.hour, payload, delivery.n if delivery.whole else 1, delivery.whole))
                new += reports[-1].n
        return new

    def known(self, collection: int, hour: int, ids: Sequence[bytes]) -> set[bytes]:
        """Which of these ids were seen and are not forgotten."""
        return {one for one in ids if (collection, hour, one) in self._ids}

    def waiting(self) -> list[tuple[Cell, int]]:
        """The cells with reports that are not counted."""
        counts = {cell: sum(r.n for r in known.reports if not r.counted) for cell, known in sorted(self._cells.items())}
        return [(cell, n) for cell, n in counts.items() if n]

    def fold(self, cell: Cell, counting: Counting, *, keep: bool, most: int) -> int:
        """Count all waiting reports of a cell, whatever `most` is."""
        if cell not in self._cells:
            return 0
        known = self._cells[cell]
        waits = [report for report in known.reports if not report.counted]
        if not waits or most < 1:
            return 0
        rows = [Waiting(i, b"" if r.whole else r.id, r.payload, r.n) for i, r in enumerate(waits)]
        known.take(counting(cell, known.summary, known.published, rows), next(self._versions))
        for report in waits:
            report.counted = True
        if not keep:
            known.reports = [report for report in known.reports if report not in waits]
        return sum(report.n for report in waits)

    def delete_report(self, collection: int, hour: int, report_id: bytes, *, remember: bool = True) -> str:
        """Delete a stored report by its id, or see to it that it is not taken when it arrives."""
        key = (collection, hour, report_id)
        forgotten = hour < self._collections[collection - 1].remembered_from
        if key not in self._ids and not forgotten:
            if remember:
                self._ids[key] = "deleted"
            return "unknown"
        if self._ids.get(key) == "deleted":
            return "deleted"
        for cell, known in self._cells.items():
            for report in known.reports:
                if cell.collection == collection and (report.hour, report.id) == (hour, report_id):
                    known.reports.remove(report)
                    if not report.counted and not forgotten:
                        self._ids[key] = "deleted"
                    return "counted" if report.counted else "deleted"
        return "forgotten" if forgotten else "counted"

    def kept(self, collection: int) -> list[Kept]:
        """All cells that have counts."""
        return [
            Kept(cell, known.n, known.published_n, known.version)
            for cell, known in sorted(self._cells.items())
            if cell.collection == collection and known.n
        ]

    def published(self, cells: Sequence[Cell]) -> list[bytes | None]:
        """What is published of each cell."""
        return [self._cells[cell].published if cell in self._cells else None for cell in cells]

    def summaries(self, cells: Sequence[Cell]) -> list[bytes | None]:
        """The summary of each cell."""
        return [self._cells[cell].summary if cell in self._cells else None for cell in cells]

    def add_summaries(
        self, collection: int, name: bytes, parts: Mapping[Cell, bytes], counting: Callable[..., Counted]
    ) -> bool:
        """Add summaries once for each name."""
        if (collection, name) in self._imports:
            return False
        self._imports.add((collection, name))
        for cell, part in parts.items():
            known = self._cells.setdefault(cell, Counts())
            known.take(counting(cell, known.summary, known.published, part), next(self._versions))
        return True

    def forget(self, collection: int, before: int) -> int:
        """Forget ids of earlier hours."""
        row = self._collections[collection - 1]
        if before > row.remembered_from:
            self._collections[collection - 1] = row._replace(remembered_from=before)
            self._revision += 1
        before = self._collections[collection - 1].remembered_from
        old = [key for key in self._ids if key[0] == collection and key[1] < before]
        for key in old:
            del self._ids[key]
        return len(old)

    def drop(self, collection: int, before: int) -> int:
        """Delete all that is known of earlier buckets."""
        old = [cell for cell in self._cells if cell.collection == collection and cell.bucket < before]
        return sum(self._cells.pop(cell).n > 0 for cell in old)

    def drop_kept(self, collection: int) -> None:
        """Delete all reports that are counted."""
        for cell, known in self._cells.items():
            if cell.collection == collection:
                known.reports = [report for report in known.reports if not report.counted]

    def add_refusals(self, counts: Mapping[tuple[int, int, str], int]) -> None:
        """Add to the counters."""
        self._refusals.update(counts)

    def refusals(self, collection: int) -> dict[tuple[int, str], int]:
        """The counters of a collection."""
        return {(day, reason): n for (of, day, reason), n in sorted(self._refusals.items()) if of == collection}

    def latest(self, seconds: int) -> int:
        """The latest time seen."""
        self._latest = max(self._latest, seconds)
        return self._latest

    def revision(self) -> int:
        """How often collections, specs and keys have changed."""
        return self._revision

    def collections(self) -> list[CollectionRow]:
        """All collections."""
        return list(self._collections)

    def specs(self) -> list[SpecRow]:
        """All specs."""
        return list(self._specs)

    def keys(self) -> list[KeyRow]:
        """All keys, the oldest first."""
        return sorted(self._keys, key=lambda key: (key.made, key.digest))

    def add_collection(
        self, name: str, settings: str, signer: bytes, spec: SpecRow, own: Sequence[KeyRow] = ()
    ) -> CollectionRow:
        """Make a collection, its first spec and its first keys."""
        if any(row.name == name for row in self._collections):
            raise AlreadyThere(name)
        row = CollectionRow(len(self._collections) + 1, name, settings, signer, 0)
        self._collections.append(row)
        self.add_spec(spec._replace(collection=row.number))
        for key in own:
            self.add_key(key._replace(collection=row.number))
        return row

    def change_collection(self, number: int, settings: str, before: str) -> bool:
        """Give a collection new settings."""
        if self._collections[number - 1].settings != before:
            return False
        self._collections[number - 1] = self._collections[number - 1]._replace(settings=settings)
        self._revision += 1
        return True

    def add_spec(self, spec: SpecRow) -> None:
        """Add a spec to a collection."""
        if any(row[:2] == spec[:2] for row in self._specs):
            raise AlreadyThere(spec.fingerprint)
        self._specs.append(spec)
        self._revision += 1

    def add_key(self, key: KeyRow) -> None:
        """Add a key."""
        if any(row.digest == key.digest for row in self._keys):
            raise AlreadyThere(key.label)
        self._keys.append(key)
        self._revision += 1

    def revoke_key(self, digest: bytes, at: int, *, keep_one: bool = False) -> bool:
        """Revoke a key that is valid, and not the last of its role if one is to be kept."""
        role = next((key.role for key in self._keys if key.digest == digest), None)
        if keep_one and [key.digest for key in self._keys if key[1] == role and key.revoked is None] == [digest]:
            return False
        for place, key in enumerate(self._keys):
            if key.digest == digest and key.revoked is None:
                self._keys[place] = key._replace(revoked=at)
                self._revision += 1
                return True
        return False
