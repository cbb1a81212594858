"""One level decoded: which of very many candidates stand out, and what is left for all others once those are fitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from deniable.core.arrays import Floats, Indices, Mask
from deniable.core.defaults import RATE
from deniable.core.summary import Summary
from deniable.estimation.cohorts.decoding import CohortCells
from deniable.estimation.cohorts.design import DENSE, MOST_LOAD
from deniable.estimation.presence import p_values, significant
from deniable.mechanisms.cohorts.base import CohortMechanism

KEEP = 0.5  # share of absent beginnings among those that go on, on average: the strings are tested again at the end
_AT_ONCE = 2**22  # entries of a table of buckets
_SHORTLIST = 2**13
_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Decoded:
    """Of all candidates of a level: estimates, their n Var and skewness at frequency 0, and which stand out."""

    first: Floats
    noise: Floats
    present: Mask
    mass: float  # of those that stand out, together
    mass_error: float
    skewness: float


def decode_level(
    mechanism: CohortMechanism, summary: Summary, digests: Indices, always: int, said: Callable[[float], None]
) -> Decoded:
    """The candidates that stand out fitted together, the others from what these leave in their cells.

    The last `always` candidates are estimated with care even where they do not stand out.
    """
    whole = mechanism.cohort_cells(summary, mechanism.functions.design(digests[:1], complete=True))
    first, noise = _rough(mechanism, whole, digests, said)
    short = np.argsort(-first / np.sqrt(noise), kind="stable")[:_SHORTLIST]
    chances = np.ones(len(digests))
    first[short], noise[short] = _careful(mechanism, whole, digests[short])
    chosen, fitted = np.zeros(len(digests), bool), _Fit.nothing(whole)
    for _ in range(_ROUNDS):
        chances[short] = p_values(first[short], noise[short], summary.n, fitted.skewness)
        more = _affordable(significant(chances, RATE), first / np.sqrt(noise), mechanism)
        if (more == chosen).all():
            break
        chosen, fitted = more, _Fit.of(mechanism, whole, digests[more])
        first[short], noise[short] = _careful(mechanism, fitted.left, digests[short])
        first[chosen], noise[chosen] = fitted.first, fitted.noise
    tail = np.arange(len(digests) - always, len(digests))
    first[tail], noise[tail] = _rough(mechanism, fitted.left, digests[tail], lambda _: None)
    again = tail[first[tail] > np.sqrt(noise[tail] / summary.n)]
    for start in range(0, len(again), _SHORTLIST):
        some = again[start : start + _SHORTLIST]
        first[some], noise[some] = _careful(mechanism, fitted.left, digests[some])
    first[chosen], noise[chosen] = fitted.first, fitted.noise
    chances[short] = p_values(first[short], noise[short], summary.n, fitted.skewness)
    return Decoded(first, noise, significant(chances, KEEP), fitted.mass, fitted.mass_error, fitted.skewness)


@dataclass(frozen=True, eq=False)
class _Fit:
    """Some candidates fitted together: their estimates, n Var, and the cells without them."""

    first: Floats
    noise: Floats
    left: CohortCells
    mass: float
    mass_error: float

    @cached_property
    def skewness(self) -> float:
        """That of the estimate of a string that nobody has."""
        return self.left.skewness_of(self.left.cells)

    @staticmethod
    def nothing(cells: CohortCells) -> _Fit:
        return _Fit(np.empty(0), np.empty(0), cells, 0.0, 0.0)

    @staticmethod
    def of(mechanism: CohortMechanism, cells: CohortCells, digests: Indices) -> _Fit:
        if not len(digests):
            return _Fit.nothing(cells)
        part = replace(cells, design=mechanism.functions.design(digests, complete=False))
        found = part.least_squares()
        first, noise = found.first[:-1], found.noise[:-1]
        left = replace(cells, cells=cells.cells - part.design.scatter(first) / part.design.cohorts)
        return _Fit(first, noise, left, float(first.sum()), float(np.sqrt(found.noise[-1] / cells.n)))


def _rough(
    mechanism: CohortMechanism, cells: CohortCells, digests: Indices, said: Callable[[float], None]
) -> tuple[Floats, Floats]:
    """Each candidate from its own cells, some at a time."""
    first, noise = np.empty(len(digests)), np.empty(len(digests))
    several = max(1, _AT_ONCE // (mechanism.cohorts * mechanism.hashes))
    for start in range(0, len(digests), several):
        part = slice(start, start + several)
        found = replace(cells, design=mechanism.functions.design(digests[part], complete=True)).roughly()
        first[part], noise[part] = found.first, found.noise
        said(min(1.0, (start + several) / len(digests)))
    return first, noise


def _careful(mechanism: CohortMechanism, cells: CohortCells, digests: Indices) -> tuple[Floats, Floats]:
    """The same with errors that know how full the candidates' own cells are."""
    found = replace(cells, design=mechanism.functions.design(digests, complete=True)).per_candidate()
    return found.first, found.noise


def _affordable(chosen: Mask, scores: Floats, mechanism: CohortMechanism) -> Mask:
    """No more of them than least squares can tell apart."""
    most = min(DENSE, int(MOST_LOAD * mechanism.cohorts * (mechanism.buckets - 1)))
    if chosen.sum() <= most:
        return chosen
    kept = np.zeros_like(chosen)
    kept[np.argsort(np.where(chosen, -scores, np.inf), kind="stable")[:most]] = True
    return kept
