"""Counting a spool: each partition when no collector takes its reports any more, every report once.

What is counted is sent on as a table of summaries under a name that follows from the partition, so that doing it again,
by whatever machine, changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from deniable.collector.spool.durable import write_once, write_whole
from deniable.collector.spool.layout import ID, POSITION, ROWS, Partition, partitions
from deniable.core.errors import DeniableError, cut
from deniable.core.extras import needed
from deniable.core.parquet import READ
from deniable.engines.arrow import summarize_by
from deniable.grouping.counting import Counted, report_columns
from deniable.grouping.table import SummaryTable
from deniable.wire.buckets import Buckets
from deniable.wire.frames import ID_BYTES

BUCKET = "bucket"  # column of a table of summaries, as a collector exports and imports it
SPARE_HOURS = 3  # after the window: clocks differ, and a collector forgets ids two hours late
_MOST_ROWS = 2**24  # whose ids are compared at once
_MOST_NAMED = 10  # partitions in a message
_SEAL, _DONE = "sealed.json", "counted.json"


class LateFiles(DeniableError):
    """Files came to a partition after it was counted: a collector's clock is wrong, or somebody put them there."""


class DamagedFiles(DeniableError):
    """Files of a partition cannot be read, or are not what a collector writes."""


class Uncounted(DeniableError):
    """Some partitions could not be counted. All others were."""

    @staticmethod
    def of(errors: Mapping[Partition, Exception]) -> Uncounted:
        """The error that names these, or the first of them."""
        lines = [f"{place.collection}, hour {place.hour}: {error}" for place, error in errors.items()]
        more = len(lines) - _MOST_NAMED
        return Uncounted("\n".join([*lines[:_MOST_NAMED], *([f"and {more:,} partitions more"] if more > 0 else [])]))


class Question(NamedTuple):
    """What counting must know of a collection."""

    counted: Counted
    buckets: Buckets
    segments: tuple[str, ...]  # their names
    window: int  # hours


class _Seal(msgspec.Struct):
    """What is written down before a partition is counted."""

    files: list[str]  # their names


class Done(NamedTuple):
    """A partition that was counted: its rows, and how many of them were reports seen for the first time."""

    partition: Partition
    rows: int
    n: int


def import_name(partition: Partition) -> bytes:
    """The name under which the counts of a partition are imported, once."""
    text = f"spool/{partition.collection}/{partition.fingerprint}/{partition.hour}"
    return hashlib.sha256(text.encode()).digest()[:16]


def count_spool(
    spool: Path,
    now: int,
    question: Callable[[Partition], Question],
    deliver: Callable[[Partition, bytes, SummaryTable], None],
) -> Iterator[Done]:
    """Count every partition whose window has passed at this hour, and hand its table to `deliver` with its name.

    A partition that `deliver` took is marked. One that it did not take, or whose mark was lost, is counted again, from
    the same files. One that cannot be counted keeps no other from it: what was wrong is raised at the end.
    """
    errors: dict[Partition, Exception] = {}
    for partition in partitions(spool):
        try:
            done = _count(spool, partition, now, question, deliver)
        except DeniableError as error:
            errors[partition] = error
        else:
            if done is not None:
                yield done
    if errors:
        raise Uncounted.of(errors) from next(iter(errors.values()))


def _count(
    spool: Path,
    partition: Partition,
    now: int,
    question: Callable[[Partition], Question],
    deliver: Callable[[Partition, bytes, SummaryTable], None],
) -> Done | None:
    """Count a partition, unless that was done or is too early."""
    folder = partition.folder(spool)
    if (folder / _DONE).exists():
        _sealed(folder)
        return None
    asked = question(partition)
    if now < partition.hour + asked.buckets.hours + asked.window + SPARE_HOURS:
        return None
    files = _sealed(folder)
    table, rows = count_files([folder / name for name in files], partition, asked)
    deliver(partition, import_name(partition), table)
    done = json.dumps({"rows": rows, "n": table.n}).encode()
    write_whole(folder / _DONE, lambda file: file.write(done))
    return Done(partition, rows, table.n)


def _sealed(folder: Path) -> list[str]:
    """The files of a partition that are counted: written down before the first count, and the same in every other."""
    files = sorted(path.name for path in folder.glob("*.parquet"))
    seal = folder / _SEAL
    if not seal.exists():
        write_once(seal, json.dumps({"files": files}))  # of two who do so at once, the first is believed
    try:
        sealed = msgspec.json.decode(seal.read_bytes(), type=_Seal).files
    except msgspec.MsgspecError as error:
        raise DamagedFiles(
            f"{seal} is damaged: {error}. Delete it if no file has come to its folder since it was written."
        ) from error
    late = sorted(set(files).difference(sealed))
    if late:
        raise LateFiles(f"{folder}: {len(late)} files came after it was sealed, such as {late[0]}")
    return sealed


def count_files(
    files: Sequence[Path], partition: Partition, asked: Question, most_rows: int = _MOST_ROWS
) -> tuple[SummaryTable, int]:
    """Count the reports of these files, each once; return the table, and how many rows there were.

    Ids are compared in slices, by their first byte, so that memory is bounded.
    """
    with needed():
        import pyarrow as pa

    rows = sum(_opened(file).metadata.num_rows for file in files)
    slices = min(256, max(1, -(-rows // most_rows)))
    by = (BUCKET, *asked.segments)
    total: SummaryTable | None = None
    for place in range(slices):
        parts = [_slice(_read(file, asked), place, slices) for file in files]
        table = once(_joined(parts)).select([*asked.segments, *report_columns(asked.counted)])
        bucket = pa.repeat(pa.scalar(asked.buckets.counted(partition.hour), pa.int64()), len(table))
        own = summarize_by(asked.counted, table.add_column(0, pa.field(BUCKET, pa.int64(), nullable=False), bucket), by)
        total = own if total is None else total + own
    assert total is not None
    return total, rows


def _opened(file: Path) -> Any:
    """A Parquet file whose end, which is written last, is whole."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(file, **READ)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedFiles(f"{file} cannot be read: {cut(str(error), 200)}") from error


def _read(file: Path, asked: Question) -> Any:
    """The rows of a file, with the columns that a collector writes."""
    import pyarrow as pa

    try:
        table = _opened(file).read()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedFiles(f"{file} cannot be read: {cut(str(error), 200)}") from error
    told = (table.schema.metadata or {}).get(ROWS)
    if told is not None and told != str(len(table)).encode():
        raise DamagedFiles(f"{file} cannot be read: it has {len(table):,} rows and was written with another number")
    kinds = {ID: pa.binary(ID_BYTES), POSITION: pa.int32(), **dict.fromkeys(asked.segments, pa.string())}
    for name in (*kinds, *report_columns(asked.counted)):
        found = table[name] if table.column_names.count(name) == 1 else None
        if found is None or found.null_count or found.type != kinds.get(name, found.type):
            raise DamagedFiles(f"{file} has no column {name} as collectors write it")
    return table


def _joined(parts: Sequence[Any]) -> Any:
    """One table of the rows of several files."""
    import pyarrow as pa

    try:
        return pa.concat_tables(parts)
    except pa.ArrowException as error:
        raise DamagedFiles(f"the files have unlike columns: {cut(str(error), 200)}") from error


def _slice(table: Any, place: int, slices: int) -> Any:
    """The rows of a table whose ids belong to a slice."""
    if slices == 1:
        return table
    import pyarrow as pa

    first = _words(table)[:, 0] & np.uint64(255)
    return table.filter(pa.array(first % np.uint64(slices) == np.uint64(place)))


def once(table: Any) -> Any:
    """The table without rows whose id and position occurred before."""
    words, positions = _words(table), table[POSITION].to_numpy()
    order = np.lexsort((positions, words[:, 1], words[:, 0]))  # stable: of equal rows the first stays first
    new = np.ones(len(order), np.bool_)
    if len(order) > 1:
        low, high = order[:-1], order[1:]
        new[1:] = (words[low] != words[high]).any(axis=1) | (positions[low] != positions[high])
    return table if new.all() else table.take(np.sort(order[new]))


def _words(table: Any) -> Any:
    """The ids of a table, each as two numbers."""
    if not len(table):
        return np.empty((0, 2), np.uint64)
    column = table[ID].combine_chunks()
    size = column.type.byte_width
    data = memoryview(column.buffers()[1])[size * column.offset : size * (column.offset + len(column))]
    return np.frombuffer(data, "<u8").reshape(-1, 2)
