"""Mechanisms whose report marks a set of values, one bit for each value, and whose summary counts the marks."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Counts, Payloads
from deniable.core.errors import MalformedReport
from deniable.estimation.operators.marks import MarkOperator
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.server import Server

WORD = 64


def cohort_rows(data: Payloads, cohorts: int, slices: int) -> Payloads:
    """Reports of a cohort and some words of bits each, in the layout the kernels read; their bits are not checked."""
    if data.ndim != 2 or data.shape[1] != 1 + slices or data.dtype.kind not in "iu":
        found = f"shape {data.shape}, {data.dtype}"
        raise MalformedReport(f"reports must be a cohort and {slices} words of 64 bits each, got {found}")
    if data.dtype.kind == "i" and data.min() < 0:
        raise MalformedReport(f"words of a report must not be negative, got {data.min()}")
    rows = np.ascontiguousarray(data, np.uint64)
    if rows[:, 0].max() >= cohorts:
        at = int(np.flatnonzero(rows[:, 0] >= cohorts)[0])
        raise MalformedReport(f"report at position {at} must name a cohort below {cohorts}, got {rows[at, 0]}")
    return rows


class BitmapReports(Server):
    """A report is a row of 64-bit words: value v is bit v mod 64 of word v div 64; bits beyond k are zero."""

    @property
    def slices(self) -> int:
        """Words of a report."""
        return -(-self.k // WORD)

    @property
    def last_word(self) -> np.uint64:
        """The bits there are in the last word of a report."""
        return np.uint64(2 ** (self.k - WORD * (self.slices - 1)) - 1)

    @property
    def cells(self) -> int:
        return self.k

    def empty_payloads(self, n: int) -> Payloads:
        return np.empty((n, self.slices), np.uint64)

    def check_payloads(self, data: Payloads) -> Payloads:
        if data.size == 0 and len(data) == 0:
            return self.empty_payloads(0)
        if data.ndim != 2 or data.shape[1] != self.slices or data.dtype.kind not in "iu":
            found = f"shape {data.shape}, {data.dtype}"
            raise MalformedReport(f"reports must be rows of {self.slices} words of 64 bits each, got {found}")
        if data.dtype.kind == "i" and data.min() < 0:
            raise MalformedReport(f"words of a report must not be negative, got {data.min()}")
        rows = np.ascontiguousarray(data, np.uint64)
        beyond = rows[:, -1] > self.last_word
        if beyond.any():
            at = int(np.flatnonzero(beyond)[0])
            raise MalformedReport(f"report at position {at} must have no bit set beyond bit {self.k - 1}")
        return rows

    def accumulate(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.unary import count_bits

        count_bits(data, counts)

    def reports_operator(self, data: Payloads) -> MarkOperator:
        return MarkOperator(data, self.k, float(self.ratio()))

    def words(self, bits: int) -> tuple[int, ...]:
        """The report whose bits are those of one integer."""
        return tuple(bits >> shift & (2**WORD - 1) for shift in range(0, WORD * self.slices, WORD))

    def marks(self, payload: Payload, index: int) -> int:
        """1 if the report marks the value of this index, else 0."""
        assert isinstance(payload, tuple)
        return int(payload[index // WORD]) >> index % WORD & 1
