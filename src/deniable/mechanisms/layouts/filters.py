"""Mechanisms whose report is a cohort and one bit for each of its buckets, and whose summary counts both by cohort."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deniable.core.arrays import Counts, Payloads
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.mechanisms.base.client import one_row
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.server import Server
from deniable.mechanisms.layouts.bitmaps import cohort_rows

WORD = 64
_SORTED_AT_ONCE = 2**26  # bytes of reports


class BloomReports(Server):
    """A report is a row of 64-bit words: its cohort, then bucket b as bit b mod 64 of word 1 + b div 64.

    Bits beyond the buckets are zero. A summary has a row for each cohort: its reports, then those with each bit set.
    """

    cohorts: int
    buckets: int

    @property
    def slices(self) -> int:
        """Words of a report's bits, after the cohort."""
        return -(-self.buckets // WORD)

    @property
    def last_word(self) -> int:
        """The bits there are in the last word of a report."""
        return int(2 ** (self.buckets - WORD * (self.slices - 1)) - 1)

    @property
    def cells(self) -> int:
        return self.cohorts * (1 + self.buckets)

    def by_cohort(self, counts: Counts) -> Counts:
        """The counts of a summary, one row for each cohort."""
        return counts.reshape(self.cohorts, 1 + self.buckets)

    def empty_payloads(self, n: int) -> Payloads:
        return np.empty((n, 1 + self.slices), np.uint64)

    def check_payloads(self, data: Payloads) -> Payloads:
        if data.size == 0 and len(data) == 0:
            return self.empty_payloads(0)
        rows = cohort_rows(data, self.cohorts, self.slices)
        if rows[:, -1].max() > self.last_word:
            at = int(np.argmax(rows[:, -1] > self.last_word))
            raise MalformedReport(f"report at position {at} must have no bit set beyond bit {self.buckets - 1}")
        return rows

    def accumulate(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.cohorts import count_filters

        batch = max(1, _SORTED_AT_ONCE // self.empty_payloads(1).nbytes)
        for start in range(0, len(data), batch):
            part = data[start : start + batch]
            cohorts = part[:, 0].astype(np.uint16)  # there are 2^16 at most, and these are sorted by their digits
            ends = np.cumsum(np.bincount(cohorts, minlength=self.cohorts))
            rows = np.take(np.ascontiguousarray(part[:, 1:]), np.argsort(cohorts, kind="stable"), axis=0)
            count_filters(rows, ends, self.by_cohort(counts))

    def all_payloads(self) -> Iterable[tuple[int, ...]]:
        return (self.row(cohort, bits) for cohort in range(self.cohorts) for bits in range(2**self.buckets))

    def row(self, cohort: int, bits: int) -> tuple[int, ...]:
        """The report of this cohort whose bits are those of one integer."""
        return (cohort, *(bits >> shift & (2**WORD - 1) for shift in range(0, WORD * self.slices, WORD)))

    @staticmethod
    def bits(payload: Payload) -> int:
        """The bits of a report as one integer."""
        assert isinstance(payload, tuple)
        return sum(int(word) << WORD * place for place, word in enumerate(payload[1:]))

    @property
    def report_bits(self) -> int:
        return (self.cohorts - 1).bit_length() + self.buckets

    @property
    def _payload_bytes(self) -> int:
        return -(-self.report_bits // 8)

    def _pack(self, payload: Payload) -> bytes:
        (row,) = self.check_payloads(one_row(payload)).tolist()
        # the least significant bits are those of the buckets, the cohort lies above them
        number: int = row[0] << self.buckets | self.bits(tuple(row))
        return number.to_bytes(self._payload_bytes, "little")

    def _unpack(self, data: bytes) -> Payload:
        if len(data) != self._payload_bytes:
            raise MalformedReport(f"report must have {self._payload_bytes} bytes, got {len(data)}")
        cohort, bits = divmod(int.from_bytes(data, "little"), 1 << self.buckets)
        if cohort >= self.cohorts:
            raise MalformedReport(f"report must name a cohort below {self.cohorts}, got {cohort}")
        return self.row(cohort, bits)

    def check_summary(self, summary: Summary) -> None:
        super().check_summary(summary)
        if len(summary.counts) != self.cells:
            raise MalformedSummary(f"summary must have {self.cells} counts, got {len(summary.counts)}")
        rows = self.by_cohort(summary.counts)
        if sum(rows[:, 0].tolist()) != summary.n or (rows[:, 1:] > rows[:, :1]).any():
            raise MalformedSummary(
                f"cohorts must have {summary.n} reports in all, and no count of bits above that of their reports"
            )
