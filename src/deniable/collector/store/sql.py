"""The store: every method of the protocol as one transaction of a database."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from deniable.collector.store import administration, arriving, counting, deleting
from deniable.collector.store.database import Database
from deniable.collector.store.folder import Folder
from deniable.collector.store.protocol import Counting
from deniable.collector.store.records import Cell, CollectionRow, Counted, Delivery, Kept, KeyRow, SpecRow


class SqlStore:
    """A store in a database. Methods may be called from any thread."""

    def __init__(self, database: Database, folder: Folder | None = None) -> None:
        self.database = database
        self.folder = folder

    def close(self) -> None:
        """Close all connections and release the folder."""
        self.database.close()
        if self.folder is not None:
            self.folder.release()

    def commit(self, deliveries: Sequence[Delivery]) -> list[int]:
        """Store deliveries durably; return of each how many reports were new, or TOO_OLD."""
        if not deliveries:
            return []
        return self.database.write(lambda connection: arriving.commit(self.database, connection, deliveries))

    def known(self, collection: int, hour: int, ids: Sequence[bytes]) -> set[bytes]:
        """Which of these ids are remembered."""
        return self.database.read(lambda connection: arriving.known(connection, collection, hour, ids))

    def waiting(self) -> list[tuple[Cell, int]]:
        """The cells with reports that are not counted yet, and how many."""
        return self.database.read(counting.waiting)

    def fold(self, cell: Cell, counting_reports: Counting, *, keep: bool, most: int) -> int:
        """Count waiting reports of a cell; return how many."""
        return counting.fold(self.database, cell, counting_reports, keep=keep, most=most)

    def delete_report(self, collection: int, hour: int, report_id: bytes, *, remember: bool = True) -> str:
        """Delete a stored report, or a whole batch, by its id; return what had become of it."""
        return deleting.delete_report(self.database, collection, hour, report_id, remember=remember)

    def kept(self, collection: int) -> list[Kept]:
        """All cells of a collection that have counts."""
        return self.database.read(lambda connection: counting.kept(connection, collection))

    def published(self, cells: Sequence[Cell]) -> list[bytes | None]:
        """The published summary of each cell."""
        return self.database.read(lambda connection: counting.published(connection, cells))

    def summaries(self, cells: Sequence[Cell]) -> list[bytes | None]:
        """The whole summary of each cell."""
        return self.database.read(lambda connection: counting.summaries(connection, cells))

    def add_summaries(
        self, collection: int, name: bytes, parts: Mapping[Cell, bytes], counting_parts: Callable[..., Counted]
    ) -> bool:
        """Add summaries from elsewhere, once for each name; return whether they were new."""
        return self.database.write(
            lambda connection: counting.add_summaries(
                self.database, connection, collection, name, parts, counting_parts
            )
        )

    def forget(self, collection: int, before: int) -> int:
        """Refuse reports of earlier hours from now on, and forget their ids; return how many."""
        self.database.write(lambda connection: deleting.refuse_before(connection, collection, before))
        forgotten = 0
        while some := self.database.write(lambda connection: deleting.forget_some(connection, collection)):
            forgotten += some
        return forgotten

    def drop(self, collection: int, before: int) -> int:
        """Delete all that is stored for buckets before this hour; return how many cells had counts."""
        return self.database.write(lambda connection: deleting.drop(connection, collection, before))

    def drop_kept(self, collection: int) -> None:
        """Delete the reports that were kept after they had been counted."""
        while self.database.write(lambda connection: deleting.drop_some_kept(connection, collection)):
            pass

    def add_refusals(self, counts: Mapping[tuple[int, int, str], int]) -> None:
        """Add to the counters of refused requests."""
        self.database.write(lambda connection: administration.add_refusals(self.database, connection, counts))

    def refusals(self, collection: int) -> dict[tuple[int, str], int]:
        """The counters of a collection, by day and reason."""
        return self.database.read(lambda connection: administration.refusals_of(connection, collection))

    def latest(self, seconds: int) -> int:
        """Remember the latest time seen and return it."""
        known = self.database.read(lambda connection: administration.number(connection, "latest"))
        if known >= seconds:
            return known
        return self.database.write(lambda connection: administration.raise_latest(connection, seconds))

    def revision(self) -> int:
        """A number that grows with every change of collections, specs and keys."""
        return self.database.read(lambda connection: administration.number(connection, "revision"))

    def collections(self) -> list[CollectionRow]:
        """All collections."""
        return self.database.read(administration.all_collections)

    def specs(self) -> list[SpecRow]:
        """All specs."""
        return self.database.read(administration.all_specs)

    def keys(self) -> list[KeyRow]:
        """All keys."""
        return self.database.read(administration.all_keys)

    def add_collection(
        self, name: str, settings: str, signer: bytes, spec: SpecRow, own: Sequence[KeyRow] = ()
    ) -> CollectionRow:
        """Make a collection, its first spec and its first keys."""
        return self.database.write(
            lambda connection: administration.add_collection(connection, name, settings, signer, spec, own)
        )

    def change_collection(self, number: int, settings: str, before: str) -> bool:
        """Give a collection new settings; False if those before are others by now."""
        return self.database.write(
            lambda connection: administration.change_collection(connection, number, settings, before)
        )

    def add_spec(self, spec: SpecRow) -> None:
        """Add a spec to a collection."""
        self.database.write(lambda connection: administration.add_spec(connection, spec))

    def add_key(self, key: KeyRow) -> None:
        """Add a key."""
        self.database.write(lambda connection: administration.add_key(connection, key))

    def revoke_key(self, digest: bytes, at: int, *, keep_one: bool = False) -> bool:
        """Revoke a key; False if there is none that is valid, or to `keep_one`, if it is the last of its role."""
        return self.database.write(
            lambda connection: administration.revoke_key(connection, digest, at, keep_one=keep_one)
        )
