"""What devices send and what a server keeps: reports with their levels, and a summary for each level.

Arrow layout of reports: the columns `level` and `report`, the second as in reports.py, and the same metadata.
Bytes of summaries, version 1 (little-endian): magic `DNBLH`, version, the number of levels (2 bytes), the 32
bytes of the fingerprint; for each level the length of its summary's bytes (8 bytes) and those; the SHA-256 of all that.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.core.arrays import Levels
from deniable.core.errors import FingerprintMismatch, MalformedReport, MalformedSummary, UnsupportedVersion
from deniable.core.reports import Reports
from deniable.core.summary import Summary

LEVEL_COLUMN = "level"
MAGIC = b"DNBLH"
VERSION = 1
_HEADER = struct.Struct("<5sBH32s")
_LENGTH = struct.Struct("<Q")
_MAX_LEVEL = 2**16 - 1
_CHECKSUM = hashlib.sha256().digest_size


@dataclass(frozen=True, eq=False)
class HitterReports:
    """A batch of reports, each about one level, which is public. `reports` carries the protocol's fingerprint."""

    levels: Levels
    reports: Reports

    def __post_init__(self) -> None:
        levels = np.asarray(self.levels)
        if levels.dtype.kind not in "iu" or levels.shape != (len(self.reports),):
            raise MalformedReport(f"there must be one level for each of {len(self.reports)} reports")
        if len(levels) and not 0 <= levels.min() <= levels.max() <= _MAX_LEVEL:
            raise MalformedReport(f"a level must lie from 0 to {_MAX_LEVEL}, got {levels.min()} to {levels.max()}")
        view = levels.view()
        view.setflags(write=False)
        object.__setattr__(self, "levels", view)

    def __len__(self) -> int:
        return len(self.reports)

    def __add__(self, other: HitterReports) -> HitterReports:
        if not isinstance(other, HitterReports):
            return NotImplemented
        return HitterReports(np.concatenate([self.levels, other.levels]), self.reports + other.reports)

    def to_arrow(self) -> Any:
        """The batch as an Arrow table in the stable layout."""
        import pyarrow as pa

        table = self.reports.to_arrow()
        field = pa.field(LEVEL_COLUMN, pa.uint16(), nullable=False)
        return table.add_column(0, field, pa.array(self.levels.astype(np.uint16)))

    @staticmethod
    def from_arrow(table: Any) -> HitterReports:
        """The batch in an Arrow table or record batch; the layout is checked."""
        reports = Reports.from_arrow(table)
        if LEVEL_COLUMN not in table.schema.names:
            raise MalformedReport(f"table has no column {LEVEL_COLUMN!r}: these are not reports of a heavy-hitter spec")
        column = table.column(LEVEL_COLUMN)
        if column.null_count:
            raise MalformedReport(f"column {LEVEL_COLUMN!r} holds {column.null_count} nulls")
        return HitterReports(column.to_numpy(), reports)


@dataclass(frozen=True, eq=False)
class HitterSummary:
    """The summaries of all levels. Addition is exact, commutative and associative."""

    levels: tuple[Summary, ...]
    fingerprint: str

    @property
    def n(self) -> int:
        """How many reports it counts."""
        return sum(part.n for part in self.levels)

    @property
    def simulated(self) -> bool:
        return any(part.simulated for part in self.levels)

    def __add__(self, other: HitterSummary) -> HitterSummary:
        if not isinstance(other, HitterSummary):
            return NotImplemented
        if other.fingerprint != self.fingerprint:
            raise FingerprintMismatch("a summary", self.fingerprint, other.fingerprint)
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
        body = _HEADER.pack(MAGIC, VERSION, len(self.levels), bytes.fromhex(self.fingerprint))
        for part in self.levels:
            data = part.to_bytes()
            body += _LENGTH.pack(len(data)) + data
        return body + hashlib.sha256(body).digest()

    @staticmethod
    def from_bytes(data: Any) -> HitterSummary:
        """Read what `to_bytes` wrote; foreign, truncated, damaged or newer bytes are refused."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise MalformedSummary(f"a summary must be bytes, got {type(data).__name__}")
        data = bytes(data)
        if data[:5] != MAGIC:
            raise MalformedSummary("these bytes are not a summary of a heavy-hitter spec: the magic number is missing")
        if len(data) < _HEADER.size + _CHECKSUM:
            raise MalformedSummary(f"summary is truncated: {len(data)} bytes")
        _, version, count, fingerprint = _HEADER.unpack_from(data)
        if version > VERSION:
            raise UnsupportedVersion("summary", version, VERSION)
        if hashlib.sha256(data[:-_CHECKSUM]).digest() != data[-_CHECKSUM:]:
            raise MalformedSummary("summary is truncated or damaged: its checksum does not match")
        parts, place = [], _HEADER.size
        end = len(data) - _CHECKSUM
        for _ in range(count):
            (length,) = _LENGTH.unpack_from(data, place)
            place += _LENGTH.size
            if place + length > end:
                break
            parts.append(Summary.from_bytes(data[place : place + length]))
            place += length
        if len(parts) != count or place != end:
            raise MalformedSummary(f"summary must hold {count} levels and nothing more")
        return HitterSummary(tuple(parts), fingerprint.hex())
