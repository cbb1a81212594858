"""Layouts: the shape of a mechanism's reports in memory, in a summary, and as bytes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import suppress

import numpy as np

from deniable.core.arrays import Counts, Payloads
from deniable.core.errors import MalformedReport
from deniable.core.summary import Summary

Payload = int | tuple[int, ...]


class Layout(ABC):
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

    @abstractmethod
    def check(self, data: Payloads) -> Payloads:
        """Return the reports as the kernels read them, or raise MalformedReport if no client could send them."""

    @abstractmethod
    def count(self, data: Payloads, counts: Counts) -> None:
        """Add checked reports to the counts of a summary."""

    @abstractmethod
    def all(self) -> Iterable[Payload]:
        """Every possible report, for exact enumeration on small domains."""

    @abstractmethod
    def pack(self, payload: Payload) -> bytes:
        """Encode one report."""

    @abstractmethod
    def unpack(self, data: bytes) -> Payload:
        """Decode one report, or raise MalformedReport."""

    @abstractmethod
    def check_counts(self, summary: Summary) -> None:
        """Raise MalformedSummary if no reports could have these counts."""

    def pack_many(self, rows: Payloads) -> list[bytes]:
        """Encode checked reports."""
        return [self.pack(tuple(row) if isinstance(row, list) else row) for row in rows.tolist()]

    def unpack_many(self, data: list[bytes]) -> Payloads:
        """Decode reports, or raise MalformedReport."""
        out = self.empty(len(data))
        for place, one in enumerate(data):
            out[place] = self.unpack(one)
        return out


class RowLayout(Layout):
    """A layout whose reports are rows of numbers, encoded and decoded many at a time."""

    def pack(self, payload: Payload) -> bytes:
        (data,) = self.pack_many(self.check(one_row(payload)))
        return data

    def unpack(self, data: bytes) -> tuple[int, ...]:
        (row,) = self.unpack_many([data]).tolist()
        return tuple(row)

    @abstractmethod
    def pack_many(self, rows: Payloads) -> list[bytes]: ...

    @abstractmethod
    def unpack_many(self, data: list[bytes]) -> Payloads: ...


def one_row(payload: Payload) -> Payloads:
    """Make an unchecked batch of one payload. NumPy alone would turn words on both sides of 2^63 into floats."""
    row = np.array([payload])
    if row.dtype.kind == "f" and isinstance(payload, tuple) and all(isinstance(word, int) for word in payload):
        with suppress(OverflowError):  # then they stay floats, and are refused
            row = np.array([payload], np.uint64)
    return row


def check_sizes(data: list[bytes], size: int) -> None:
    """Refuse encoded reports of another length."""
    for place, one in enumerate(data):
        if len(one) != size:
            raise MalformedReport(f"report at position {place} must have {size} bytes, got {len(one)}")


def words_of(data: Payloads, width: int, what: str) -> Payloads:
    """Return contiguous rows of `width` 64-bit words, or raise MalformedReport naming `what` they must be."""
    if data.ndim != 2 or data.shape[1] != width or data.dtype.kind not in "iu":
        raise MalformedReport(f"reports must be {what} of 64 bits each, got shape {data.shape}, {data.dtype}")
    if data.dtype.kind == "i" and data.min() < 0:
        raise MalformedReport(f"words of a report must not be negative, got {data.min()}")
    return np.ascontiguousarray(data, np.uint64)
