"""Reports that mark a set of w of the values, encoded near the information bound log2 C(k, w)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from deniable.core.arrays import Bytes, Payloads
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.mechanisms.layouts.bitmaps import BitmapLayout
from deniable.mechanisms.layouts.subset_code import code_bits_of, decode_rows, encode_rows
from deniable.mechanisms.numbers import binomial, binomial_bits


@dataclass(frozen=True)
class SubsetLayout(BitmapLayout):
    """A report is a bitmap with `size` bits set; as bytes, the code of subset_code.py."""

    size: int

    @cached_property
    def reports(self) -> int:
        """C(k, w): the number of different reports."""
        return binomial(self.values, self.size)

    @cached_property
    def bits(self) -> int:
        return binomial_bits(self.values, self.size, lambda number: number - 1)

    @cached_property
    def code_size(self) -> int:
        """Bytes per encoded report."""
        return (code_bits_of(self.values, self.size) + 7) // 8

    def check(self, data: Payloads) -> Payloads:
        rows = super().check(data)
        sizes = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
        if (sizes != self.size).any():
            at = int(np.flatnonzero(sizes != self.size)[0])
            rule = f"must mark {self.size} of {self.values} values, got {sizes[at]}"
            raise MalformedReport(f"report at position {at} {rule}")
        return rows

    def all(self) -> Iterable[tuple[int, ...]]:
        chosen = combinations(range(self.values), self.size)
        return (self.words(sum(1 << value for value in each)) for each in chosen)

    def pack_many(self, rows: Payloads) -> Bytes:
        return encode_rows(rows, self.values, self.size, self.code_size)

    def unpack_many(self, codes: Bytes) -> Payloads:
        out = self.empty(len(codes))
        wrong = decode_rows(codes, self.values, self.size, out)
        if wrong >= 0:
            what = f"a set of {self.size} of {self.values} values"
            raise MalformedReport(f"report at position {wrong} is not the code of {what}")
        return out

    def check_counts(self, summary: Summary) -> None:
        counts, n = summary.counts, summary.n
        if len(counts) != self.values or int(counts.max()) > n or summary.total() != n * self.size:
            rule = f"{self.values} counts of at most n = {n} that add up to {self.size} n"
            raise MalformedSummary(f"summary must have {rule}")
