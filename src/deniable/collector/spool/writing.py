"""A store whose reports go to Parquet files, while collections, keys and counts stay in a database."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from deniable.collector.service.questions import Asked, Workshop
from deniable.collector.spool.durable import make_folder, to_disk, write_whole
from deniable.collector.spool.layout import ROWS, Partition, rows
from deniable.collector.store.protocol import StorageTrouble, Store
from deniable.collector.store.records import TOO_OLD, Delivery
from deniable.core.extras import needed
from deniable.core.parquet import how_written
from deniable.wire.forms import Segment

_MOST_FOLDERS = 10_000  # that are remembered


class SpoolingStore:
    """Takes reports as a store does, and is one in all else, which it leaves to the store behind it.

    A commit writes one file for each partition, and has happened when all are on the disk under their names. Whether
    an id was seen before is not looked up: it is seen to when the files are counted. So every report is said to be new,
    and a report cannot be deleted by its id.
    """

    def __init__(self, behind: Store, spool: Path) -> None:
        self._behind = behind
        self._spool = spool
        self._writer = secrets.token_hex(8)  # no two processes write the same file
        self._written = 0
        self._led_to: set[Path] = set()  # folders whose path is on the disk
        self._revision = -1
        self._collections: dict[int, tuple[str, list[Segment], int]] = {}
        self._documents: dict[str, str] = {}  # of specs, by fingerprint
        self._workshop = Workshop()
        self._asked: dict[str, Asked] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)

    def commit(self, deliveries: Sequence[Delivery]) -> list[int]:
        """Write reports to files, durably; return how many each delivery has, or TOO_OLD."""
        with needed():
            import pyarrow as pa

        self._learn()
        parts: dict[Partition, list[Any]] = defaultdict(list)
        counts = []
        for delivery in deliveries:
            name, segments, remembered_from = self._collections[delivery.cell.collection]
            if delivery.hour < remembered_from:
                counts.append(TOO_OLD)
                continue
            place = Partition(name, delivery.cell.fingerprint, delivery.hour)
            payloads = self._built(place.fingerprint).payloads(not delivery.whole)
            reports = payloads.read(delivery.payloads, () if delivery.whole else delivery.ids)
            parts[place].append(rows(reports, delivery, segments))
            counts.append(delivery.n)
        self._write({place.folder(self._spool): pa.concat_tables(tables) for place, tables in parts.items()})
        return counts

    def delete_report(self, collection: int, hour: int, report_id: bytes, *, remember: bool = True) -> str:  # noqa: ARG002
        """Delete what the store behind knows; to remember an id there would keep no file from being counted."""
        return self._behind.delete_report(collection, hour, report_id, remember=False)

    def _learn(self) -> None:
        """Read collections and specs again if they have changed."""
        revision = self._behind.revision()
        if revision == self._revision:
            return
        for row in self._behind.collections():
            labelled = [Segment(each["name"], tuple(each["labels"])) for each in json.loads(row.settings)["segments"]]
            self._collections[row.number] = (row.name, labelled, row.remembered_from)
        for spec in self._behind.specs():
            self._documents[spec.fingerprint] = spec.document
        self._revision = revision

    def _built(self, fingerprint: str) -> Asked:
        """A spec that somebody reports under; others are not built, so that none of them can be in the way."""
        if fingerprint not in self._asked:
            self._asked[fingerprint] = self._workshop.build(self._documents[fingerprint])
        return self._asked[fingerprint]

    def _write(self, tables: Mapping[Path, Any]) -> None:
        """Write a file into each folder, and then the names of all through to the disk.

        The first time also those of the folders above, though they were there: whoever made them may have died before.
        """
        self._written += 1
        names = set(tables)
        try:
            for folder, table in tables.items():
                if _is_new(folder) or folder not in self._led_to:
                    names |= {folder.parent, folder.parent.parent, self._spool}
                write_whole(folder / f"{self._writer}-{self._written:010}.parquet", partial(_write_reports, table))
            to_disk(names)
        except OSError as error:
            raise _trouble(self._spool, error) from error
        if len(self._led_to) >= _MOST_FOLDERS:
            self._led_to.clear()
        self._led_to.update(tables)


def _is_new(folder: Path) -> bool:
    """Make a folder, unless it is there."""
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return False
    return True


def _write_reports(table: Any, file: IO[bytes]) -> None:
    """Write a table of reports with a checksum of each page and its number of rows, so that damage is noticed."""
    import pyarrow.parquet

    told = table.replace_schema_metadata({**table.schema.metadata, ROWS: str(len(table)).encode()})
    pyarrow.parquet.write_table(told, file, **how_written())


def _trouble(spool: Path, error: OSError) -> StorageTrouble:
    return StorageTrouble(f"the spool {spool} cannot be written to: {error.strerror}")


def spooling(behind: Store, spool: Path) -> Store:
    """A store that writes reports to files in a spool."""
    try:
        make_folder(spool.resolve())
    except OSError as error:
        raise _trouble(spool, error) from error
    store: Any = SpoolingStore(behind, spool)  # what it does not do itself, the store behind it does
    assert isinstance(store, SpoolingStore)
    return store
