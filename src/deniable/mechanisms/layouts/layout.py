"""Layouts: the shape of a mechanism's reports in memory, in a summary, and as bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from deniable.core.arrays import Bytes, Counts, Payloads
from deniable.core.batches import row_bytes
from deniable.core.caches import FieldsOnly
from deniable.core.errors import MalformedReport, kind_of
from deniable.core.reports import refuse_masked
from deniable.core.summary import Summary
from deniable.mechanisms.layouts.codes import stacked

Payload = int | tuple[int, ...]


class Layout(FieldsOnly, ABC):
    """A frozen description of reports. It knows nothing of probabilities."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """Number of counts in a summary."""

    @property
    @abstractmethod
    def bits(self) -> int:
        """Bits per report, before rounding up to bytes."""

    @abstractmethod
    def empty(self, n: int) -> Payloads:
        """Room for n reports."""

    @property
    def row_bytes(self) -> int:
        """Bytes per report in memory."""
        return row_bytes(self.empty(0))

    @abstractmethod
    def check(self, data: Payloads) -> Payloads:
        """Return the reports as the kernels read them, or raise MalformedReport if no client could send them."""

    @abstractmethod
    def count(self, data: Payloads, counts: Counts) -> None:
        """Add checked reports to the counts of a summary."""

    @abstractmethod
    def all(self) -> Iterable[Payload]:
        """Every possible report, for exact enumeration on small domains."""

    def pack(self, payload: Payload) -> bytes:
        """Encode one report."""
        return self.pack_many(self.check(one_row(payload))).tobytes()

    def unpack(self, data: bytes) -> Payload:
        """Decode one report, or raise MalformedReport."""
        (row,) = self.unpack_many(stacked([data], self.code_size)).tolist()
        return tuple(row) if isinstance(row, list) else row

    @abstractmethod
    def check_counts(self, summary: Summary) -> None:
        """Raise MalformedSummary if no reports could have these counts."""

    @property
    @abstractmethod
    def code_size(self) -> int:
        """Bytes per encoded report."""

    @abstractmethod
    def pack_many(self, rows: Payloads) -> Bytes:
        """Encode checked reports, each to a row of `code_size` bytes."""

    @abstractmethod
    def unpack_many(self, codes: Bytes) -> Payloads:
        """Decode and check rows of `code_size` bytes, or raise MalformedReport with the position."""


def one_row(payload: Payload) -> Payloads:
    """Make an unchecked batch of one payload. NumPy alone would turn words on both sides of 2^63 into floats."""
    if not (type(payload) is tuple and payload) and not isinstance(payload, (int, np.integer)):
        raise MalformedReport(f"the payload of a report must be a number or a tuple of numbers, got {kind_of(payload)}")
    try:
        row = np.array([payload])
    except ValueError:  # a tuple of tuples
        raise MalformedReport("the payload of a report must be numbers, got tuples of several lengths") from None
    if row.dtype.kind == "f" and isinstance(payload, tuple) and all(isinstance(word, int) for word in payload):
        with suppress(OverflowError):  # then they stay floats, and are refused
            row = np.array([payload], np.uint64)
    return row


def raw(reports: object) -> Payloads:
    """Return reports without a fingerprint as an array; refuse rows of unequal length and masked entries."""
    refuse_masked(reports)
    try:
        return np.asarray(reports)
    except ValueError:
        raise MalformedReport("reports must be rows of the same length, got rows of several") from None


def words_of(data: Payloads, width: int, what: str) -> Payloads:
    """Return contiguous rows of `width` 64-bit words, or raise MalformedReport naming `what` they must be."""
    if data.ndim != 2 or data.shape[1] != width or data.dtype.kind not in "iu":
        raise MalformedReport(f"reports must be {what} of 64 bits each, got shape {data.shape}, {data.dtype}")
    if data.dtype.kind == "i" and data.min() < 0:
        raise MalformedReport(f"words of a report must not be negative, got {data.min()}")
    return np.ascontiguousarray(data, np.uint64)
