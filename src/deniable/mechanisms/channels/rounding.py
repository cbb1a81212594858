"""Rows of probabilities, read exactly, and the integer weights that run in their place.

Rounding moves every weight by less than 1 in 2^64, which may lift a ratio above e^epsilon, as may the rounding of
floats before it. The rows are then mixed with their mean, in the least part that brings all ratios back: some 2^-60,
unless a probability is tiny.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np

from deniable.core.arrays import Numbers
from deniable.core.errors import InvalidArgument, shown
from deniable.randomness.bounds import logarithm_above

MAX_CELLS = 2**16  # values times reports: each is an integer of the spec
_SUM, _RATIO = 1e-9, Fraction(1, 10**9)  # how far the sum of a row, and a ratio, may be off before they are refused
_FINE = 128  # bits of the probabilities that are rounded
_DIGITS = 400
_FRACTION = re.compile(rf"\d{{1,{_DIGITS}}}/\d{{1,{_DIGITS}}}")

Entry = float | str  # a float, or a fraction such as "1/3"
Rows = tuple[tuple[Entry, ...], ...]


def checked_rows(matrix: Any, k: int) -> Rows:
    """Return a matrix as a spec writes it, or raise InvalidArgument naming the first row that is wrong."""
    shape = np.shape(np.asarray(matrix, dtype=object)) if isinstance(matrix, Sequence | np.ndarray) else ()
    if len(shape) != 2:
        raise InvalidArgument("matrix", "be rows of equal length, one per value", shown(matrix))
    if shape[0] != k:
        raise InvalidArgument("matrix", f"have one row for each of the {k} values", f"{shape[0]} rows")
    if k * shape[1] > MAX_CELLS:
        raise InvalidArgument("matrix", f"have at most {MAX_CELLS} entries", f"{k} times {shape[1]}")
    rows = [[_exact(entry, place) for entry in row] for place, row in enumerate(matrix)]
    for place, row in enumerate(rows):
        total = math.fsum(row)
        if abs(total - 1) > _SUM:
            raise InvalidArgument("matrix", "have rows that sum to 1", round(total, 12), f"Row {place} does not.")
    for report, column in enumerate(zip(*rows, strict=True)):
        if min(column) == 0:
            who = "no value makes it" if max(column) == 0 else f"value {column.index(0)} never makes it, others do"
            hint = f"Report {report}: {who}."
            raise InvalidArgument("matrix", "have positive entries", 0, hint)
    return tuple(tuple(_written(entry) for entry in row) for row in rows)


def _exact(entry: object, place: int) -> Fraction:
    if isinstance(entry, float) and 0 <= entry <= 1:
        return Fraction(entry)
    number: Fraction | None = None
    if isinstance(entry, str) and _FRACTION.fullmatch(entry) and int(entry.split("/")[1]):
        number = Fraction(entry)
    elif isinstance(entry, Rational) and not isinstance(entry, bool):
        number = Fraction(int(entry.numerator), int(entry.denominator))
    elif isinstance(entry, Real) and not isinstance(entry, bool) and np.isfinite(float(entry)):
        number = Fraction(float(entry))
    if number is not None and number.denominator >= 10**_DIGITS and _written(number) != float(number):
        raise InvalidArgument("matrix", f"have fractions of at most {_DIGITS} digits", shown(entry), f"In row {place}.")
    if number is None or not 0 <= number <= 1:
        raise InvalidArgument("matrix", "have entries from 0 to 1, as numbers or fractions", entry, f"In row {place}.")
    return number


def _written(number: Fraction) -> Entry:
    return float(number) if Fraction(float(number)) == number else f"{number.numerator}/{number.denominator}"


def weights(matrix: Sequence[Sequence[Any]], bound: Fraction, modulus: int) -> Numbers:
    """Return integer weights with the sum `modulus` in every row, and ratios of at most `bound` in every column."""
    fine = np.array([_fine(row, place) for place, row in enumerate(matrix)], dtype=object)
    _check_ratios(fine, bound)
    mean = fine.sum(axis=0) // len(fine)
    for mixed, whole in _shares(modulus):
        found = _rounded(fine * (whole - mixed) + mean * mixed, modulus)
        low, high = found.min(axis=0), found.max(axis=0)
        if low.all() and (high * bound.denominator <= low * bound.numerator).all():
            return found
    hint = f"Some are too small to be a share of {modulus}."
    raise InvalidArgument("matrix", "have larger entries", float(fine.min() / 2**_FINE), hint)


def _fine(row: Sequence[Any], place: int) -> list[int]:
    """The row over its sum, rounded down to multiples of 2^-128."""
    exact = [_exact(entry, place) for entry in row]
    total = sum(exact, Fraction(0))
    # floor(2^128 entry/total), by integers alone, which is faster
    return [(entry.numerator * total.denominator << _FINE) // (entry.denominator * total.numerator) for entry in exact]


def _check_ratios(fine: Numbers, bound: Fraction) -> None:
    if not fine.all():
        raise InvalidArgument("matrix", "have positive entries", 0, "A report that some never make has no guarantee.")
    ratio = largest_ratio(fine)
    if ratio > bound * (1 + _RATIO):
        hint = f"A report is {float(ratio):.6g} times as likely under one value as under another."
        # the name of the argument that a caller changes: the rows are given, or follow from it
        raise InvalidArgument("epsilon", f"be at least {logarithm_above(ratio):.6g} for this matrix", _log(bound), hint)


def _log(bound: Fraction) -> float:
    return round(logarithm_above(bound), 12)


def _shares(modulus: int) -> Iterator[tuple[int, int]]:
    """Shares of the mean that are tried, least first: 0, then from 1/(4 modulus) up to its cube root's inverse."""
    bits = modulus.bit_length() - 1
    whole = 16 << bits
    yield 0, whole
    for doubling in range(bits - bits // 3 + 2):
        for part in (4, 5, 6, 7):
            yield part << doubling, whole


def _rounded(numbers: Numbers, modulus: int) -> Numbers:
    """Every row rounded to integers that sum to the modulus: down, then up where the most was cut off."""
    found = np.empty_like(numbers)
    for place, row in enumerate(numbers):
        total = int(row.sum())
        scaled = [divmod(int(number) * modulus, total) for number in row]
        own = [whole for whole, _ in scaled]
        order = sorted(range(len(own)), key=lambda report: -scaled[report][1])
        for report in order[: modulus - sum(own)]:
            own[report] += 1
        found[place] = own
    return found


def exact_ratio(matrix: Sequence[Sequence[Any]]) -> Fraction:
    """The largest ratio of two probabilities of one report, of rows that are divided by their sums first."""
    exact = [[_exact(entry, place) for entry in row] for place, row in enumerate(matrix)]
    columns = zip(*([entry / sum(row, Fraction(0)) for entry in row] for row in exact), strict=True)
    return max((max(column) / min(column) for column in columns), default=Fraction(1))


def largest_ratio(rows: Numbers) -> Fraction:
    """The largest ratio of two weights of one report."""
    return max(Fraction(int(high), int(low)) for high, low in zip(rows.max(axis=0), rows.min(axis=0), strict=True))
