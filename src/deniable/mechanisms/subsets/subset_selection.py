"""Subset selection: a random set of w values, which holds the sender's value more often than chance would.

With probability T/M a uniform one of the sets of w values that hold the sender's, else a uniform one of those that do
not. With w near k/(e^epsilon + 1) no mechanism has a smaller error, at the price of long reports.

Reference: Ye and Barg 2018; Wang, Huang, Wang, Nie, Xu, Yang, Li, Qiao 2016 (the k-subset mechanism).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from deniable.core.arrays import Bytes, Counts, Indices, Payloads, Words
from deniable.core.errors import InvalidArgument, MalformedReport, MalformedSummary
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.client import FEW, one_row
from deniable.mechanisms.base.definition import Payload
from deniable.mechanisms.base.two_level import TwoLevelMechanism
from deniable.mechanisms.layouts.bitmaps import BitmapReports
from deniable.mechanisms.layouts.subset_code import MAX_VALUES, code_bytes, decode_subset, encode_subset, subsets
from deniable.randomness.choices import Choices, rejection_bound
from deniable.randomness.keystream import MODULUS

_PLAIN_VALUES = 256  # codes of domains up to this size are read without the compiler
_FEW_WORDS = 2**24  # reports of up to this many words in all are simulated one by one


def best_size(k: int, bound: Fraction) -> int:
    """The w with the least error: k/(E + 1), rounded to the better side."""
    below = int(k / (bound + 1))
    # n times the total variance at uniform data, over (k - 1)^2/(k (E - 1)^2): (w E + k - w)^2 / (w (k - w))
    candidates = (max(1, below), min(k - 1, below + 1))
    return min(candidates, key=lambda w: (w * bound + k - w) ** 2 / (w * (k - w)))


def choose_subset(index: int, k: int, w: int, truth: int, rejections: Sequence[int], choices: Choices) -> Iterator[int]:
    """The values of a report, from its w + 1 words; kernels/subsets.py does the same."""
    truthful = choices.coin(truth)
    first, *others = rejections
    last, next_to_last = k - 1, k - 2
    # drawn as if the sender's value were the last one, and the spare one the next to last
    spare = choices.below(last, first)
    drawn = choices.subset(next_to_last, w - 1, others)
    chosen = {next_to_last if value == spare else value for value in drawn} | {(spare, last)[truthful]}
    return (last if value == index else index if value == last else value for value in chosen)


def bitmap(chosen: Iterable[int], slices: int) -> tuple[int, ...]:
    """A set of values as words: value v is bit v mod 64 of word v div 64."""
    bits = bytearray(8 * slices)
    for value in chosen:
        bits[value >> 3] |= 1 << (value & 7)
    return tuple(np.frombuffer(bits, "<u8").tolist())


@dataclass(frozen=True)
class SubsetSelection(BitmapReports, TwoLevelMechanism):
    """Subset selection, "ss".

    Guarantee: largest ratio T (k - w) / ((M - T) w) <= e^epsilon, with M = 2^64 and T the truth threshold.
    Cost: w + 1 random words a report; ceil(log2 C(k, w)) bits, sent in at most a byte more; k bits in memory; k counts.

    >>> m = SubsetSelection(100, epsilon=1.0)
    >>> m.w, m.report_bits
    (27, 81)
    """

    name: ClassVar[str] = "ss"
    version: ClassVar[int] = 1
    default_method: ClassVar[str] = "projected"

    w: int = None  # type: ignore[assignment]  # size of the sets, omega in the papers; None: the best one
    rejections: Words = field(init=False, repr=False, compare=False)

    def _thresholds(self, bound: Fraction, modulus: int) -> dict[str, int]:
        if self.k > MAX_VALUES:
            rule = f"be at most {MAX_VALUES} for ss, whose reports grow with k (those of grr have log2 k bits)"
            raise InvalidArgument("k", rule, self.k)
        if self.w is None:
            object.__setattr__(self, "w", best_size(self.k, bound))
        object.__setattr__(self, "w", whole(1, self.k - 1, w=self.w))
        return {"truth": self._coin(bound, modulus)}

    def _derive(self) -> None:
        super()._derive()
        # bounds of the draws: k - 1 for the spare value, then k - w .. k - 2 for Floyd's method
        bounds = [self.k - 1, *range(self.k - self.w, self.k - 1)]
        unit = 64 - self.word_bits
        rejections = [rejection_bound(bound, 2**self.word_bits) << unit for bound in bounds]
        object.__setattr__(self, "rejections", np.array(rejections, np.uint64))

    def _parameters(self) -> dict[str, int]:
        return {"w": self.w}

    @cached_property
    def reports(self) -> int:
        """b = C(k, w)."""
        return subsets(self.k, self.w)

    @property
    def supporting(self) -> int:
        return self.reports * self.w // self.k  # C(k - 1, w - 1)

    @property
    def overlap(self) -> Fraction:
        return Fraction(self.supporting * (self.w - 1), self.k - 1)  # C(k - 2, w - 2)

    @property
    def share(self) -> Fraction:
        return Fraction(self.w, self.k)

    def _channel(self) -> PureChannel:
        # p = T/M; of the k - 1 other values a set holds w - 1 with the sender's and w without
        p = Fraction(self.thresholds["truth"], MODULUS)
        return PureChannel(p, (p * (self.w - 1) + (1 - p) * self.w) / (self.k - 1))

    @property
    def stride(self) -> int:
        return 1 + self.w  # the coin, the spare value, and w - 1 others

    def randomize_one(self, index: int, choices: Choices) -> tuple[int, ...]:
        chosen = choose_subset(index, self.k, self.w, self.thresholds["truth"], self.rejections.tolist(), choices)
        return bitmap(chosen, self.slices)

    def randomize(self, indices: Indices, words: Words, out: Payloads) -> Indices:
        from deniable.kernels.subsets import select

        truth, k = np.uint64(self.thresholds["truth"]), np.uint64(self.k)
        again = np.empty(len(indices), np.bool_)
        count = select(indices, words, truth, k, self.w, self.rejections, again, out)
        return np.flatnonzero(again) if count else np.empty(0, np.int64)

    def check_payloads(self, data: Payloads) -> Payloads:
        rows = super().check_payloads(data)
        sizes = np.bitwise_count(rows).sum(axis=1, dtype=np.int64)
        if (sizes != self.w).any():
            at = int(np.flatnonzero(sizes != self.w)[0])
            raise MalformedReport(f"report at position {at} must mark {self.w} of {self.k} values, got {sizes[at]}")
        return rows

    def all_payloads(self) -> Iterable[tuple[int, ...]]:
        return (self.words(sum(1 << value for value in chosen)) for chosen in combinations(range(self.k), self.w))

    def _probability(self, payload: Payload, index: int) -> Fraction:
        return self.high if self.marks(payload, index) else self.low

    @cached_property
    def report_bits(self) -> int:
        return (self.reports - 1).bit_length()

    @cached_property
    def code_size(self) -> int:
        """Bytes of an encoded report."""
        return code_bytes(self.reports)

    def _pack(self, payload: Payload) -> bytes:
        (row,) = self.check_payloads(one_row(payload)).tolist()
        return encode_subset(row, self.k, self.w, self.code_size)

    def _pack_many(self, rows: Payloads) -> list[bytes]:
        if len(rows) <= FEW:
            return [encode_subset(row, self.k, self.w, self.code_size) for row in rows.tolist()]
        from deniable.kernels.subsets import encode_subsets

        out = np.empty((len(rows), self.code_size), np.uint8)
        encode_subsets(rows, self.k, self.w, out)
        return [row.tobytes() for row in out]

    def _unpack(self, data: bytes) -> tuple[int, ...]:
        (row,) = self._unpack_many([data]).tolist()
        return tuple(row)

    def _unpack_many(self, data: list[bytes]) -> Payloads:
        for place, code in enumerate(data):
            if len(code) != self.code_size:
                raise MalformedReport(f"report at position {place} must have {self.code_size} bytes, got {len(code)}")
        out = self.empty_payloads(len(data))
        wrong = self._decode_small(data, out) if self.k <= _PLAIN_VALUES else self._decode_large(data, out)
        if wrong >= 0:
            raise MalformedReport(f"report at position {wrong} is not the code of a set of {self.w} of {self.k} values")
        return out

    def _decode_small(self, data: list[bytes], out: Payloads) -> int:
        for place, code in enumerate(data):
            row = decode_subset(code, self.k, self.w)
            if row is None:
                return place
            out[place] = row
        return -1

    def _decode_large(self, data: list[bytes], out: Payloads) -> int:
        from deniable.kernels.subsets import decode_subsets

        codes: Bytes = np.frombuffer(b"".join(data), np.uint8).reshape(-1, self.code_size)
        return decode_subsets(codes, self.k, self.w, out)

    def simulated_counts(self, true_counts: Counts, generator: np.random.Generator) -> Counts:
        from deniable.randomness.simulated_subsets import subset_counts

        n = int(true_counts.sum())
        if n * self.slices <= _FEW_WORDS and n * self.w < 2**13 * self.k:
            return super().simulated_counts(true_counts, generator)
        # a uniform set of any w values holds a given one with probability w/k: with probability a the set holds the
        # sender's value for certain, else it is such a set;  p = a + (1 - a) w/k
        certain = generator.binomial(true_counts, float((self.channel.p - self.share) / (1 - self.share)))
        return subset_counts(certain, n - int(certain.sum()), self.w, generator)

    def check_summary(self, summary: Summary) -> None:
        super().check_summary(summary)
        halves = np.divmod(summary.counts, 2**31)  # summed apart: the whole sum may exceed 64 bits
        total = int(halves[0].sum()) * 2**31 + int(halves[1].sum())
        if len(summary.counts) != self.k or int(summary.counts.max()) > summary.n or total != summary.n * self.w:
            rule = f"have {self.k} counts of at most n = {summary.n} that add up to {self.w} n"
            raise MalformedSummary(f"summary must {rule}")
