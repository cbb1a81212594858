"""Reports that mark a set of values, one bit per value; a summary counts the marks of each value."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Bytes, Counts, Indices, Mask, Payloads, Words
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.limits import Cost
from deniable.core.summary import Summary
from deniable.mechanisms.layouts.layout import Layout, Payload, words_of

WORD = 64
_BITS = np.uint64(1) << np.arange(WORD, dtype=np.uint64)


def tossing(bits: int) -> Cost:
    """What it costs a device to toss so many bits, 64 at a time, and to write them, by formula."""
    return Cost(report=8 * bits, nanoseconds=10 * bits)  # measured: 5.3 bytes, and from 3 to 7 nanoseconds


def bitmap(chosen: Iterable[int], slices: int) -> tuple[int, ...]:
    """Write a set of values as words: value v is bit v mod 64 of word v div 64."""
    bits = bytearray(8 * slices)
    for value in chosen:
        bits[value >> 3] |= 1 << (value & 7)
    return tuple(np.frombuffer(bits, "<u8").tolist())


def one_bit(value: int, slices: int) -> Words:
    """The bitmap of one value, in which all words are written alike, so that timing does not reveal the value."""
    return np.asarray((np.arange(slices) == value // WORD) * _BITS[value % WORD])


def words_of_marks(marked: bytearray, slices: int) -> tuple[int, ...]:
    """Write a byte per value, 0 or 1, as words."""
    bits = np.zeros(8 * slices, np.uint8)
    packed = np.packbits(np.frombuffer(marked, np.uint8), bitorder="little")
    bits[: len(packed)] = packed
    return tuple(bits.view("<u8").tolist())


def words_of_bits(bits: int, slices: int) -> tuple[int, ...]:
    """Split an integer into words, the least significant first, in linear time."""
    return tuple(np.frombuffer(bits.to_bytes(8 * slices, "little"), "<u8").tolist())


def marks(payload: Payload, index: int) -> bool:
    """Whether a bitmap marks the value of this index."""
    assert isinstance(payload, tuple)
    return bool(int(payload[index // WORD]) >> index % WORD & 1)


def marked(rows: Payloads, indices: Indices) -> Mask:
    """Which values of these indices each row of words marks."""
    bits = rows[:, indices // WORD] >> (indices % WORD).astype(np.uint64)
    return (bits & np.uint64(1)).astype(np.bool_)


def words_from(codes: Bytes, slices: int) -> Payloads:
    """Read rows of bytes as words, the least significant byte first, with zeros beyond the end."""
    rows = np.zeros((len(codes), 8 * slices), np.uint8)
    rows[:, : codes.shape[1]] = codes
    return rows.view("<u8")


@dataclass(frozen=True)
class BitmapLayout(Layout):
    """A report is a row of 64-bit words: value v is bit v mod 64 of word v div 64; bits beyond the values are zero."""

    values: int

    @property
    def slices(self) -> int:
        """Words per report."""
        return -(-self.values // WORD)

    @property
    def last_word(self) -> np.uint64:
        """The bits in use in the last word of a report."""
        return np.uint64(2 ** (self.values - WORD * (self.slices - 1)) - 1)

    @property
    def cells(self) -> int:
        return self.values

    @property
    def bits(self) -> int:
        return self.values

    @property
    def code_size(self) -> int:
        return -(-self.values // 8)

    def empty(self, n: int) -> Payloads:
        return np.empty((n, self.slices), np.uint64)

    def check(self, data: Payloads) -> Payloads:
        if data.size == 0 and len(data) == 0:
            return self.empty(0)
        rows = words_of(data, self.slices, f"rows of {self.slices} words")
        beyond = rows[:, -1] > self.last_word
        if beyond.any():
            at = int(np.flatnonzero(beyond)[0])
            raise MalformedReport(f"report at position {at} must have no bit set beyond bit {self.values - 1}")
        return rows

    def count(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.unary import count_bits

        count_bits(data, counts)

    def all(self) -> Iterable[tuple[int, ...]]:
        return (self.words(bits) for bits in range(2**self.values))

    def words(self, bits: int) -> tuple[int, ...]:
        """The report with the bits of one integer."""
        return words_of_bits(bits, self.slices)

    def pack_many(self, rows: Payloads) -> Bytes:
        # value v is bit v mod 8 of byte v div 8
        return rows.astype("<u8", copy=False).view(np.uint8)[:, : self.code_size]

    def unpack_many(self, codes: Bytes) -> Payloads:
        return self.check(words_from(codes, self.slices))

    def check_counts(self, summary: Summary) -> None:
        if len(summary.counts) != self.values or int(summary.counts.max()) > summary.n:
            raise MalformedSummary(f"summary must have {self.values} counts of at most n = {summary.n}")
