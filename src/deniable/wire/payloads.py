"""How the reports of a spec lie in a frame: every payload of a spec has the same number of bytes.

- Most mechanisms: the bytes of `encode`.
- Public-coin mechanisms, where a report has an id: the class alone, since its public number follows from the id.
- Heavy hitters: the level (2 bytes, little-endian), then the payload of that level, and zeros up to the longest one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.core.arrays import Bytes
from deniable.core.errors import MalformedReport
from deniable.core.reports import Reports
from deniable.heavy_hitters.collected import HitterReports
from deniable.heavy_hitters.protocol import HeavyHitters
from deniable.heavy_hitters.strings import sequences
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.hashing.public_coins import PublicCoin

_LEVEL_BYTES = 2
Question = Mechanism | HeavyHitters


@dataclass(frozen=True)
class Payloads:
    """The payloads of one spec, with ids of their own or without."""

    question: Question
    with_ids: bool

    @cached_property
    def size(self) -> int:
        """Bytes per payload."""
        if isinstance(self.question, HeavyHitters):
            return _LEVEL_BYTES + max(level.layout.code_size for level in self.question.levels)
        if self._coins is not None:
            return self._coins.class_layout.code_size
        return self.question.layout.code_size

    @property
    def _coins(self) -> PublicCoin | None:
        """The mechanism, if ids are its public coins."""
        return self.question if self.with_ids and isinstance(self.question, PublicCoin) else None

    def check(self, value: object) -> None:
        """Refuse a value that the question does not allow, before anything is spent on it."""
        if isinstance(self.question, HeavyHitters):
            sequences([value], self.question.max_bytes)
        else:
            self.question.domain.index(value)

    def made(self, value: object, report_id: bytes) -> bytes:
        """Randomise one value on the device, with fresh randomness, and encode it to be sent under this id."""
        if isinstance(self.question, HeavyHitters):
            level, report = self.question.privatize_one(value)
            code = self.question.levels[level].encode(report)
            return level.to_bytes(_LEVEL_BYTES, "little") + code.ljust(self.size - _LEVEL_BYTES, b"\0")
        if self._coins is not None:
            return self._coins.encode_class(self._coins.privatize_for(value, report_id), report_id)
        return self.question.encode(self.question.privatize_one(value))

    def joined(self, reports: Reports | HitterReports) -> bytes:
        """Encode a batch of reports without ids, end to end; simulated reports are refused."""
        if isinstance(self.question, HeavyHitters):
            assert isinstance(reports, HitterReports)
            return self._hitters_joined(self.question, reports)
        assert isinstance(reports, Reports)
        return self.question.encode_joined(reports)

    def read(self, data: bytes, ids: Sequence[bytes] = ()) -> Reports | HitterReports:
        """Decode and check payloads that lie end to end, or raise MalformedReport with the first wrong position."""
        if isinstance(self.question, HeavyHitters):
            return self._hitters(self.question, data)
        if self._coins is not None:
            return self._coins.decode_class_joined(data, ids)
        return self.question.decode_joined(data)

    def _hitters(self, question: HeavyHitters, data: bytes) -> HitterReports:
        if len(data) % self.size:
            raise MalformedReport(f"reports must have {self.size} bytes each, got {len(data)} bytes in all")
        rows: Bytes = np.frombuffer(data, np.uint8).reshape(-1, self.size)
        levels = rows[:, 0].astype(np.uint16) + (rows[:, 1].astype(np.uint16) << np.uint16(8))
        unknown = np.flatnonzero(levels >= len(question.levels))
        if len(unknown):
            raise MalformedReport(f"report at position {unknown[0]} must have a level below {len(question.levels)}")
        found = question.levels[0].layout.empty(len(rows))
        for number, level in enumerate(question.levels):
            places = np.flatnonzero(levels == number)
            end = _LEVEL_BYTES + level.layout.code_size
            if rows[places, end:].any():
                raise MalformedReport(f"payloads of level {number} must end with zeros")
            found[places] = level.layout.unpack_many(np.ascontiguousarray(rows[places, _LEVEL_BYTES:end]))
        return HitterReports(levels, Reports(found, question.fingerprint))

    def _hitters_joined(self, question: HeavyHitters, reports: HitterReports) -> bytes:
        rows = np.zeros((len(reports), self.size), np.uint8)
        rows[:, 0], rows[:, 1] = reports.levels & 255, reports.levels >> 8
        for number, (level, own) in enumerate(zip(question.levels, question.by_level(reports), strict=True)):
            codes = np.frombuffer(level.encode_joined(own), np.uint8)
            end = _LEVEL_BYTES + level.layout.code_size
            rows[reports.levels == number, _LEVEL_BYTES:end] = codes.reshape(len(own), -1)
        return rows.tobytes()
