"""What a report looks like under two values, for the two that are easiest to tell apart.

A channel R has a blanket: every report y is sent with probability at least low(y), whatever the value is. A pair law
lists, for two values x and x', the sums of low(y) over all reports with the same R(x)(y)/low(y) and R(x')(y)/low(y).

Which pair is the worst? delta is the mean of a convex function of R(x)/low - E R(x')/low, and such a mean grows where
the two ratios agree less often (the function of both is submodular). So values are taken to share as few supporting
reports as any two of the domain do, and a bound on that number keeps everything an upper bound.

Reference: Balle, Bell, Gascon, Nissim 2019, section 5 (blankets).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from deniable.core.arrays import Floats
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.channels.finite_channel import FiniteChannel
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters
from deniable.mechanisms.cohorts.hadamard_sketch import HadamardSketch
from deniable.mechanisms.hashing.cyclotomic_hashing import CyclotomicLocalHashing
from deniable.mechanisms.subsets.modular_subset import ModularSubsetSelection
from deniable.mechanisms.unary.histogram_summation import SummationHistogramEncoding
from deniable.mechanisms.unary.unary_encoding import UnaryEncoding

_MOST = 64  # different pairs of a matrix that are all tried; beyond it only bounds for any channel are given
_SAME = 12  # digits up to which two laws are the same


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Atoms: the likelihood ratios of a report under two values to the blanket, and the blanket's probability."""

    first: Floats
    second: Floats
    chance: Floats

    @staticmethod
    def of(*atoms: tuple[float | Fraction, float | Fraction, float | Fraction]) -> PairLaw:
        """Make a law of (ratio, other ratio, probability); atoms that never occur are left out."""
        kept = [(float(a), float(b), float(c)) for a, b, c in atoms if c > 0]
        first, second, chance = (np.array(column) for column in zip(*kept, strict=True))
        return PairLaw(first, second, chance)


def pair_laws(mechanism: Mechanism) -> tuple[PairLaw, ...]:
    """The laws among which the worst pair of values is; empty where none is known."""
    if isinstance(mechanism, CyclotomicLocalHashing):
        return (_cyclotomic(mechanism),)
    if mechanism.two_level is not None:
        return (_two_level(mechanism),)
    if isinstance(mechanism, UnaryEncoding):
        return (_unary(mechanism),)
    if isinstance(mechanism, FlippedFilters):
        return (_filters(mechanism),)
    if isinstance(mechanism, SummationHistogramEncoding):
        return (_levels(mechanism),)
    if isinstance(mechanism, ModularSubsetSelection):
        return (_residues(mechanism),)
    if isinstance(mechanism, FiniteChannel):
        return _matrix(mechanism)
    return ()


def is_bound(mechanism: Mechanism) -> bool:
    """Whether the laws are of two values that may be told apart more easily than any of the domain: of cohorts."""
    return isinstance(mechanism, CohortMechanism) and mechanism.channel is None


def _supported(ratio: Fraction, low: Fraction, supporting: Fraction, both: Fraction, reports: Fraction) -> PairLaw:
    """The law of a two-level channel: `supporting` reports support a value, `both` of them another one as well."""
    one = (supporting - both) * low
    rest = reports * low - 2 * one - both * low
    return PairLaw.of((ratio, 1, one), (1, ratio, one), (ratio, ratio, both * low), (1, 1, rest))


def _two_level(mechanism: Mechanism) -> PairLaw:
    levels, channel = mechanism.two_level, mechanism.channel
    assert levels is not None
    high, low = levels.high, levels.low
    if channel is not None:  # p = r high,  q = lambda high + (r - lambda) low
        supporting = channel.p / high
        both = (channel.q - supporting * low) / (high - low)
    else:
        supporting, both = _supporting(mechanism), _fewest_shared(mechanism)
    # all probabilities add up to 1
    reports = supporting + (1 - supporting * high) / low
    return _supported(levels.ratio, low, supporting, both, reports)


def _supporting(mechanism: Mechanism) -> Fraction:
    """The number of reports that support a value, from the summary's cells: one per report."""
    # supporting high + (cells - supporting) low = 1
    levels = mechanism.two_level
    assert levels is not None
    return (1 - mechanism.layout.cells * levels.low) / (levels.high - levels.low)


def _fewest_shared(mechanism: Mechanism) -> Fraction:
    """At most the number of reports that support both of two values, for any two: 0 for values of different blocks."""
    if isinstance(mechanism, HadamardSketch):
        # in different buckets two values have the same sign in m/2 - 1 of the m - 1 coordinates
        return Fraction(mechanism.cohorts * (mechanism.buckets // 2 - 1))
    return Fraction(0)


def _cyclotomic(mechanism: CyclotomicLocalHashing) -> PairLaw:
    levels, modulus, classes = mechanism.two_level, mechanism.modulus, mechanism.classes
    ratio, low = levels.ratio, levels.low
    bare = 1 / (mechanism.symbols * low)  # under y = x all classes are alike
    shared = (modulus - 1) // classes - 1  # of the numbers y other than both values, those with one class for both
    apart = modulus - 2 - shared
    return PairLaw.of(
        (ratio, 1, apart * low),
        (1, ratio, apart * low),
        (ratio, ratio, shared * low),
        (1, 1, ((modulus - 2) * classes - 2 * apart - shared) * low),
        (bare, ratio, low),
        (ratio, bare, low),
        (bare, 1, (classes - 1) * low),
        (1, bare, (classes - 1) * low),
    )


def _unary(mechanism: UnaryEncoding) -> PairLaw:
    p, q = mechanism.channel.p, mechanism.channel.q
    # a report with s < k bits has the least probability (1-p) q^s (1-q)^(k-1-s); that of all bits is p q^(k-1)
    all_set = float(q) ** mechanism.k
    share = float((1 - p) / (1 - q))
    one, both = float((1 - p) * q), share * (float(q) ** 2 - all_set)
    neither = share * float(1 - q) ** 2 + float(p / q) * all_set
    ratio = mechanism.ratio()
    return PairLaw.of((ratio, 1, one), (1, ratio, one), (ratio, ratio, both), (1, 1, neither))


def _filters(mechanism: FlippedFilters) -> PairLaw:
    # blanket: all bits alike, times ((q/(1-q))^h; of a value's h bits j are set, with odds ((1-q)/q)^(2j)
    q, hashes = float(mechanism.flip), mechanism.hashes
    odds = float(1 / mechanism.flip - 1)
    set_bits = [math.comb(hashes, j) * q**j * (1 - q) ** (hashes - j) for j in range(hashes + 1)]
    pairs = ((i, j) for i in range(hashes + 1) for j in range(hashes + 1))
    return PairLaw.of(*((odds ** (2 * i), odds ** (2 * j), set_bits[i] * set_bits[j] / odds**hashes) for i, j in pairs))


def _levels(mechanism: SummationHistogramEncoding) -> PairLaw:
    weights = np.array([float(Fraction(weight, sum(mechanism.weights))) for weight in mechanism.weights])
    odds = weights[::-1] / weights
    least = float(odds.min())
    chance = np.outer(weights, weights).reshape(-1) * least
    return PairLaw(np.repeat(odds, len(odds)) / least, np.tile(odds, len(odds)) / least, chance)


def _residues(mechanism: ModularSubsetSelection) -> PairLaw:
    """Every cohort is a subset selection of its own; some values, such as 0 and 1, differ in all residues."""
    atoms: list[tuple[Fraction, Fraction, Fraction]] = []
    for channel, m, w in zip(mechanism.channels, mechanism.moduli, mechanism.sizes, strict=True):
        # as fractions of all C(m, w) subsets: w/m hold a value, w (w - 1)/(m (m - 1)) hold two
        low = (1 - channel.p) / Fraction(m - w, m) / mechanism.cohorts
        ratio = channel.p * (m - w) / ((1 - channel.p) * w)
        law = Fraction(w, m), Fraction(w * (w - 1), m * (m - 1))
        one, both = (law[0] - law[1]) * low, law[1] * low
        atoms += [(ratio, Fraction(1), one), (Fraction(1), ratio, one), (ratio, ratio, both)]
        atoms.append((Fraction(1), Fraction(1), low - 2 * one - both))
    return PairLaw.of(*atoms)


def _matrix(mechanism: FiniteChannel) -> tuple[PairLaw, ...]:
    rows = mechanism.matrix_run
    least = rows.min(axis=0)
    found: dict[bytes, PairLaw] = {}
    for one in range(len(rows)):
        for other in range(len(rows)):
            if one == other:
                continue
            law = np.array([rows[one] / least, rows[other] / least, least])
            law = law[:, np.lexsort(np.round(law, _SAME))]
            found.setdefault(np.round(law, _SAME).tobytes(), PairLaw(*law))
            if len(found) > _MOST:
                return ()
    return tuple(found.values())
