"""Channels of local hashing. Over the integers modulo a prime g, everything linear is one Fourier transform.

Values and seeds are vectors of d digits modulo g. A report (a, y) supports the value x when <a, x> = y. With w a
primitive g-th root of unity and the counts N[a, y],

    sum_a N[a, <a, x>] = (1/g) sum_t sum_(a, y) N[a, y] w^(t(<a, x> - y)).

The term of t = 0 is n/g. For t > 0 put a' = t a: the rest is one d-dimensional transform of F[t a] = sum_y N[a, y]
w^(-t y). Seeds t a of one line are equivalent, since <t a, x> = t y where <a, x> = y; so their cells are added first,
and then every a' but 0 occurs exactly once. For g = 2 it is a Walsh-Hadamard transform of whole numbers.

The classes of cyclotomic local hashing are a shift family (designs.py), with a third level where x = y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deniable.core.arrays import Codes, Counts, Floats, Indices, Mask, Numbers
from deniable.core.extras import needed
from deniable.estimation.operators.designs import ShiftFamily
from deniable.estimation.operators.two_level import SparingTwoLevelOperator

_EXACT = 2**26  # counts are transformed in pieces of this size, so that rounding gives the exact integer
_TOTAL = 2**50  # pieces are smaller where their sum would be too large for floats
_TABLE = 2**12  # inner products of a value that are tabulated at once; they stay in the processor's cache
_CLEAR = 0.1  # pieces are smaller if sums are further from integers than this


@dataclass(frozen=True, eq=False)
class LinearHashes:
    """The prime g, the number d of digits, the number of values, and the kind of seeds.

    Seeds are all g^d - 1 vectors but 0 in the order of their numbers in base g, or with `lines` one vector of each line
    through 0, the one with leading digit 1, in the same order.
    """

    base: int
    digits: int
    values: int
    lines: bool

    @property
    def quick(self) -> bool:
        return self.base == 2

    @property
    def seeds(self) -> int:
        """The number of hash functions."""
        return self._line_count if self.lines else self._vectors - 1

    @property
    def _vectors(self) -> int:
        return int(self.base**self.digits)

    @property
    def _line_count(self) -> int:
        return (self._vectors - 1) // (self.base - 1)

    def support(self, counts: Counts, piece: int = _EXACT) -> Counts:
        """For each value x, the exact number of reports (a, y) with <a, x> = y."""
        rows = counts.reshape(self.seeds, self.base)
        if self.base == 2:
            return self._parities(rows)
        piece = min(piece, _TOTAL // len(counts))
        if counts.max(initial=0) >= piece:
            return self.support(counts % piece, piece) + piece * self.support(counts // piece, piece)
        # the error of a sum is about 1e-16 log2(g^d) sqrt(cells) piece: below 0.001 for all sizes allowed
        sums = self.gather(rows)
        total = np.rint(sums)
        if piece > 2 and np.abs(sums - total).max() > _CLEAR:
            return self.support(counts, piece // 2)
        return total.astype(np.int64)

    def _parities(self, rows: Counts) -> Counts:
        difference = self._transformed_parities(rows)
        total = int(rows.sum())
        # (n + difference)/2 without their sum, which may not fit: both are even or both odd
        return (total >> 1) + (difference >> 1) + (total & 1)

    def _transformed_parities(self, rows: Numbers) -> Numbers:
        """sum_a (N[a, 0] - N[a, 1]) (-1)^<a, x>."""
        from deniable.kernels.hadamard import transform

        table = np.zeros((1, self._vectors), rows.dtype)
        table[0, 1:] = rows[:, 0] - rows[:, 1]
        transform(table)
        return table[0, : self.values]

    def gather(self, scores: Numbers) -> Floats:
        """sum_a scores[a, <a, x>], for every value x."""
        with needed():
            from scipy.fft import fft, irfftn

        rows = scores.reshape(self.seeds, self.base)
        if self.base == 2:
            return np.asarray((rows.sum() + self._transformed_parities(rows.astype(np.float64))) / 2)
        if not self.lines:
            return self.by_lines.gather(self.fold(rows))
        spectra = fft(rows, axis=1)
        accumulated = spectra.reshape(-1)[self._half]
        accumulated[0] = 0  # a' = 0 is on no line
        shape = (self.base,) * self.digits
        sums = irfftn(accumulated.reshape(*shape[:-1], -1), shape, norm="forward", overwrite_x=True)
        return np.asarray((sums.reshape(-1)[: self.values] + rows.sum()) / self.base)

    def scatter(self, weights: Floats) -> Floats:
        """The sum of the weights of the values that (a, y) supports, for every (a, y): the transpose of `gather`."""
        with needed():
            from scipy.fft import irfft, rfftn

        if self.base == 2:
            return self._scattered_parities(weights)
        if not self.lines:
            return self._unfold(self.by_lines.scatter(weights))
        padded = np.zeros(self._vectors)
        padded[: self.values] = weights
        transformed = rfftn(padded.reshape((self.base,) * self.digits)).reshape(-1)
        origins, sign = self._origins
        spectra = transformed[origins]
        spectra.imag *= sign
        return np.asarray(irfft(spectra, self.base, axis=1, overwrite_x=True))

    def _scattered_parities(self, weights: Floats) -> Floats:
        from deniable.kernels.hadamard import transform

        table = np.zeros((1, self._vectors))
        table[0, : self.values] = weights
        transform(table)
        difference = table[0, 1:]
        return np.stack([(table[0, 0] + difference) / 2, (table[0, 0] - difference) / 2], axis=1)

    @cached_property
    def line_cells(self) -> Indices:
        """For every vector t a, a with leading digit 1: the place of a among the lines, times g, plus t; 0 for 0."""
        table = np.zeros(self._vectors, np.int64)
        for factor in range(1, self.base):
            divided = np.arange(self.base) * pow(factor, -1, self.base) % self.base  # digit by digit
            below, power, first = np.zeros(1, np.int64), 1, 0
            for digit in range(self.digits):
                # the lines whose leading digit is this one come after all with a lower one
                table[factor * power : (factor + 1) * power] = (first + below) * self.base + factor
                if digit + 1 < self.digits:
                    below = (divided[:, np.newaxis] * power + below).reshape(-1)
                    first, power = first + power, power * self.base
        return table

    @property
    def _columns(self) -> int:
        """The number of last digits that a transform of real numbers keeps: the others are their conjugates."""
        return self.base // 2 + 1

    @cached_property
    def _half(self) -> Indices:
        return np.ascontiguousarray(self.line_cells.reshape(-1, self.base)[:, : self._columns]).reshape(-1)

    @cached_property
    def _origins(self) -> tuple[Indices, Floats]:
        """For every line a and t up to g/2, where the transform of real numbers keeps t a, or -t a with sign -1."""
        origin = np.zeros((self._line_count, self.base), np.int64)
        sign = np.ones((self._line_count, self.base))
        line, factor = np.divmod(self._half[1:], self.base)
        places = np.arange(1, len(self._half))
        origin[line, -factor], sign[line, -factor] = places, -1.0
        origin[line, factor], sign[line, factor] = places, 1.0
        return np.ascontiguousarray(origin[:, : self._columns]), np.ascontiguousarray(sign[:, : self._columns])

    @cached_property
    def inverses(self) -> Indices:
        """1/t modulo g for every t, and 0 for 0."""
        return np.array([0, *(pow(factor, -1, self.base) for factor in range(1, self.base))])

    def supported(self, values: Indices, reports: Indices) -> Mask:
        """Whether <a, x> = y for reports (a, y), one row per value x."""
        from deniable.kernels.incidence import hashed_equal

        seeds, hashed = np.divmod(reports, self.base)
        vectors = self._leading[seeds] if self.lines else seeds + 1
        at_once = max(1, int(math.log(_TABLE, self.base)))  # digits of a seed that one table covers
        count, whole = -(-self.digits // at_once), self.base**at_once
        parts = np.stack([vectors // whole**place % whole for place in range(count)])
        out = np.empty((len(values), len(reports)), np.uint8)
        hashed_equal(values, parts, hashed, self.base, at_once, np.empty((count, whole), np.int64), out)
        return out.view(np.bool_)

    @cached_property
    def _leading(self) -> Indices:
        """The vector with leading digit 1 of each line."""
        first = [np.arange(self.base**digit, 2 * self.base**digit) for digit in range(self.digits)]
        return np.concatenate(first)

    @cached_property
    def by_lines(self) -> LinearHashes:
        """These hashes with one seed per line."""
        return LinearHashes(self.base, self.digits, self.values, lines=True)

    def fold(self, rows: Numbers) -> Numbers:
        """Add the cells of all seeds by lines."""
        from deniable.kernels.hashing import fold

        out = np.zeros((self._line_count, self.base), rows.dtype)
        fold(rows, self.by_lines.line_cells, self.by_lines.inverses, out)
        return out

    def _unfold(self, sums: Floats) -> Floats:
        from deniable.kernels.hashing import unfold

        out = np.empty((self.seeds, self.base))
        unfold(sums, self.by_lines.line_cells, self.by_lines.inverses, out)
        return out


@dataclass(frozen=True, eq=False)
class ClassOperator:
    """Reports (y, a) in the order y N + a: `high` or `low` of the shifts, but `middle` where the value is y."""

    shifts: SparingTwoLevelOperator
    middle: float

    @property
    def family(self) -> ShiftFamily:
        """The classes as sets in the integers modulo K."""
        assert isinstance(self.shifts.incidence, ShiftFamily)
        return self.shifts.incidence

    def forward(self, weights: Floats) -> Floats:
        rows = self.shifts.forward(weights).reshape(self.family.cohorts, -1)
        rows[:, : self.family.values] += (self.middle - self.shifts.low) * weights
        return np.ascontiguousarray(rows.T).reshape(-1)

    def adjoint(self, scores: Floats) -> Floats:
        rows = self._by_class(scores)
        return self.shifts.adjoint(rows.reshape(-1)) + (self.middle - self.shifts.low) * self._own(rows)

    def adjoint_of(self, reports: Indices, scores: Floats) -> Floats:
        """`adjoint` of scores that are zero except for these reports: nothing is brought into another order."""
        own, classes = np.divmod(reports, self.family.cohorts)
        sums = self.shifts.adjoint_of(classes * self.family.modulus + own, scores)
        listed = own < self.family.values
        np.add.at(sums, own[listed], (self.middle - self.shifts.low) * scores[listed])
        return sums

    def adjoint_squared(self, scores: Floats) -> Floats:
        rows = self._by_class(scores)
        extra = self.middle**2 - self.shifts.low**2
        return self.shifts.adjoint_squared(rows.reshape(-1)) + extra * self._own(rows)

    @property
    def quick(self) -> bool:
        return self.shifts.quick

    @property
    def levels(self) -> tuple[float, ...]:
        return *self.shifts.levels, self.middle

    def codes(self, values: Indices, reports: Indices) -> Codes:
        own, classes = np.divmod(reports, self.family.cohorts)
        found = self.shifts.codes(values, classes * self.family.modulus + own)
        order = np.argsort(own, kind="stable")  # so that the reports with y = x are neighbours
        first, last = (np.searchsorted(own, values, side=side, sorter=order) for side in ("left", "right"))
        for row, start, stop in zip(found, first.tolist(), last.tolist(), strict=True):
            row[order[start:stop]] = 2
        return found

    def above(self, values: Indices, reports: Indices) -> tuple[Indices, Indices, Codes] | None:
        own, classes = np.divmod(reports, self.family.cohorts)
        found = self.family.pairs(values, classes * self.family.modulus + own)
        if found is None:
            return None
        # no set holds 0, so that a report with y = x supports other values only
        places = np.full(self.family.modulus, -1)
        places[values] = np.arange(len(values))
        listed = np.flatnonzero(places[own] >= 0)
        rows, columns = np.append(found[0], places[own[listed]]), np.append(found[1], listed)
        codes = np.repeat(np.array([1, 2], np.uint8), [len(found[0]), len(listed)])
        return rows, columns, codes

    def _by_class(self, scores: Floats) -> Floats:
        return np.ascontiguousarray(scores.reshape(-1, self.family.cohorts).T)

    def _own(self, rows: Floats) -> Floats:
        """The scores of all reports whose y is the value itself."""
        total: Floats = rows[:, : self.family.values].sum(axis=0)
        return total
