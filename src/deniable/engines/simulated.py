"""Files of simulated reports, for load tests and demonstrations: as many as the disk holds, in bounded memory.

Every part of a file has a seed of its own, so that threads can make files in any order, and the same seed gives the
same reports whatever their number.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Payloads
from deniable.core.batches import slices
from deniable.core.errors import InvalidArgument
from deniable.core.extras import needed
from deniable.core.parquet import how_written
from deniable.core.reports import COLUMN, Reports
from deniable.core.threads import share, workers
from deniable.core.validate import choice, whole
from deniable.engines.columns import width_of
from deniable.engines.folders import prepared, record
from deniable.engines.populations import Population
from deniable.grouping.keys import group_columns
from deniable.heavy_hitters.collected import LEVEL_COLUMN
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.randomness.simulated import part

Progress = Callable[[int, int], None]

DAY = "day"
FIRST_DAY = date(2026, 1, 1)
MOST_USERS = 2**48
MOST_GROUPS = 100_000
FILE_ROWS = 2**24
GROUP_ROWS = 2**20  # of a row group, the unit of work of a reader
COMPRESSIONS = ("zstd", "none")
_LISTED = 2**16  # symbols of an alphabet that a file lists once, in a dictionary
_VALUES, _COINS = range(2)  # what the keys of a piece are for


@dataclass(frozen=True, eq=False)
class Simulated:
    """What was written: files, bytes, how long it took, and how many users have each value."""

    folder: Path
    users: int
    files: int
    bytes: int
    seconds: float
    truth: Counts

    @property
    def rows_per_second(self) -> float:
        return self.users / self.seconds


@dataclass(frozen=True)
class _File:
    """A file to be written: its number among all, its folder, and how many users it has."""

    number: int
    folder: str
    users: int


def simulate_files(
    mechanism: Mechanism,
    folder: str | Path,
    users: int,
    *,
    by: Mapping[str, int] | None = None,
    zipf: float = 1.0,
    strings: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
    compression: str = "zstd",
    file_rows: int = FILE_ROWS,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Simulated:
    """Write the reports of simulated users as Parquet files in partitioned folders, `day=2026-01-01/country=0/`.

    `by` maps the columns of the groups to how many keys each has: dates from 2026-01-01 on for `day`, numbers from 0
    for the others. All groups have equally many users, up to one, whose values are drawn from one distribution: shares
    fall as 1/rank to the power `zipf`. In an open domain there are `strings` different strings, by default 1,000.

    Beside the reports, `truth.csv` has the number of users with each value, and `simulation.json` says how to repeat
    this. A folder that is not empty is refused; with `overwrite`, an earlier simulation in it is replaced.

    Cost: for each thread, memory of a few copies of a row group, which has up to 2^20 reports or 64 MiB.
    """
    if not isinstance(mechanism, Mechanism):
        raise InvalidArgument("mechanism", "be a mechanism", mechanism)
    users, seed = whole(1, MOST_USERS, users=users), whole(0, 2**63 - 1, seed=seed)
    file_rows = whole(1, 2**32, file_rows=file_rows)
    number = workers() if threads is None else whole(1, threads=threads)
    choice(COMPRESSIONS, compression=compression)
    people = Population.zipf(mechanism.domain, zipf, strings)
    places = list(_folders(by or {}))
    home = prepared(Path(folder), overwrite)
    job = _Job(mechanism, people, home, seed, compression, _Meter(users, progress))
    start = time.perf_counter()
    parts = share(job.write, _files(users, places, file_rows), number)
    truth: Counts = np.sum([counts for counts, _, _ in parts], axis=0)
    settings = {"users": users, "by": dict(by or {}), "zipf": zipf, "seed": seed, "file_rows": file_rows}
    if strings is not None:
        settings["strings"] = strings
    record(home, mechanism, settings, people.labels, truth)
    size, made = sum(size for _, size, _ in parts), sum(made for *_, made in parts)
    return Simulated(home, users, made, size, time.perf_counter() - start, truth)


def _folders(by: Mapping[str, int]) -> Iterator[str]:
    """The folders of all groups, `day=2026-01-01/country=0`; one without a name if there are no groups."""
    if not by:
        yield ""
        return
    names, total = group_columns(list(by)), 1
    for name in names:
        if not name.isidentifier():
            raise InvalidArgument("by", "name columns by letters, digits and _", name)
        if name in (COLUMN, LEVEL_COLUMN):
            hint = "The key of a folder hides a column of that name from other tools."
            raise InvalidArgument("by", f"not be called {name!r}", name, hint)
        total *= whole(1, MOST_GROUPS, by=by[name])
        if total > MOST_GROUPS:
            raise InvalidArgument("by", f"make at most {MOST_GROUPS:,} groups", dict(by))
    for keys in product(*(range(by[name]) for name in names)):
        yield "/".join(f"{name}={_key(name, key)}" for name, key in zip(names, keys, strict=True))


def _key(name: str, number: int) -> str:
    return (FIRST_DAY + timedelta(number)).isoformat() if name == DAY else str(number)


def _files(users: int, folders: list[str], rows: int) -> Iterator[_File]:
    """Divide the users into groups, and those of a group into files."""
    number = 0
    for place, folder in enumerate(folders):
        own = users // len(folders) + (place < users % len(folders))
        for start in range(0, own, rows):
            yield _File(number, folder, min(rows, own - start))
            number += 1


class _Meter:
    """How many reports all threads have made together."""

    def __init__(self, users: int, progress: Progress | None) -> None:
        self._users, self._progress = users, progress
        self._lock, self._made = threading.Lock(), 0

    def add(self, reports: int) -> None:
        if self._progress is not None:
            with self._lock:
                self._made += reports
                self._progress(self._made, self._users)


@dataclass(frozen=True)
class _Job:
    """What all threads share."""

    mechanism: Mechanism
    people: Population
    home: Path
    seed: int
    compression: str
    meter: _Meter

    def write(self, files: Iterable[_File]) -> tuple[Counts, int, int]:
        """Write the files that this thread takes; return how many users have each value, the bytes and the files."""
        truth, size, made = np.zeros(len(self.people), np.int64), 0, 0
        for file in files:
            folder = self.home / file.folder
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"part-{file.number:06}.parquet"
            unfinished = path.with_name(f".{path.name}")  # readers pass over hidden files
            try:
                self._write(file, unfinished, truth)
                unfinished.replace(path)
            finally:
                unfinished.unlink(missing_ok=True)
            size, made = size + path.stat().st_size, made + 1
        return truth, size, made

    def _write(self, file: _File, path: Path, truth: Counts) -> None:
        with needed():
            import pyarrow.parquet as pq

        layout = self.mechanism.layout
        # words of random bits repeat too seldom to be listed once
        listed = width_of(self.mechanism) is None and layout.cells <= _LISTED and self.compression != "none"
        schema = self._table(layout.empty(0)).schema
        groups = slices(file.users, layout.row_bytes, GROUP_ROWS)
        how = {**how_written(), "compression": self.compression, "use_dictionary": listed}
        with pq.ParquetWriter(path, schema, **how) as writer:
            for number, group in enumerate(groups):
                out = layout.empty(group.stop - group.start)
                for place, piece in enumerate(slices(len(out), layout.row_bytes)):
                    self._fill(out[piece], (file.number, number, place), truth)
                writer.write_table(self._table(out), row_group_size=len(out))
                self.meter.add(len(out))

    def _fill(self, out: Payloads, piece: tuple[int, int, int], truth: Counts) -> None:
        """Make the reports of one piece, and count the values behind them."""
        ranks = self.people.draw(part(self.seed, *piece, _VALUES).stream(0), len(out))
        truth += np.bincount(ranks, minlength=len(truth))
        indices = ranks if self.people.indices is None else self.people.indices[ranks]
        out[:] = self.mechanism.payloads(indices, part(self.seed, *piece, _COINS))

    def _table(self, payloads: Payloads) -> Any:
        return Reports(payloads, self.mechanism.fingerprint, simulated=True).to_arrow()
