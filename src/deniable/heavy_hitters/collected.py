"""Heavy-hitter reports and summaries: reports with their levels, and one summary per level.

Arrow layout of reports: the columns `level` and `report`, the latter as in reports.py, with the same metadata.
Bytes of summaries, version 1 (in the envelope of core/summary.py): magic `DNBLH`, version; the header is the number of
levels (2 bytes) and the 32 bytes of the fingerprint; the contents are, for each level, the length of its summary in
bytes (8 bytes) and the summary.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Levels
from deniable.core.display import brief
from deniable.core.errors import FingerprintMismatch, MalformedReport, MalformedSummary, cut
from deniable.core.extras import needed
from deniable.core.reports import Reports, as_table, only_column
from deniable.core.summary import Envelope, Summary

LEVEL_COLUMN = "level"
MAGIC = b"DNBLH"
ENVELOPE = Envelope(MAGIC, 1, struct.Struct("<H32s"), "a summary of a heavy-hitter spec")
_LENGTH = struct.Struct("<Q")
_MAX_LEVEL = 2**16 - 1


@dataclass(frozen=True, eq=False)
class HitterReports:
    """A batch of reports, each with its public level. `reports` carries the protocol's fingerprint."""

    levels: Levels
    reports: Reports

    def __post_init__(self) -> None:
        levels = np.asarray(self.levels)
        if levels.dtype.kind not in "iu" or levels.shape != (len(self.reports),):
            raise MalformedReport(f"there must be one level per report, for {len(self.reports)} reports")
        if len(levels) and not 0 <= levels.min() <= levels.max() <= _MAX_LEVEL:
            raise MalformedReport(f"a level must lie from 0 to {_MAX_LEVEL}, got {levels.min()} to {levels.max()}")
        view = levels.view()
        view.setflags(write=False)
        object.__setattr__(self, "levels", view)

    def __len__(self) -> int:
        return len(self.reports)

    def __repr__(self) -> str:
        simulated = "simulated" if self.reports.simulated else ""
        return brief(self, simulated, n=f"{len(self):,}", fingerprint=self.reports.fingerprint)

    def __add__(self, other: HitterReports) -> HitterReports:
        if not isinstance(other, HitterReports):
            return NotImplemented
        return HitterReports(np.concatenate([self.levels, other.levels]), self.reports + other.reports)

    def to_arrow(self) -> Any:
        """Return the batch as an Arrow table in the stable layout."""
        with needed():
            import pyarrow as pa

        table = self.reports.to_arrow()
        field = pa.field(LEVEL_COLUMN, pa.uint16(), nullable=False)
        return table.add_column(0, field, pa.array(self.levels.astype(np.uint16)))

    @staticmethod
    def from_arrow(table: Any) -> HitterReports:
        """Read a batch from an Arrow table, record batch or stream, which is read to its end; the layout is checked."""
        table = as_table(table)
        reports = Reports.from_arrow(table)
        if LEVEL_COLUMN not in table.schema.names:
            raise MalformedReport(f"table has no column {LEVEL_COLUMN!r}: these are not reports of a heavy-hitter spec")
        column = only_column(table, LEVEL_COLUMN)
        if not str(column.type).startswith(("int", "uint")):
            raise MalformedReport(f"column {LEVEL_COLUMN!r} must hold whole numbers, got {cut(str(column.type))}")
        return HitterReports(column.to_numpy(), reports)


@dataclass(frozen=True, eq=False)
class HitterSummary:
    """The summaries of all levels. Addition is exact, commutative and associative."""

    levels: tuple[Summary, ...]
    fingerprint: str

    @property
    def n(self) -> int:
        """The number of reports, over all levels."""
        return sum(part.n for part in self.levels)

    @property
    def simulated(self) -> bool:
        return any(part.simulated for part in self.levels)

    def __repr__(self) -> str:
        simulated = "simulated" if self.simulated else ""
        return brief(self, simulated, n=f"{self.n:,}", levels=len(self.levels), fingerprint=self.fingerprint)

    def __add__(self, other: HitterSummary) -> HitterSummary:
        if not isinstance(other, HitterSummary):
            return NotImplemented
        if other.fingerprint != self.fingerprint:
            raise FingerprintMismatch("a summary", self.fingerprint, other.fingerprint)
        if len(other.levels) != len(self.levels):
            raise MalformedSummary(f"summaries have {len(self.levels)} and {len(other.levels)} levels")
        both = (mine + theirs for mine, theirs in zip(self.levels, other.levels, strict=True))
        return HitterSummary(tuple(both), self.fingerprint)

    def __radd__(self, other: object) -> HitterSummary:
        return self if other == 0 else NotImplemented  # sum() starts at 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HitterSummary):
            return NotImplemented
        return (self.fingerprint, self.levels) == (other.fingerprint, other.levels)

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """All summaries as bytes, with a checksum."""
        parts = (part.to_bytes() for part in self.levels)
        contents = b"".join(_LENGTH.pack(len(data)) + data for data in parts)
        return ENVELOPE.seal((len(self.levels), bytes.fromhex(self.fingerprint)), contents)

    @staticmethod
    def from_bytes(data: Any) -> HitterSummary:
        """Read what `to_bytes` wrote; foreign, truncated, damaged or newer bytes are refused."""
        (count, fingerprint), contents = ENVELOPE.unseal(data)
        parts: list[Summary] = []
        while len(parts) < count and len(contents) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(contents)
            if _LENGTH.size + length > len(contents):
                break
            parts.append(Summary.from_bytes(contents[_LENGTH.size : _LENGTH.size + length]))
            contents = contents[_LENGTH.size + length :]
        if len(parts) != count or len(contents):
            raise MalformedSummary(f"summary must hold {count} levels and nothing more")
        return HitterSummary(tuple(parts), fingerprint.hex())
