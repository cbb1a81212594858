"""Parts of a report whose law is known whatever the population is: seeds, cohorts, coordinates, the number of marks.

Each part is a number; the numbers are put into classes, and the count of each class is binomial in any honest batch.
The test takes the least tail of all counts, exactly, times their number: a false alarm is no likelier than the level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deniable.core.arrays import Floats, Integers, Payloads
from deniable.core.extras import needed
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.cohorts.flipped_filters import FlippedFilters
from deniable.mechanisms.cohorts.hadamard_sketch import HadamardSketch
from deniable.mechanisms.layouts.symbols import SymbolLayout
from deniable.mechanisms.unary.histogram_summation import SummationHistogramEncoding
from deniable.mechanisms.unary.unary_encoding import UnaryEncoding

_CLASSES = 1024  # of a uniform number, at most
_NAMES = dict.fromkeys(("clh", "olh", "blh", "flh", "rhr"), "public number") | {"hcms": "cohort and coordinate"}


@dataclass(frozen=True, eq=False)
class PublicPart:
    """A part of every report: what it is, the class of each report, and the probabilities of the classes."""

    name: str
    classes: Integers
    law: Floats

    @property
    def rarity(self) -> float:
        """The least tail probability of a class's count, times their number: how rare it is in an honest batch."""
        with needed():
            from scipy.stats import binom

        n = len(self.classes)
        counts = np.bincount(self.classes, minlength=len(self.law))
        tails = np.minimum(binom.cdf(counts, n, self.law), binom.sf(counts - 1, n, self.law))
        return min(1.0, 2 * len(self.law) * float(tails.min()))


def public_parts(mechanism: Mechanism, data: Payloads) -> Iterator[PublicPart]:
    """The parts of these reports with a known law."""
    public = mechanism.public_part(data)
    if public is not None and _publics(mechanism) > 1:
        yield _uniform(_NAMES.get(mechanism.name, "cohort"), public, _publics(mechanism))
    if isinstance(mechanism, HadamardSketch):
        cohorts, coordinates = np.divmod(mechanism.public_part(data), mechanism.coordinates)
        yield _uniform("cohort", cohorts, mechanism.cohorts)
        yield _uniform("coordinate", coordinates, mechanism.coordinates)
    elif isinstance(mechanism, FlippedFilters) and mechanism.hashes == 1:
        yield _marks(data[:, 1:], mechanism.buckets, float(1 - mechanism.flip), float(mechanism.flip))
    elif isinstance(mechanism, UnaryEncoding):
        yield _marks(data, mechanism.k, float(mechanism.channel.p), float(mechanism.channel.q))
    elif isinstance(mechanism, SummationHistogramEncoding):
        above = sum(mechanism.weights[mechanism.reach + 1 :]) / sum(mechanism.weights)
        high = (data > mechanism.reach).sum(axis=1)
        yield PublicPart("levels above the middle", high, _number_of_marks(mechanism.k, 1 - above, above))


def _publics(mechanism: Mechanism) -> int:
    """The number of different public parts: that of the last report is the largest."""
    if not isinstance(mechanism.layout, SymbolLayout):  # a report begins with its cohort
        return int(mechanism.cohorts)  # type: ignore[attr-defined]
    last = mechanism.public_part(np.array([mechanism.layout.symbols - 1], np.uint32))
    assert last is not None
    return int(last[0]) + 1


def _uniform(name: str, numbers: Integers, size: int) -> PublicPart:
    classes = min(size, _CLASSES)
    # number x belongs to class x mod classes: the first ones may hold one number more
    held = np.bincount(np.arange(size % classes), minlength=classes) + size // classes
    return PublicPart(name, numbers % classes, held / size)


def _marks(words: Payloads, size: int, p: float, q: float) -> PublicPart:
    counts = np.bitwise_count(words).sum(axis=1, dtype=np.int64)
    return PublicPart("number of bits", counts, _number_of_marks(size, p, q))


def _number_of_marks(size: int, p: float, q: float) -> Floats:
    """The law of Bernoulli(p) + Binomial(size - 1, q)."""
    with needed():
        from scipy.stats import binom

    others = binom.pmf(np.arange(size), size - 1, q)
    return np.asarray(np.append((1 - p) * others, 0.0) + np.append(0.0, p * others))
