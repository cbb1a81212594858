"""Mechanisms whose report gives every value a level, and whose summary adds the levels up."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from itertools import product

import numpy as np

from deniable.core.arrays import Counts, Payloads
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.mechanisms.base.client import one_row
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.server import Server

MAX_LEVELS = 256  # a level is a byte


class LevelReports(Server):
    """A report is a row of k levels below `levels`, a byte each; on the wire they have as few bits as hold a level."""

    @property
    @abstractmethod
    def levels(self) -> int:
        """How many levels there are, at most 256."""

    @property
    def cells(self) -> int:
        return self.k

    def empty_payloads(self, n: int) -> Payloads:
        return np.empty((n, self.k), np.uint8)

    def check_payloads(self, data: Payloads) -> Payloads:
        if data.size == 0 and len(data) == 0:
            return self.empty_payloads(0)
        if data.ndim != 2 or data.shape[1] != self.k or data.dtype.kind not in "iu":
            raise MalformedReport(f"reports must be rows of {self.k} levels, got shape {data.shape}, {data.dtype}")
        if data.max() >= self.levels or data.min() < 0:
            at, value = np.argwhere((data >= self.levels) | (data < 0))[0].tolist()
            found = f"got {data[at, value]}"
            raise MalformedReport(f"report at position {at} must have levels from 0 to {self.levels - 1}, {found}")
        return np.ascontiguousarray(data, np.uint8)

    def accumulate(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.unary import add_levels

        add_levels(data, counts)

    def all_payloads(self) -> Iterable[tuple[int, ...]]:
        return product(range(self.levels), repeat=self.k)

    @property
    def level_bits(self) -> int:
        """Bits of a level on the wire; no fewer would do where `levels` is a power of two."""
        return (self.levels - 1).bit_length()

    @property
    def report_bits(self) -> int:
        return self.k * self.level_bits

    def _pack(self, payload: Payload) -> bytes:
        (data,) = self._pack_many(self.check_payloads(one_row(payload)))
        return data

    def _unpack(self, data: bytes) -> tuple[int, ...]:
        (row,) = self._unpack_many([data]).tolist()
        return tuple(row)

    def _pack_many(self, rows: Payloads) -> list[bytes]:
        # bit b of the level of value v is bit i mod 8 of byte i div 8, i = v level_bits + b
        bits = np.unpackbits(rows[:, :, np.newaxis], axis=2, count=self.level_bits, bitorder="little")
        packed = np.packbits(bits.reshape(len(rows), self.report_bits), axis=1, bitorder="little")
        return [row.tobytes() for row in packed]

    def _unpack_many(self, data: list[bytes]) -> Payloads:
        size = -(-self.report_bits // 8)
        for place, one in enumerate(data):
            if len(one) != size:
                raise MalformedReport(f"report at position {place} must have {size} bytes, got {len(one)}")
        rows = np.frombuffer(b"".join(data), np.uint8).reshape(len(data), size)
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        beyond = bits[:, self.report_bits :].any(axis=1)
        if beyond.any():
            at = int(np.flatnonzero(beyond)[0])
            raise MalformedReport(f"report at position {at} must have no bit set beyond bit {self.report_bits - 1}")
        split = bits[:, : self.report_bits].reshape(len(data), self.k, self.level_bits)
        return self.check_payloads(np.packbits(split, axis=2, bitorder="little")[:, :, 0])

    def check_summary(self, summary: Summary) -> None:
        super().check_summary(summary)
        most = summary.n * (self.levels - 1)
        if len(summary.counts) != self.k or int(summary.counts.max()) > most:
            raise MalformedSummary(f"summary must have {self.k} sums of levels, of at most {most}")
