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
from deniable.mechanisms.layouts.layout import check_sizes
from deniable.mechanisms.layouts.subset_code import code_bytes, decode_subset, encode_subset, subsets

_FEW = 64  # batches up to this size are encoded without the compiler
_PLAIN_VALUES = 256  # codes of domains up to this size are decoded without the compiler


@dataclass(frozen=True)
class SubsetLayout(BitmapLayout):
    """A report is a bitmap with `size` bits set; as bytes, the code of subset_code.py."""

    size: int

    @cached_property
    def reports(self) -> int:
        """C(k, w): the number of different reports."""
        return subsets(self.values, self.size)

    @cached_property
    def bits(self) -> int:
        return (self.reports - 1).bit_length()

    @cached_property
    def code_size(self) -> int:
        """Bytes per encoded report."""
        return code_bytes(self.reports)

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

    def pack_many(self, rows: Payloads) -> list[bytes]:
        if len(rows) <= _FEW:
            return [encode_subset(row, self.values, self.size, self.code_size) for row in rows.tolist()]
        from deniable.kernels.subsets import encode_subsets

        out = np.empty((len(rows), self.code_size), np.uint8)
        encode_subsets(rows, self.values, self.size, out)
        return [row.tobytes() for row in out]

    def unpack_many(self, data: list[bytes]) -> Payloads:
        check_sizes(data, self.code_size)
        out = self.empty(len(data))
        wrong = self._decode_small(data, out) if self.values <= _PLAIN_VALUES else self._decode_large(data, out)
        if wrong >= 0:
            what = f"a set of {self.size} of {self.values} values"
            raise MalformedReport(f"report at position {wrong} is not the code of {what}")
        return out

    def _decode_small(self, data: list[bytes], out: Payloads) -> int:
        for place, code in enumerate(data):
            row = decode_subset(code, self.values, self.size)
            if row is None:
                return place
            out[place] = row
        return -1

    def _decode_large(self, data: list[bytes], out: Payloads) -> int:
        from deniable.kernels.subsets import decode_subsets

        codes: Bytes = np.frombuffer(b"".join(data), np.uint8).reshape(-1, self.code_size)
        return decode_subsets(codes, self.values, self.size, out)

    def check_counts(self, summary: Summary) -> None:
        counts, n = summary.counts, summary.n
        if len(counts) != self.values or int(counts.max()) > n or summary.total() != n * self.size:
            rule = f"{self.values} counts of at most n = {n} that add up to {self.size} n"
            raise MalformedSummary(f"summary must have {rule}")
