"""Mechanisms whose report is one symbol of a finite alphabet, and whose summary counts the symbols."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable

import numpy as np

from deniable.core.arrays import Counts, Payloads
from deniable.core.domain import MAX_SIZE
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.server import Server

MAX_SYMBOLS = MAX_SIZE  # a report fits the 32 bits that an index does


class SymbolReports(Server):
    """A report is a whole number below `symbols`: ceil(log2 symbols) bits, one count a report."""

    @property
    @abstractmethod
    def symbols(self) -> int:
        """How many different reports there are."""

    @property
    def cells(self) -> int:
        return self.symbols

    def empty_payloads(self, n: int) -> Payloads:
        return np.empty(n, np.uint32)

    def check_payloads(self, data: Payloads) -> Payloads:
        if data.ndim != 1 or data.dtype.kind not in "iu":
            if data.size:
                raise MalformedReport(f"reports must be one whole number each, got {data.ndim}-d {data.dtype}")
            data = data.reshape(-1).astype(np.uint32)
        if data.size and (data.max() >= self.symbols or data.min() < 0):
            at = int(np.flatnonzero((data >= self.symbols) | (data < 0))[0])
            raise MalformedReport(f"report at position {at} must {self._rule(int(data[at]))}")
        return data.astype(np.uint32, copy=False)

    def accumulate(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.response import count_into

        count_into(data, counts)

    def all_payloads(self) -> Iterable[Payload]:
        return range(self.symbols)

    @property
    def report_bits(self) -> int:
        return (self.symbols - 1).bit_length()

    def _pack(self, payload: Payload) -> bytes:
        (checked,) = self.check_payloads(np.array([payload])).tolist()
        return int(checked).to_bytes(self._payload_bytes, "big")

    def _unpack(self, data: bytes) -> Payload:
        if len(data) != self._payload_bytes:
            raise MalformedReport(f"report must have {self._payload_bytes} bytes, got {len(data)}")
        payload = int.from_bytes(data, "big")
        if payload >= self.symbols:
            raise MalformedReport(f"report must {self._rule(payload)}")
        return payload

    def _rule(self, number: int) -> str:
        """What a number that is no report should have been."""
        return f"lie from 0 to {self.symbols - 1}, got {number}"

    @property
    def _payload_bytes(self) -> int:
        return (self.report_bits + 7) // 8

    def check_summary(self, summary: Summary) -> None:
        super().check_summary(summary)
        if len(summary.counts) != self.symbols or summary.total() != summary.n:
            raise MalformedSummary(f"summary must have {self.symbols} counts that add up to n = {summary.n}")
