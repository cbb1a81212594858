"""Reports that give every value a level; a summary adds the levels up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from deniable.core.arrays import Bytes, Counts, Payloads
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.mechanisms.layouts.layout import Layout

MAX_LEVELS = 256  # a level is a byte


@dataclass(frozen=True)
class LevelLayout(Layout):
    """A report is a row of levels below `levels`, one byte each; on the wire each takes `level_bits` bits."""

    values: int
    levels: int

    @property
    def cells(self) -> int:
        return self.values

    @property
    def level_bits(self) -> int:
        """Bits per level on the wire, optimal where `levels` is a power of two."""
        return (self.levels - 1).bit_length()

    @property
    def bits(self) -> int:
        return self.values * self.level_bits

    def empty(self, n: int) -> Payloads:
        return np.empty((n, self.values), np.uint8)

    def check(self, data: Payloads) -> Payloads:
        if data.size == 0 and len(data) == 0:
            return self.empty(0)
        if data.ndim != 2 or data.shape[1] != self.values or data.dtype.kind not in "iu":
            found = f"got shape {data.shape}, {data.dtype}"
            raise MalformedReport(f"reports must be rows of {self.values} levels, {found}")
        if data.max() >= self.levels or data.min() < 0:
            at, value = np.argwhere((data >= self.levels) | (data < 0))[0].tolist()
            found = f"got {data[at, value]}"
            raise MalformedReport(f"report at position {at} must have levels from 0 to {self.levels - 1}, {found}")
        return np.ascontiguousarray(data, np.uint8)

    def count(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.unary import add_levels

        add_levels(data, counts)

    def all(self) -> Iterable[tuple[int, ...]]:
        return product(range(self.levels), repeat=self.values)

    @property
    def code_size(self) -> int:
        return -(-self.bits // 8)

    def pack_many(self, rows: Payloads) -> Bytes:
        # bit b of the level of value v is bit i mod 8 of byte i div 8, i = v level_bits + b
        bits = np.unpackbits(rows[:, :, np.newaxis], axis=2, count=self.level_bits, bitorder="little")
        return np.packbits(bits.reshape(len(rows), self.bits), axis=1, bitorder="little")

    def unpack_many(self, codes: Bytes) -> Payloads:
        bits = np.unpackbits(codes, axis=1, bitorder="little")
        beyond = bits[:, self.bits :].any(axis=1)
        if beyond.any():
            at = int(np.flatnonzero(beyond)[0])
            raise MalformedReport(f"report at position {at} must have no bit set beyond bit {self.bits - 1}")
        split = bits[:, : self.bits].reshape(len(codes), self.values, self.level_bits)
        return self.check(np.packbits(split, axis=2, bitorder="little")[:, :, 0])

    def check_counts(self, summary: Summary) -> None:
        most = summary.n * (self.levels - 1)
        if len(summary.counts) != self.values or int(summary.counts.max()) > most:
            raise MalformedSummary(f"summary must have {self.values} sums of levels, of at most {most}")
