"""Reports that are a cohort and a filter of bits; a summary counts both by cohort."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Bytes, Counts, Payloads
from deniable.core.batches import slices
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.mechanisms.layouts.bitmaps import WORD, words_from, words_of_bits
from deniable.mechanisms.layouts.codes import check_size
from deniable.mechanisms.layouts.layout import Layout, Payload, one_row, words_of


def cohort_rows(data: Payloads, cohorts: int, slices: int) -> Payloads:
    """Return rows of a cohort and some words of bits as the kernels read them; the bits are not checked."""
    rows = words_of(data, 1 + slices, f"a cohort and {slices} words")
    if rows[:, 0].max() >= cohorts:
        at = int(np.flatnonzero(rows[:, 0] >= cohorts)[0])
        raise MalformedReport(f"report at position {at} must name a cohort below {cohorts}, got {rows[at, 0]}")
    return rows


@dataclass(frozen=True)
class FilterLayout(Layout):
    """A report is a row of 64-bit words: its cohort, then bucket b as bit b mod 64 of word 1 + b div 64.

    Bits beyond the buckets are zero. A summary has a row per cohort: all its reports, then those with each bit set.
    """

    cohorts: int
    buckets: int

    @property
    def slices(self) -> int:
        """Words of a report's bits, after the cohort."""
        return -(-self.buckets // WORD)

    @property
    def last_word(self) -> int:
        """The bits in use in the last word of a report."""
        return int(2 ** (self.buckets - WORD * (self.slices - 1)) - 1)

    @property
    def cells(self) -> int:
        return self.cohorts * (1 + self.buckets)

    @property
    def bits(self) -> int:
        return (self.cohorts - 1).bit_length() + self.buckets

    @property
    def code_size(self) -> int:
        return -(-self.bits // 8)

    def by_cohort(self, counts: Counts) -> Counts:
        """The counts of a summary, one row per cohort."""
        return counts.reshape(self.cohorts, 1 + self.buckets)

    def empty(self, n: int) -> Payloads:
        return np.empty((n, 1 + self.slices), np.uint64)

    def check(self, data: Payloads) -> Payloads:
        if data.size == 0 and len(data) == 0:
            return self.empty(0)
        rows = cohort_rows(data, self.cohorts, self.slices)
        if rows[:, -1].max() > self.last_word:
            at = int(np.argmax(rows[:, -1] > self.last_word))
            raise MalformedReport(f"report at position {at} must have no bit set beyond bit {self.buckets - 1}")
        return rows

    def count(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.cohorts import count_filters

        for place in slices(len(data), self.row_bytes, most=len(data)):
            part = data[place]
            cohorts = part[:, 0].astype(np.uint16)  # at most 2^16 cohorts: NumPy sorts 16-bit integers by radix
            ends = np.cumsum(np.bincount(cohorts, minlength=self.cohorts))
            rows = np.take(np.ascontiguousarray(part[:, 1:]), np.argsort(cohorts, kind="stable"), axis=0)
            count_filters(rows, ends, self.by_cohort(counts))

    def all(self) -> Iterable[tuple[int, ...]]:
        return (self.row(cohort, bits) for cohort in range(self.cohorts) for bits in range(2**self.buckets))

    def row(self, cohort: int, bits: int) -> tuple[int, ...]:
        """The report of this cohort with the bits of one integer."""
        return (cohort, *words_of_bits(bits, self.slices))

    @staticmethod
    def bits_of(payload: Payload) -> int:
        """The bits of a report as one integer."""
        assert isinstance(payload, tuple)
        return int.from_bytes(np.array(payload[1:], "<u8").tobytes(), "little")

    def pack(self, payload: Payload) -> bytes:
        (row,) = self.check(one_row(payload)).tolist()
        # the buckets are the least significant bits, the cohort lies above them
        number: int = row[0] << self.buckets | self.bits_of(tuple(row))
        return number.to_bytes(self.code_size, "little")

    def unpack(self, data: bytes) -> Payload:
        check_size(data, self.code_size)
        cohort, bits = divmod(int.from_bytes(data, "little"), 1 << self.buckets)
        if cohort >= self.cohorts:
            raise MalformedReport(f"report must name a cohort below {self.cohorts}, got {cohort}")
        return self.row(cohort, bits)

    def pack_many(self, rows: Payloads) -> Bytes:
        full, rest = divmod(self.buckets, WORD)
        words = np.zeros((len(rows), self.slices + 1), "<u8")
        words[:, : self.slices] = rows[:, 1:]
        # the cohort lies above the buckets, and may begin in one word and end in the next
        words[:, full] |= rows[:, 0] << np.uint64(rest)
        if rest:
            words[:, full + 1] |= rows[:, 0] >> np.uint64(WORD - rest)
        return words.view(np.uint8)[:, : self.code_size]

    def unpack_many(self, codes: Bytes) -> Payloads:
        full, rest = divmod(self.buckets, WORD)
        words = words_from(codes, self.slices + 1)
        rows = self.empty(len(codes))
        rows[:, 1:] = words[:, : self.slices]
        rows[:, -1] &= np.uint64(self.last_word)
        rows[:, 0] = words[:, full] >> np.uint64(rest)
        if rest:
            rows[:, 0] |= words[:, full + 1] << np.uint64(WORD - rest)
        return self.check(rows)

    def check_counts(self, summary: Summary) -> None:
        if len(summary.counts) != self.cells:
            raise MalformedSummary(f"summary must have {self.cells} counts, got {len(summary.counts)}")
        rows = self.by_cohort(summary.counts)
        if sum(rows[:, 0].tolist()) != summary.n or (rows[:, 1:] > rows[:, :1]).any():
            raise MalformedSummary(
                f"cohorts must have {summary.n} reports in all, and no bit set more often than they have reports"
            )
