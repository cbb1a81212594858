"""Reports that are a cohort and a set of residues modulo its modulus; a summary counts both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations

import numpy as np

from deniable.core.arrays import Bytes, Counts, Payloads
from deniable.core.errors import MalformedReport, MalformedSummary
from deniable.core.summary import Summary, exact_total
from deniable.mechanisms.layouts.bitmaps import bitmap, words_of_bits
from deniable.mechanisms.layouts.filters import cohort_rows
from deniable.mechanisms.layouts.layout import Layout
from deniable.mechanisms.layouts.subset_code import code_bits_of, decode_rows, encode_rows
from deniable.mechanisms.numbers import binomial_bits


def report_bits(moduli: tuple[int, ...], sizes: tuple[int, ...]) -> int:
    """Bits per report: ceil(log2 l) + the largest ceil(log2 C(m_j, w_j))."""
    largest = max(binomial_bits(m, w, lambda number: number - 1) for m, w in zip(moduli, sizes, strict=True))
    return (len(moduli) - 1).bit_length() + largest


def _digits(numbers: Counts, bits: int) -> Bytes:
    """The binary digits of numbers, the most significant first."""
    return (numbers[:, np.newaxis] >> np.arange(bits)[::-1] & 1).astype(np.uint8)


@dataclass(frozen=True)
class ResidueLayout(Layout):
    """A report is a row of 64-bit words: its cohort j, then a bitmap of w_j of the residues below m_j.

    The bitmap has room for the largest modulus; bits beyond the cohort's own are zero. A summary counts the
    residues of each modulus in turn, then the reports of each cohort.
    """

    moduli: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def cohorts(self) -> int:
        """l: the number of moduli."""
        return len(self.moduli)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(zip(self.moduli, self.sizes, strict=True))

    @cached_property
    def offsets(self) -> list[int]:
        """Where the counts of each modulus begin, and last where the counts of cohorts begin."""
        return [0, *accumulate(self.moduli)]

    @property
    def slices(self) -> int:
        """Words of a report's bitmap, after the cohort."""
        return -(-max(self.moduli) // 64)

    @property
    def cells(self) -> int:
        return sum(self.moduli) + self.cohorts  # residues by modulus, then reports by cohort

    def empty(self, n: int) -> Payloads:
        return np.empty((n, 1 + self.slices), np.uint64)

    def check(self, data: Payloads) -> Payloads:
        if data.size == 0 and len(data) == 0:
            return self.empty(0)
        rows = cohort_rows(data, self.cohorts, self.slices)
        sent, marked = self._marks[rows[:, 0].astype(np.int64)], rows[:, 1:]
        wrong = (marked & ~sent).any(axis=1)
        wrong |= (
            np.bitwise_count(marked).sum(axis=1, dtype=np.int64) != np.array(self.sizes)[rows[:, 0].astype(np.int64)]
        )
        if wrong.any():
            at = int(np.flatnonzero(wrong)[0])
            m, w = self.pairs[int(rows[at, 0])]
            raise MalformedReport(f"report at position {at} must mark {w} of {m} residues")
        return rows

    @cached_property
    def _marks(self) -> Payloads:
        """For each cohort, the words with all its residues marked."""
        return np.array([words_of_bits((1 << m) - 1, self.slices) for m in self.moduli], np.uint64)

    def count(self, data: Payloads, counts: Counts) -> None:
        from deniable.kernels.unary import count_bits

        residues = sum(self.moduli)
        cohorts = data[:, 0].astype(np.int64)
        counts[residues:] += np.bincount(cohorts, minlength=self.cohorts)
        for j, (first, m) in enumerate(zip(self.offsets, self.moduli, strict=False)):
            rows = np.ascontiguousarray(data[cohorts == j, 1 : 1 - (-m // 64)])
            if len(rows):
                count_bits(rows, counts[first : first + m])

    def all(self) -> Iterable[tuple[int, ...]]:
        for j, (m, w) in enumerate(self.pairs):
            for chosen in combinations(range(m), w):
                yield (j, *bitmap(chosen, self.slices))

    @cached_property
    def bits(self) -> int:
        return report_bits(self.moduli, self.sizes)

    @cached_property
    def _code_bits(self) -> tuple[int, ...]:
        return tuple(code_bits_of(m, w) for m, w in self.pairs)

    @property
    def code_size(self) -> int:
        return ((self.cohorts - 1).bit_length() + max(self._code_bits) + 7) // 8

    def pack_many(self, rows: Payloads) -> Bytes:
        # a big-endian number: the cohort, then the code of its set, right-aligned in the bits of the longest code
        cohorts = rows[:, 0].astype(np.int64)
        bits = np.zeros((len(rows), 8 * self.code_size), np.uint8)
        bits[:, : self._cohort_end] = _digits(cohorts, self._cohort_end)
        for j in np.unique(cohorts).tolist():
            own = np.flatnonzero(cohorts == j)
            (m, w), (size, unused) = self.pairs[j], self._code(j)
            codes = encode_rows(rows[own, 1 : 1 - (-m // 64)], m, w, size, unused)
            bits[own, bits.shape[1] - self._code_bits[j] :] = np.unpackbits(codes, axis=1, count=self._code_bits[j])
        return np.packbits(bits, axis=1)

    def unpack_many(self, codes: Bytes) -> Payloads:
        bits = np.unpackbits(codes, axis=1)
        out = np.zeros((len(codes), 1 + self.slices), np.uint64)
        cohorts = bits[:, : self._cohort_end].astype(np.int64) @ (1 << np.arange(self._cohort_end)[::-1])
        if cohorts.size and cohorts.max() >= self.cohorts:
            at = int(np.argmax(cohorts >= self.cohorts))
            raise MalformedReport(f"report at position {at} must name a cohort below {self.cohorts}, got {cohorts[at]}")
        out[:, 0] = cohorts
        present = np.unique(cohorts).tolist()
        wrong = [at for j in present for at in self._decode_cohort(j, bits, cohorts, out)]
        if wrong:
            m, w = self.pairs[int(cohorts[min(wrong)])]
            raise MalformedReport(f"report at position {min(wrong)} is not the code of a set of {w} of {m} residues")
        return out

    def _decode_cohort(self, j: int, bits: Bytes, cohorts: Counts, out: Payloads) -> list[int]:
        """Write the sets of the reports of one cohort; return positions of wrong reports, the first among them."""
        own = np.flatnonzero(cohorts == j)
        (m, w), (_, unused), start = self.pairs[j], self._code(j), bits.shape[1] - self._code_bits[j]
        sets = np.zeros((len(own), -(-m // 64)), np.uint64)
        first = decode_rows(np.packbits(bits[own, start:], axis=1), m, w, sets, unused)
        out[own, 1 : 1 + sets.shape[1]] = sets
        long = np.flatnonzero(bits[own, self._cohort_end : start].any(axis=1))  # numbers beyond the cohort's codes
        return [int(own[place]) for place in (first, *long[:1]) if place >= 0]

    def _code(self, j: int) -> tuple[int, int]:
        """The bytes of a cohort's codes when they are left-aligned, and the bits left unused at the end."""
        size = (self._code_bits[j] + 7) // 8
        return size, 8 * size - self._code_bits[j]

    @property
    def _cohort_end(self) -> int:
        """The bits before the code, which hold the cohort."""
        return 8 * self.code_size - max(self._code_bits)

    def check_counts(self, summary: Summary) -> None:
        ends = self.offsets[1:]
        if len(summary.counts) != self.cells or int(summary.counts[ends[-1] :].sum()) != summary.n:
            raise MalformedSummary(
                f"summary must have {self.cells} counts, the last {self.cohorts} adding up to n = {summary.n}"
            )
        *parts, reports = np.split(summary.counts, ends)
        for counts, n, w in zip(parts, reports.tolist(), self.sizes, strict=True):
            if exact_total(counts) != n * w or int(counts.max()) > n:
                raise MalformedSummary(
                    f"a cohort of {n} reports must have counts of at most {n} that add up to {n * w}"
                )
