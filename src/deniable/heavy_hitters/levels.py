"""Decoding one level: find the candidates that stand out, fit them, and estimate all others from the residual."""

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

KEEP = 0.5  # expected share of absent prefixes among those extended: the strings are tested again at the end
_AT_ONCE = 2**22  # entries of a table of buckets
_SHORTLIST = 2**13
_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class Decoded:
    """Estimates of all candidates of a level, their n Var and skewness at frequency 0, and which stand out."""

    estimates: Floats
    noise: Floats
    present: Mask
    mass: float  # total frequency of the candidates that stand out
    mass_error: float
    skewness: float


def decode_level(
    mechanism: CohortMechanism, summary: Summary, digests: Indices, always: int, progress: Callable[[float], None]
) -> Decoded:
    """Fit the candidates that stand out jointly, and estimate the others from the residual in their cells.

    The last `always` candidates are estimated carefully even if they do not stand out.
    """
    whole = mechanism.cohort_cells(summary, mechanism.functions.design(digests[:1], complete=True))
    estimates, noise = _rough(mechanism, whole, digests, progress)
    short = np.argsort(-estimates / np.sqrt(noise), kind="stable")[:_SHORTLIST]
    chances = np.ones(len(digests))
    estimates[short], noise[short] = _careful(mechanism, whole, digests[short])
    chosen, fitted = np.zeros(len(digests), bool), _Fit.nothing(whole)
    for _ in range(_ROUNDS):
        chances[short] = p_values(estimates[short], noise[short], summary.n, fitted.skewness)
        more = _affordable(significant(chances, RATE), estimates / np.sqrt(noise), mechanism)
        if (more == chosen).all():
            break
        chosen, fitted = more, _Fit.of(mechanism, whole, digests[more])
        estimates[short], noise[short] = _careful(mechanism, fitted.residual, digests[short])
        estimates[chosen], noise[chosen] = fitted.estimates, fitted.noise
    tail = np.arange(len(digests) - always, len(digests))
    estimates[tail], noise[tail] = _rough(mechanism, fitted.residual, digests[tail], lambda _: None)
    again = tail[estimates[tail] > np.sqrt(noise[tail] / summary.n)]
    for start in range(0, len(again), _SHORTLIST):
        some = again[start : start + _SHORTLIST]
        estimates[some], noise[some] = _careful(mechanism, fitted.residual, digests[some])
    estimates[chosen], noise[chosen] = fitted.estimates, fitted.noise
    chances[short] = p_values(estimates[short], noise[short], summary.n, fitted.skewness)
    return Decoded(estimates, noise, significant(chances, KEEP), fitted.mass, fitted.mass_error, fitted.skewness)


@dataclass(frozen=True, eq=False)
class _Fit:
    """A joint fit of some candidates: their estimates and n Var, and the residual cells without them."""

    estimates: Floats
    noise: Floats
    residual: CohortCells
    mass: float
    mass_error: float

    @cached_property
    def skewness(self) -> float:
        """Skewness of the estimate of an absent string."""
        return self.residual.skewness_of(self.residual.cells)

    @staticmethod
    def nothing(cells: CohortCells) -> _Fit:
        return _Fit(np.empty(0), np.empty(0), cells, 0.0, 0.0)

    @staticmethod
    def of(mechanism: CohortMechanism, cells: CohortCells, digests: Indices) -> _Fit:
        if not len(digests):
            return _Fit.nothing(cells)
        part = replace(cells, design=mechanism.functions.design(digests, complete=False))
        found = part.least_squares()
        estimates, noise = found.first[:-1], found.noise[:-1]
        residual = replace(cells, cells=cells.cells - part.design.scatter(estimates) / part.design.cohorts)
        return _Fit(estimates, noise, residual, float(estimates.sum()), float(np.sqrt(found.noise[-1] / cells.n)))


def _rough(
    mechanism: CohortMechanism, cells: CohortCells, digests: Indices, progress: Callable[[float], None]
) -> tuple[Floats, Floats]:
    """Estimate each candidate from its own cells, in chunks; return estimates and n Var."""
    estimates, noise = np.empty(len(digests)), np.empty(len(digests))
    several = max(1, _AT_ONCE // (mechanism.cohorts * mechanism.hashes))
    for start in range(0, len(digests), several):
        part = slice(start, start + several)
        found = replace(cells, design=mechanism.functions.design(digests[part], complete=True)).roughly()
        estimates[part], noise[part] = found.first, found.noise
        progress(min(1.0, (start + several) / len(digests)))
    return estimates, noise


def _careful(mechanism: CohortMechanism, cells: CohortCells, digests: Indices) -> tuple[Floats, Floats]:
    """Estimate each candidate from its own cells, with errors that depend on how full these cells are."""
    found = replace(cells, design=mechanism.functions.design(digests, complete=True)).per_candidate()
    return found.first, found.noise


def _affordable(chosen: Mask, scores: Floats, mechanism: CohortMechanism) -> Mask:
    """Keep at most as many of the chosen candidates as least squares can tell apart."""
    most = min(DENSE, int(MOST_LOAD * mechanism.cohorts * (mechanism.buckets - 1)))
    if chosen.sum() <= most:
        return chosen
    kept = np.zeros_like(chosen)
    kept[np.argsort(np.where(chosen, -scores, np.inf), kind="stable")[:most]] = True
    return kept
