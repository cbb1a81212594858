"""What Spark's Python workers run: partial counts of a partition, and reports of its values.

A task sends back rows of its own partition and nothing else. Spark keeps the rows of one successful attempt of each
task, so an attempt that was lost or repeated is not counted. Rows that are no reports come back as rows too, since an
error in a worker would be tried again, and arrive as text.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from deniable.core.batches import row_bytes, slices
from deniable.core.errors import MalformedReport
from deniable.core.extras import needed
from deniable.core.reports import Reports
from deniable.core.threads import VARIABLE
from deniable.engines.columns import unlabelled
from deniable.engines.malformed import first_bad, without_bad
from deniable.engines.sources import AnyReports, coded
from deniable.engines.spark_types import as_column, numbered
from deniable.grouping.counting import Counted, GroupAccumulator, levels_of, report_columns
from deniable.grouping.keys import Coded
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.registry import from_spec

WHERE = "the DataFrame"  # the place that errors name: rows of a DataFrame have no numbers
MOST_BYTES = 2**26  # of the counts that a task holds before it hands them on
_CELLS_OUT = 2**19  # counts that are looked at at a time when they are handed on
_ROWS_OUT = 2**16  # in a batch of counts
_SEED_LABEL = b"deniable seeded partition 1\0"


def spec_of(counted: Counted) -> str:
    """The document that travels to the workers."""
    return (counted.spec if isinstance(counted, Mechanism) else counted).to_json()


@lru_cache(maxsize=4)
def made(spec: str) -> Counted:
    """The mechanism or heavy hitters of a spec, made once in a worker process, which runs many tasks."""
    os.environ.setdefault(VARIABLE, "1")  # Spark gives a task one core
    return HeavyHitters.from_json(spec, limits=None) if '"heavy_hitters":' in spec else from_spec(spec, limits=None)


@dataclass(frozen=True)
class Reader:
    """Reads batches of rows: columns of keys, then those of the reports."""

    counted: Counted
    by: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        return [*self.by, *report_columns(self.counted)]

    def read(self, rows: Any) -> tuple[AnyReports, Coded]:
        return unlabelled(self.counted, rows, simulated=False), coded(rows, self.by, {})

    def check(self, rows: Any) -> None:
        GroupAccumulator(self.counted, self.by).check(*self.read(rows))


@dataclass(frozen=True)
class Count:
    """Counts a partition: rows of keys, level, cell, count and reason, the last for rows that are no reports.

    Unless `skipping`, a partition is not counted any further after its first such row.
    """

    spec: str
    by: tuple[str, ...]
    skipping: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        reader = Reader(made(self.spec), self.by)
        part = _Part(reader)
        size = row_bytes(levels_of(reader.counted)[0].layout.empty(0))
        for batch in batches:  # to the end in any case: a worker that leaves rows unread cannot be used again
            if part.bad and not self.skipping:
                continue
            rows = batch.rename_columns(reader.names)
            for place in slices(len(rows), size):
                yield from self._add(part, rows.slice(place.start, place.stop - place.start))
        yield from part.counts()
        yield from part.reasons()

    def _add(self, part: _Part, rows: Any) -> Iterator[Any]:
        part.kinds = [rows.column(name).type for name in self.by]
        try:
            yield from part.add(rows, *part.reader.read(rows))
        except MalformedReport as error:
            if not self.skipping:
                part.bad[str(first_bad(rows, part.reader.check, WHERE, error))] += 1
                return
            good, _, reasons = without_bad(rows, part.reader.check, part.reader.counted, self.by)
            part.bad.update(reasons)
            if len(good):
                yield from part.add(good, *part.reader.read(good))


@dataclass
class _Part:
    """The counts of a partition since they were last handed on."""

    reader: Reader
    kinds: list[Any] = field(default_factory=list)  # the types of the keys
    bad: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._held = GroupAccumulator(self.reader.counted, self.reader.by, most_bytes=MOST_BYTES)
        self._most = self._held.most

    def add(self, rows: Any, reports: AnyReports, groups: Coded) -> Iterator[Any]:
        """Count rows; hand on what is held whenever there are too many groups to hold more."""
        if len(groups.groups) > self._most:
            self._held.check(reports, groups)  # all of them, before some are counted
            for piece in self._pieces(rows, groups):
                yield from self.add(piece, *self.reader.read(piece))
            return
        if len(self._held.groups) + sum(group not in self._held.groups for group in groups.groups) > self._most:
            yield from self.counts()
        self._held.add(reports, groups)

    def _pieces(self, rows: Any, groups: Coded) -> Iterator[Any]:
        """The rows of some groups at a time."""
        assert groups.codes is not None, "one group is never too many"
        ordered = rows.take(np.argsort(groups.codes, kind="stable"))
        ends = np.cumsum(groups.sizes)
        starts = [0, *ends[self._most - 1 :: self._most].tolist(), len(rows)]
        for start, stop in pairwise(starts):
            if stop > start:
                yield ordered.slice(start, stop - start)

    def counts(self) -> Iterator[Any]:
        """Hand on all counts, and start anew."""
        with needed():
            import pyarrow as pa

        for found in self._held.cells(_CELLS_OUT):
            codes = pa.array(found.codes)
            keys = [
                pa.array([group[place] for group in found.groups], kind).take(codes)
                for place, kind in enumerate(self.kinds)
            ]
            yield from self._rows([*keys, found.levels, found.cells, found.counts, pa.nulls(len(codes), pa.string())])
        self._restart()

    def reasons(self) -> Iterator[Any]:
        """Hand on how many rows are no reports, by reason."""
        with needed():
            import pyarrow as pa

        number, nothing = len(self.bad), np.zeros(len(self.bad), np.int64)
        keys = [pa.nulls(number, kind) for kind in self.kinds]
        yield from self._rows([*keys, nothing, nothing, list(self.bad.values()), pa.array(self.bad, pa.string())])

    def _rows(self, columns: list[Any]) -> Iterator[Any]:
        with needed():
            import pyarrow as pa

        *keys, levels, cells, counts, reasons = columns
        if len(counts):
            arrays = [*keys, pa.array(levels, pa.int32()), pa.array(cells, pa.int64()), pa.array(counts, pa.int64())]
            whole = pa.RecordBatch.from_arrays([*arrays, reasons], numbered(len(columns)))
            for start in range(0, len(whole), _ROWS_OUT):
                yield whole.slice(start, _ROWS_OUT)


@dataclass(frozen=True)
class Privatize:
    """Puts reports in the place of the values of a column."""

    spec: str
    place: int
    seed: int | None

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        with needed():
            import pyarrow as pa

        counted = made(self.spec)
        for number, batch in enumerate(batches):
            made_reports = counted.privatize(batch.column(self.place), seed=self._seed(number))
            columns: list[Any] = list(batch.columns)
            if isinstance(made_reports, Reports):
                columns[self.place : self.place + 1] = [as_column(made_reports.data)]
            else:
                levels = pa.array(made_reports.levels.astype(np.int32))
                columns[self.place : self.place + 1] = [levels, as_column(made_reports.reports.data)]
            yield pa.RecordBatch.from_arrays(columns, numbered(len(columns)))

    def _seed(self, batch: int) -> int | None:
        """A seed for each batch of each partition."""
        if self.seed is None:
            return None
        with needed():
            from pyspark import TaskContext

        task = TaskContext.get()
        numbers = (self.seed, task.partitionId() if task else 0, batch)
        digest = hashlib.sha256(_SEED_LABEL + b"".join(number.to_bytes(8, "big") for number in numbers)).digest()
        return int.from_bytes(digest[:8], "big") >> 1
