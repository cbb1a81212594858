"""The search for the moduli of Modular Subset Selection: the least error within a number of bits per report.

What counts is the shape of a tuple: the number of moduli, evenly spaced primes, and the ratio of the smallest to the
largest one. Reports have the bits that the largest modulus needs; moduli close together carry nearly the same
information, and small ones too little. The error of a shape hardly depends on k, so shapes are compared on a small
domain and the best one is scaled up.

Reference: Arcolezi 2026, "Private frequency estimation via residue number systems", section 4.3, which draws primes
at random from a band; here the error of the whole system decides, not its condition number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from math import gcd, inf

from deniable.core.errors import InvalidArgument
from deniable.core.limits import Cost
from deniable.core.validate import whole
from deniable.estimation.operators.residue_noise import SubsetChannel
from deniable.estimation.operators.residues import ResidueSystem, identifies
from deniable.mechanisms.layouts.residues import report_bits
from deniable.mechanisms.numbers import binomial_bits, is_prime
from deniable.mechanisms.subsets.subset_selection import best_size

MOST_ERROR = 1.25  # times the error of subset selection, unless max_bits is given
_FEW = 14  # up to this many values every pair and triple of moduli is tried
_TRIED_ON = 1000  # values of the domain on which shapes are compared
_NUMBERS = (2, 3, 4, 6, 8, 12, 16, 24)
_RANGES = (0.5, 0.6, 0.7, 0.8)  # smallest over largest modulus
_SHARES = (Fraction(11, 20), Fraction(3, 4), Fraction(1), Fraction(2))
_SLACK = 4  # bits, for reports of a few bits


def best_sizes(moduli: tuple[int, ...], bound: Fraction) -> tuple[int, ...]:
    """The subset sizes with the least error, one for each modulus."""
    return tuple(best_size(m, bound) for m in moduli)


@lru_cache(maxsize=256)
def search(k: int, bound: Fraction, max_bits: int | None = None) -> tuple[int, ...] | None:
    """The moduli of least error found within `max_bits` bits, or None if there are none.

    By default within 0.55 of subset selection's bits, if its error is exceeded by at most a quarter; else within
    larger shares, up to twice its bits; else the moduli of least error.
    """
    if max_bits is not None:
        return _within(k, bound, max_bits)[1]
    whole = _set_bits(k, bound)
    found = []
    for share in _SHARES:
        found.append(_within(k, bound, int(share * whole) + (share > 1) * _SLACK))
        if found[-1][0] <= MOST_ERROR:
            break
    return min(found, key=lambda pair: pair[0] if pair[0] > MOST_ERROR else 0.0)[1]


def error(k: int, moduli: tuple[int, ...], bound: Fraction) -> float:
    """Approximate n Var of an estimate: l tr(G^-1)/k, each modulus weighted by one over the variance of a residue."""
    channels = []
    for m, w in zip(moduli, best_sizes(moduli, bound), strict=True):
        # p = w E / (w E + m - w),  p - q = (m p - w) / (m - 1)
        p = w * bound / (w * bound + m - w)
        channels.append(SubsetChannel(m, w, float(p), float((m * p - w) / (m - 1)), float((w - p) / (m - 1))))
    system = ResidueSystem(k, moduli, tuple(channel.weight for channel in channels))
    return len(moduli) * system.mean_inverse()


def _within(k: int, bound: Fraction, bits: int) -> tuple[float, tuple[int, ...] | None]:
    """The error as a multiple of subset selection's, and the moduli, of the best ones within `bits` bits per report."""
    few = k if k <= _FEW else min(k, _TRIED_ON)
    scored = [(error(few, tried, bound), moduli) for moduli, tried in _candidates(k, few, bound, bits)]
    if not scored:
        return inf, None
    least, moduli = min(scored)
    return least / error(few, (few,), bound), moduli


def _candidates(k: int, few: int, bound: Fraction, bits: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Moduli for k values, each with moduli of the same shape for `few` values."""
    if k <= _FEW:
        for number in (1,) if k == 2 else (2, 3):
            for moduli in combinations(range(2, k + 1), number):
                if identifies(k, moduli) and report_bits(moduli, best_sizes(moduli, bound)) <= bits:
                    yield moduli, moduli
        return
    for number in _NUMBERS:
        largest = _largest_modulus(k, bound, bits - (number - 1).bit_length())
        for least in _RANGES:
            moduli, tried = _spaced_primes(number, least, largest), _spaced_primes(number, least, largest * few // k)
            if identifies(k, moduli) and identifies(few, tried):
                yield moduli, tried


def _largest_modulus(k: int, bound: Fraction, bits: int) -> int:
    """The largest m < k whose subsets need at most `bits` bits, up to rounding of their sizes."""
    low, high = 1, k
    while high - low > 1:
        middle = (low + high) // 2
        if _set_bits(middle, bound) <= bits:
            low = middle
        else:
            high = middle
    return low


def _set_bits(k: int, bound: Fraction) -> int:
    """The bits of the number of a subset of k values, of the best size."""
    return binomial_bits(k, best_size(k, bound), lambda number: number - 1)


def _spaced_primes(number: int, least: float, largest: int) -> tuple[int, ...]:
    """Return `number` primes, from about `largest` down to about `least` times it; empty if there are too few."""
    found: list[int] = []
    for step in range(number):
        m = int(largest * (1 - (1 - least) * step / max(1, number - 1)))
        while m > 1 and (m in found or not is_prime(m)):
            m -= 1
        if m < 2:
            return ()
        found.append(m)
    return tuple(sorted(found))


def checked_moduli(moduli: object, k: int) -> tuple[int, ...]:
    """Return the given moduli, or raise InvalidArgument if they do not determine a histogram of k values."""
    rule = f"be a list of whole numbers from 2 to {k}"
    if isinstance(moduli, (str, bytes)) or not isinstance(moduli, Iterable):
        raise InvalidArgument("moduli", rule, moduli)
    found = tuple(whole(2, k, moduli=m) for m in moduli)
    for one, other in combinations(found, 2):
        if gcd(one, other) > 1:
            raise InvalidArgument("moduli", "be pairwise coprime", list(found), f"{one} and {other} are not.")
    if not identifies(k, found):
        hint = f"Their sum less their number, plus one, must be at least {k}."
        raise InvalidArgument("moduli", f"identify {k} values", list(found), hint)
    return found


def cost_of(moduli: object, sizes: object) -> Cost:
    """What Modular Subset Selection costs with these moduli and sizes, by formula."""
    given, drawn = (_numbers(each) for each in (moduli, sizes))
    count, largest, most, total = len(given), max(given, default=0), max(drawn, default=0), sum(given)
    return Cost(
        cells=total + count,
        tables=count * most,
        cohorts=count,
        moduli=count,
        building=1000 * count,
        report=40 * count * most + count * largest // 8 + 200 * most + 24 * largest,  # bounds of draws, masks, draws
        nanoseconds=300 * count**2 + 60_000 * count + 40 * count * most + 1600 * most + 500 * largest,
    )


def _numbers(given: object) -> list[int]:
    listed = given if isinstance(given, list | tuple) else ()
    return [number for number in listed if isinstance(number, int) and number > 0]


def checked_sizes(sizes: object, moduli: tuple[int, ...]) -> tuple[int, ...]:
    """Return the given subset sizes, or raise InvalidArgument unless there is one for each modulus."""
    if isinstance(sizes, (str, bytes)) or not isinstance(sizes, Iterable):
        raise InvalidArgument("sizes", "be a list of whole numbers", sizes)
    given = list(sizes)
    if len(given) != len(moduli):
        raise InvalidArgument("sizes", f"have one size for each of {len(moduli)} moduli", given)
    return tuple(whole(1, m - 1, sizes=w) for m, w in zip(moduli, given, strict=True))
