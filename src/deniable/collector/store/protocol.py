"""What a collector asks of a store. Every method is one transaction: it happens as a whole, or it raises.

`StorageTrouble` says that the database failed and nothing was changed, or, after a commit whose answer was lost, that
nobody knows; the caller may try again in both cases, because ids make that harmless. Methods block; the service calls
them from threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from deniable.collector.store.records import (
    Cell,
    CollectionRow,
    Counted,
    Delivery,
    Kept,
    KeyRow,
    SpecRow,
    Waiting,
)
from deniable.core.errors import DeniableError

# Counts waiting reports of a cell onto its summary, as bytes, or None at first; the third argument is what is published
Counting = Callable[[Cell, bytes | None, bytes | None, Sequence[Waiting]], Counted]


class StorageTrouble(DeniableError):
    """The database failed; nothing was changed, or nobody knows, and trying again is harmless."""


class AlreadyThere(DeniableError):
    """A collection, spec or key of this name exists."""


class StoreInUse(DeniableError):
    """Another process uses this folder."""


class Store(Protocol):
    """A database behind a collector."""

    def close(self) -> None:
        """Let go of files and connections."""

    # taking reports

    def commit(self, deliveries: Sequence[Delivery]) -> list[int]:
        """Store deliveries durably, in one transaction; return of each how many reports were new, or TOO_OLD.

        TOO_OLD (negative): the ids of that hour are forgotten, perhaps since a moment ago and by another process.
        A report or whole batch whose id is remembered already, or occurs earlier in the sequence, is left out.
        """
        ...

    def known(self, collection: int, hour: int, ids: Sequence[bytes]) -> set[bytes]:
        """Which of these ids of reports and whole batches are remembered, whatever became of what they name."""
        ...

    def waiting(self) -> list[tuple[Cell, int]]:
        """The cells with stored reports that are not counted yet, and how many reports that are."""
        ...

    def fold(self, cell: Cell, counting: Counting, *, keep: bool, most: int) -> int:
        """Count up to about `most` waiting reports of a cell; return how many. Others may fold at the same time.

        Counted reports are deleted, or kept as counted if `keep`.
        """
        ...

    def delete_report(self, collection: int, hour: int, report_id: bytes, *, remember: bool = True) -> str:
        """Delete a stored report by its id: "deleted" if it was never counted, "counted" if it is in the counts already

        (and whatever was kept of it is deleted now), "unknown" if no such id is remembered, "forgotten" if none of its
        hour is any more and no report of this id is stored. The id stays remembered; an unknown one is from now on, if
        `remember`, so that its report is not counted when it arrives.
        """
        ...

    # what was counted

    def kept(self, collection: int) -> list[Kept]:
        """All cells of a collection that have counts."""
        ...

    def published(self, cells: Sequence[Cell]) -> list[bytes | None]:
        """The published summary of each cell, as bytes."""
        ...

    def summaries(self, cells: Sequence[Cell]) -> list[bytes | None]:
        """The whole summary of each cell, for export by administrators."""
        ...

    def add_summaries(
        self, collection: int, name: bytes, parts: Mapping[Cell, bytes], counting: Callable[..., Counted]
    ) -> bool:
        """Add summaries from elsewhere, once for each name (16 bytes); return whether they were new.

        `counting(cell, summary, published, added)` returns the new state of a cell.
        """
        ...

    # housekeeping

    def forget(self, collection: int, before: int) -> int:
        """Forget ids of buckets before this hour, and refuse such reports from now on; return how many ids."""
        ...

    def drop(self, collection: int, before: int) -> int:
        """Delete counts and kept reports of buckets before this hour; return how many cells."""
        ...

    def drop_kept(self, collection: int) -> None:
        """Delete the reports that were kept after they had been counted, some in each transaction; counts stay."""
        ...

    def add_refusals(self, counts: Mapping[tuple[int, int, str], int]) -> None:
        """Add to the counters of refused requests, by collection (0: none), day (hours) and reason."""
        ...

    def refusals(self, collection: int) -> dict[tuple[int, str], int]:
        """The counters of a collection, by day and reason."""
        ...

    def latest(self, seconds: int) -> int:
        """Remember the latest time seen and return it, so that a clock that jumps back is noticed."""
        ...

    # collections, specs, keys

    def revision(self) -> int:
        """A number that grows with every change of collections, specs and keys, by whatever process."""
        ...

    def collections(self) -> list[CollectionRow]: ...
    def specs(self) -> list[SpecRow]: ...
    def keys(self) -> list[KeyRow]: ...
    def add_collection(
        self, name: str, settings: str, signer: bytes, spec: SpecRow, own: Sequence[KeyRow] = ()
    ) -> CollectionRow:
        """Make a collection with its first spec and its `own` first keys, which take its number."""
        ...

    def change_collection(self, number: int, settings: str, before: str) -> bool:
        """Replace these settings, as they are stored; False, and nothing is done, if others are stored by now."""
        ...

    def add_spec(self, spec: SpecRow) -> None: ...
    def add_key(self, key: KeyRow) -> None: ...
    def revoke_key(self, digest: bytes, at: int, *, keep_one: bool = False) -> bool:
        """Revoke a key; False if there is none that is valid, or to `keep_one`, if it is the last of its role."""
        ...
