"""Channels made of shifts of sets in the integers modulo K: everything linear is one or two FFTs.

A report (j, y) supports the value x when y - x lies in D_j. The counts H_j[y] of a summary are correlated
with D_j, a convolution over Z_K, so that sums over a set of w elements cost O(K log K).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from deniable.core.arrays import Counts, Floats, Indices, Integers, Mask, Spectrum
from deniable.core.extras import needed
from deniable.estimation.operators.transforms import Transform

_MANY = 2**24  # pairs of values and reports below which all are looked at: no loop need be compiled for fewer
_ROOM = 1.2  # for pairs, as a multiple of the number expected
_EXACT = 2**26  # counts are transformed in pieces of this size, so that rounding gives the exact integer


@dataclass(frozen=True, eq=False)
class ShiftFamily:
    """The sets D_j = m_j D in Z_K: a base set D and one multiplier per cohort.

    Values are the first `values` elements of Z_K, all by default: sums over sets are wanted for these only.
    """

    modulus: int
    base: Integers
    multipliers: tuple[int, ...]
    values: int = 0
    quick: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", self.values or self.modulus)

    @property
    def cohorts(self) -> int:
        return len(self.multipliers)

    @cached_property
    def spectra(self) -> Spectrum:
        """The transforms of the sets' indicators, one row per cohort (half of each: they are real)."""
        rows = [_rfft(self.indicator(j)) for j in range(self.cohorts)]
        return np.array(rows)

    def indicator(self, cohort: int) -> Floats:
        """1 on D_j, 0 elsewhere."""
        row = np.zeros(self.modulus)
        row[self.base * self.multipliers[cohort] % self.modulus] = 1.0
        return row

    @cached_property
    def members(self) -> Mask:
        """Whether y lies in D_j, at j K + y."""
        return np.concatenate([self.indicator(j) > 0 for j in range(self.cohorts)])

    @cached_property
    def power(self) -> Floats:
        """S_m = sum_j |D_j^(m)|^2."""
        total: Floats = (np.abs(self.spectra) ** 2).sum(axis=0)
        return total

    def support(self, counts: Counts) -> Counts:
        """For each value x, the exact number of reports (j, y) with y - x in D_j."""
        low, high = counts, counts[:0]
        if counts.max() >= _EXACT:
            low, high = counts % _EXACT, counts // _EXACT
        sums = self.gather(low)
        total = np.rint(sums, out=sums).astype(np.int64)
        return total + _EXACT * self.support(high) if len(high) else total

    @cached_property
    def _padded(self) -> tuple[Transform, Spectrum]:
        """A transform of a length for which it is fast, and the sets' spectra at that length.

        K often has large prime factors, for which transforms are several times slower. A value moved by an element
        of a set stays below K + values - 1, so that at this length nothing wraps around.
        """
        transform = Transform.of_at_least(self.modulus + self.values - 1)
        sets = np.empty((self.cohorts, *transform.shape), np.complex128)
        for j in range(self.cohorts):
            transform.forward(self.indicator(j), sets[j])
        return transform, sets

    def gather(self, scores: Floats | Counts) -> Floats:
        """sum_j sum_(d in D_j) scores[j, x + d], for every value x."""
        rows = scores.reshape(self.cohorts, self.modulus)

        def put(j: int, around: Floats) -> None:
            around[: self.modulus] = rows[j]
            around[self.modulus : self.modulus + self.values - 1] = rows[j, : self.values - 1]

        return self._gathered(put)

    def gather_of(self, reports: Indices, scores: Floats) -> Floats:
        """`gather` of scores that are zero except for these reports."""
        cohorts, places = np.divmod(reports, self.modulus)
        order = np.argsort(cohorts, kind="stable")
        parts = np.split(order, np.searchsorted(cohorts[order], np.arange(1, self.cohorts)))

        def put(j: int, around: Floats) -> None:
            around[:] = 0.0
            own = places[parts[j]]
            again = own < self.values - 1
            around[own] = scores[parts[j]]
            around[self.modulus + own[again]] = scores[parts[j][again]]

        return self._gathered(put)

    def _gathered(self, put: Callable[[int, Floats], None]) -> Floats:
        """`gather` of a row per cohort, which `put` continues cyclically as far as x + d may reach."""
        transform, sets = self._padded
        around, total = np.zeros(transform.length), None
        spectrum = np.empty(transform.shape, np.complex128)
        for j in range(self.cohorts):
            put(j, around)
            transform.forward(around, spectrum)
            np.conj(spectrum, out=spectrum)  # in place: large arrays cost more to allocate than to fill
            spectrum *= sets[j]
            if total is not None:
                total += spectrum
            elif self.cohorts > 1:
                total, spectrum = spectrum, np.empty_like(spectrum)
        product = spectrum if total is None else total
        return transform.backward(np.conj(product, out=product), around)[: self.values]

    def scatter(self, weights: Floats) -> Floats:
        """sum_(d in D_j) weights[y - d], for every (j, y): the transpose of `gather`. Weights left out are 0."""
        transform, sets = self._padded
        spectrum = transform.forward(weights)
        product, row = np.empty_like(spectrum), np.empty(transform.length)
        out = np.empty((self.cohorts, self.modulus))
        for j in range(self.cohorts):
            transform.backward(np.multiply(spectrum, sets[j], out=product), row)
            out[j] = row[: self.modulus]
            beyond = self.values - 1  # a sum y = x + d >= K wraps around to y - K
            out[j, :beyond] += row[self.modulus : self.modulus + beyond]
        return out

    def supported(self, values: Indices, reports: Indices) -> Mask:
        """Whether y - x lies in D_j, for reports (j, y) and one row per value x."""
        from deniable.kernels.incidence import shifted_members

        cohorts, shifted = np.divmod(reports, self.modulus)
        out = np.empty((len(values), len(reports)), np.uint8)
        shifted_members(values, cohorts * self.modulus, shifted, self.members, self.modulus, out)
        return out.view(np.bool_)

    @cached_property
    def _elements(self) -> Integers:
        """The elements of D_j, for one cohort after the other."""
        return np.concatenate([self.base * multiplier % self.modulus for multiplier in self.multipliers])

    def pairs(self, values: Indices, reports: Indices) -> tuple[Indices, Indices] | None:
        """The pairs that `supported` has, as places of values, which all differ, and of reports.

        By the elements of the sets; None where these are more than the values, or the pairs few, so that `supported`
        is quicker.
        """
        from deniable.kernels.incidence import shifted_pairs

        size = len(self.base)
        if size >= len(values) or len(values) * len(reports) < _MANY:
            return None
        cohorts, shifted = np.divmod(reports, self.modulus)
        places = np.full(self.modulus, -1)
        places[values] = np.arange(len(values))
        expected = len(reports) * size * len(values) / self.modulus
        room, found = int(_ROOM * expected) + len(reports), -1
        while found < 0 or found > room:
            room = max(room, found)
            out = np.empty((2, room), np.int64)
            found = shifted_pairs(cohorts * size, shifted, self._elements, size, places, self.modulus, out)
        return out[0, :found], out[1, :found]

    def invert(self, rows: Floats) -> Floats:
        """The correlation divided by S_m at every frequency but zero, which is set to zero."""
        spectrum = np.zeros(self.modulus // 2 + 1, np.complex128)
        for j in range(self.cohorts):
            spectrum += _rfft(rows[j]) * np.conj(self.spectra[j])
        spectrum[0] = 0
        spectrum[1:] /= self.power[1:]
        return _irfft(spectrum, self.modulus)


def kernels(family: ShiftFamily, gain: float) -> Iterator[Floats]:
    """A_j, for each cohort j: what a report (j, y) adds to the estimate of x, by x - y modulo K."""
    for j in range(family.cohorts):
        alone = np.zeros((family.cohorts, family.modulus))
        alone[j, 0] = 1.0
        yield family.invert(alone) / gain + 1 / family.modulus


def kernel_moment(family: ShiftFamily, high: float, low: float) -> Floats:
    """Second moment that a user with value v adds to the estimate of x, by x - v modulo K.

    A report (j, y) adds A_j[x - y] to the estimate of x; a user with value v reports y = v + d, so that
    the second moment at x - v = s is the mean over j of low sum(A_j^2) + (high - low) sum_(d in D_j) A_j[s - d]^2.
    """
    moment = np.zeros(family.modulus)
    for j, kernel in enumerate(kernels(family, (high - low) / family.cohorts)):
        squared = kernel**2
        moment += low * squared.sum() + (high - low) * _irfft(_rfft(squared) * family.spectra[j], family.modulus)
    return moment / family.cohorts


def average_over_pairs(moment: Floats, values: int) -> float:
    """The mean of moment[x - v] over all pairs of different values among the first `values` elements of Z_K."""
    distance = np.arange(1, len(moment))
    pairs = np.maximum(values - distance, 0) + np.maximum(values - (len(moment) - distance), 0)
    return float(pairs @ moment[1:]) / (values * (values - 1))


def average_over_users(moment: Floats, shares: Floats) -> Floats:
    """For each value x, the mean of moment[x - v] over users with other values v, for these shares of users."""
    padded = np.zeros(len(moment))
    padded[: len(shares)] = shares
    total = _irfft(_rfft(padded) * _rfft(moment), len(moment))[: len(shares)]
    return np.asarray((total - shares * moment[0]) / np.maximum(1 - shares, 1e-12))


def _rfft(row: Floats) -> Any:
    with needed():
        from scipy.fft import rfft

    return rfft(row)


def _irfft(spectrum: Spectrum, length: int) -> Floats:
    with needed():
        from scipy.fft import irfft

    return np.asarray(irfft(spectrum, length))
