"""Reports that are one symbol of a finite alphabet; a summary counts the symbols."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Bytes, Counts, Payloads
from deniable.core.domain import MAX_SIZE
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.extremes import extremes
from deniable.core.summary import Summary
from deniable.mechanisms.layouts.codes import check_size
from deniable.mechanisms.layouts.layout import Layout, Payload, one_row

MAX_SYMBOLS = MAX_SIZE  # a report, like an index, fits 32 bits


@dataclass(frozen=True)
class SymbolLayout(Layout):
    """A report is a whole number below `symbols`: ceil(log2 symbols) bits, one count per symbol.

    With several cohorts, each has the same number of symbols, in order, and errors name the cohort.
    """

    symbols: int
    cohorts: int = 1

    @property
    def cells(self) -> int:
        return self.symbols

    @property
    def bits(self) -> int:
        return (self.symbols - 1).bit_length()

    @property
    def code_size(self) -> int:
        return (self.bits + 7) // 8

    def empty(self, n: int) -> Payloads:
        return np.empty(n, np.uint32)

    def check(self, data: Payloads) -> Payloads:
        if data.ndim != 1 or data.dtype.kind not in "iu":
            if data.size:
                raise MalformedReport(f"reports must be one whole number each, got {data.ndim}-d {data.dtype}")
            data = data.reshape(-1).astype(np.uint32)
        if data.dtype.kind == "u":
            least, most = 0, data.max(initial=0)
        else:
            least, most = extremes(data, threaded=False) if data.size else (0, 0)
        if most >= self.symbols or least < 0:
            at = int(np.flatnonzero((data >= self.symbols) | (data < 0))[0])
            raise MalformedReport(f"report at position {at} must {self._rule}")
        return data.astype(np.uint32, copy=False)

    def count(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.response import count_into

        count_into(data, counts)

    def all(self) -> Iterable[Payload]:
        return range(self.symbols)

    def pack(self, payload: Payload) -> bytes:
        (checked,) = self.check(one_row(payload)).tolist()
        return int(checked).to_bytes(self.code_size, "big")

    def unpack(self, data: bytes) -> Payload:
        check_size(data, self.code_size)
        payload = int.from_bytes(data, "big")
        if payload >= self.symbols:
            raise MalformedReport(f"report must {self._rule}")
        return payload

    def pack_many(self, rows: Payloads) -> Bytes:
        # big-endian, without the leading bytes that are always zero
        return rows.astype(">u4", copy=False).view(np.uint8).reshape(-1, 4)[:, 4 - self.code_size :]

    def unpack_many(self, codes: Bytes) -> Payloads:
        if self.code_size == 3:  # there is no such integer
            codes = np.pad(codes, ((0, 0), (1, 0)))
        return self.check(np.ascontiguousarray(codes).view(f">u{codes.shape[1]}").reshape(-1))

    @property
    def _rule(self) -> str:
        """The rule for a number. No error quotes one that breaks it: it may be somebody's value, given by mistake."""
        rule = f"lie from 0 to {self.symbols - 1}"
        if self.cohorts == 1:
            return rule
        return f"{rule}, in a cohort from 0 to {self.cohorts - 1} of {self.symbols // self.cohorts} buckets each"

    def check_counts(self, summary: Summary) -> None:
        if len(summary.counts) != self.symbols or summary.total() != summary.n:
            raise MalformedSummary(f"summary must have {self.symbols} counts that add up to n = {summary.n}")
