"""Summaries that leave and arrive as Parquet: other regions, other engines, readers who estimate by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deniable.collector.service.answers.pool import Pool, require_enough
from deniable.collector.service.counting import Adder, checked_summary
from deniable.collector.service.directory import Desk
from deniable.collector.service.questions import LIMITS
from deniable.collector.service.settings import COLUMN
from deniable.collector.store.protocol import Store
from deniable.collector.store.records import Cell, Kept
from deniable.core.errors import DeniableError, InvalidArgument, shown
from deniable.grouping.keys import Group
from deniable.grouping.parquet import parquet_bytes, read_parquet
from deniable.grouping.table import SummaryTable, summary_of
from deniable.wire import published as beside
from deniable.wire.buckets import MAX_HOUR, hour_text
from deniable.wire.refusals import Refused

_BYTES_PER_ROW = 2**8  # at least, while a table is read
MOST_ROWS = LIMITS.memory // _BYTES_PER_ROW


def columns(desk: Desk) -> tuple[str, ...]:
    """The columns of the groups: the bucket, and one for each segment."""
    return (COLUMN, *(each.name for each in desk.settings.segments))


def exported(desk: Desk, fingerprint: str, kept: Sequence[Kept], store: Store) -> bytes:
    """The whole summaries of one spec as a Parquet file."""
    cells = [each.cell for each in kept if each.cell.fingerprint == fingerprint]
    return parquet_bytes(_table(desk, fingerprint, cells, store.summaries(cells)).to_arrow())


def published(pool: Pool, store: Store) -> bytes:
    """The published summaries of a pool, which has reports of one spec, as a Parquet file with the spec in it."""
    desk, specs = pool.desk, {each.cell.fingerprint for each in pool.told}
    if len(specs) > 1:
        raise Refused("conflict", f"there are reports of {len(specs)} specs. Choose one: spec=FINGERPRINT.")
    fingerprint = specs.pop()
    cells = [each.cell for each in pool.told]
    found = _table(desk, fingerprint, cells, store.published(cells))
    require_enough(desk, found.n)  # cells may vanish after they were listed
    table = found.to_arrow()
    more = beside.written(desk.spec(fingerprint).document, pool.withheld)
    return parquet_bytes(table.replace_schema_metadata({**table.schema.metadata, **more}))


def _table(desk: Desk, fingerprint: str, cells: Sequence[Cell], found: Sequence[bytes | None]) -> SummaryTable:
    pairs = zip(cells, found, strict=True)
    return SummaryTable(
        columns(desk), {_group(desk, cell): summary_of(data) for cell, data in pairs if data is not None}, fingerprint
    )


def _group(desk: Desk, cell: Cell) -> Group:
    labels = (each.labels[place] for each, place in zip(desk.settings.segments, cell.segments, strict=True))
    return (cell.bucket, *labels)


def imported(desk: Desk, name: bytes, data: bytes, store: Store, now: int) -> tuple[bool, int]:
    """Add a table of summaries once for each name; return whether it was new, and how many reports it has.

    `now` is the hour: counts so old that they would be dropped at once are refused.
    """
    table = _read(data)
    asked = desk.spec(table.fingerprint)
    if table.by != columns(desk):
        expected = ", ".join(columns(desk))
        raise Refused("bad-argument", f"the table must be grouped by {expected}, got {', '.join(table.by)}")
    parts: dict[Cell, bytes] = {}
    try:
        for group, summary in table.items():
            if summary.simulated:
                raise InvalidArgument("summaries", "be of real reports", "simulated ones")
            parts[_cell(desk, table.fingerprint, group)] = checked_summary(asked, summary).to_bytes()
    except DeniableError as error:
        raise Refused("bad-argument", str(error)) from None
    oldest = desk.oldest(now) or 0
    if early := [cell.bucket for cell in parts if cell.bucket < oldest]:
        days = desk.settings.retention_days
        raise Refused(
            "too-old",
            f"the collection keeps counts for {days} days, back to {hour_text(oldest)}, and the table has some of "
            f"{hour_text(min(early))}. Leave them out, or set a longer retention.",
        )
    return store.add_summaries(desk.number, name, parts, Adder(asked, desk.settings.minimum)), table.n


def _read(data: bytes) -> SummaryTable:
    try:
        return SummaryTable.from_arrow(read_parquet(data, MOST_ROWS))
    except DeniableError as error:
        raise Refused("bad-argument", f"the body must be a Parquet file of a table of summaries: {error}") from None


def _cell(desk: Desk, fingerprint: str, group: tuple[Any, ...]) -> Cell:
    bucket, *labels = group
    buckets = desk.settings.buckets
    right = isinstance(bucket, int) and not isinstance(bucket, bool) and 0 <= bucket <= MAX_HOUR
    if not right or (bucket != 0 if desk.settings.bucket == "none" else not buckets.is_start(bucket)):
        raise InvalidArgument("bucket", "be the start of a bucket of the collection", bucket)
    places = []
    for each, label in zip(desk.settings.segments, labels, strict=True):
        if label not in each.labels:
            raise InvalidArgument(f"segment {each.name}", "have a label of the collection", shown(label))
        places.append(each.labels.index(label))
    return Cell(desk.number, fingerprint, bucket, bytes(places))
