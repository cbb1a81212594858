"""From the cells of cohorts to the frequencies of candidate strings, and of the strings that are no candidates.

With up to half as many candidates as equations, least squares tells the candidates apart. Beyond, each candidate is
estimated by itself from the cells it is hashed to: unbiased over the choice of the hash functions, with the other
strings that share its cells as additional noise. The candidates found to be present are then fitted together, which
removes their part from the noise of the others, and so on until no more are found.

Errors are measured in the cells. The residual of the fit is the noise of the reports and of unlisted strings, and
both cause the errors of the estimates. Where the variances of the cells are known, a candidate that shares cells
with a frequent string has a larger error than others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from deniable.core.arrays import Floats, Mask
from deniable.core.defaults import RATE
from deniable.estimation.cohorts.design import MOST_LOAD, CellVariances, CohortDesign
from deniable.estimation.methods.simplex import nearest_distribution
from deniable.estimation.methods.systems import nonnegative
from deniable.estimation.presence import p_values, significant

_ROUNDS = 8
_MOVED = 8e-3  # standard errors, on average over the values, by which solutions may differ from least squares
_FAR = 5.0  # standard deviations of the residual in a candidate's cells


@dataclass(frozen=True, eq=False)
class Decoded:
    """Frequencies by one method; the unbiased estimates behind them, their n Var and skewness at frequency 0."""

    frequencies: Floats
    first: Floats
    noise: Floats
    skewness: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CohortCells:
    """The estimated shares of users in the cells, less the centre of the design, and the variance of reports alone.

    `unit` is n C times the variance of a cell when no value is frequent.
    """

    design: CohortDesign
    cells: Floats
    n: int
    unit: float
    uneven: CellVariances | None = None

    @cached_property
    def _totals(self) -> Floats:
        """C X cells: the sum of each candidate's cells."""
        return self.design.cohorts * self.design.gather(self.cells)

    @cached_property
    def _norms(self) -> Floats:
        """|X_s|^2."""
        design = self.design
        ones: Any = design.cohorts  # two hashes may agree, one does not repeat
        if design.hashes > 1:
            ones = (design.table < design.buckets).sum(0)
        ones = np.broadcast_to(ones, design.values)
        return np.asarray(ones * (1 - 2 * design.centre) + design.cohorts * design.buckets * design.centre**2)

    @property
    def _free_cells(self) -> int:
        # with one hash, the size of a cohort gives the sum of its cells
        return self.design.cohorts * (self.design.buckets - (self.design.hashes == 1))

    def _cell_variance(self, residual: Floats, fitted: int) -> float:
        """n times the variance of a cell: the mean square of the residual, but at least that of reports alone."""
        free = max(self._free_cells - fitted, 1)
        return max(self.n * float((residual**2).sum()) / free, self.unit / self.design.cohorts)

    def _noise(self, residual: Floats, fitted: int, squared: Floats, shares: Floats) -> tuple[Floats, float]:
        """n Var at frequency 0 of estimates whose weights on the cells have the `squared` norms, and n Var of a cell.

        A part 1/|X_s|^2 of `squared` is in the candidate's own cells, the rest in all cells. Where the residual is
        far larger in a candidate's cells than in others, some of them hold a frequent unlisted string, and the
        residual is taken as their noise.
        """
        design, norms = self.design, self._norms
        variance = self._cell_variance(residual, fitted)
        own = np.full(design.values, variance)
        if self.uneven is not None:
            unlisted = max(0.0, variance - self.unit / design.cohorts)
            # an average cell at least: a cell that happens to hold few reports is not known to vary less
            own = unlisted + np.maximum(self.uneven.around(design, norms, shares), self.unit / design.cohorts)
        free = max(self._free_cells - fitted, 1) / (design.cohorts * design.buckets)
        squares = (
            design.gather(residual**2) + design.centre * (residual**2).sum() - design.gather(residual) ** 2 / norms
        )
        seen = self.n / free * squares / np.maximum(norms - 1, 1.0)
        own = np.where(seen > own * (1 + _FAR * np.sqrt(2 / norms)), seen, own)
        noise = own / norms + variance * np.maximum(squared - 1 / norms, 0.0)
        return np.asarray(design.cohorts**2 * noise), variance

    def report_noise(self, shares: Floats) -> Floats:
        """n Var at frequency 0 of least squares, by reports alone, where all strings are listed."""
        design, norms, variance = self.design, self._norms, self.unit / self.design.cohorts
        own = variance if self.uneven is None else self.uneven.around(design, norms, shares)
        squared = design.inverse_sums[0]
        noise = np.where(squared > 1 / norms, own / norms + variance * (squared - 1 / norms), own * squared)
        return np.asarray(design.cohorts**2 * noise)

    def skewness_of(self, residual: Floats) -> float:
        """Skewness of the estimate of an absent string, which sums one random residual cell per cohort."""
        centred = residual - residual.mean(1, keepdims=True)
        squares = centred * centred
        second, third = float(squares.mean(1).sum()), float((squares * centred).mean(1).sum())
        return third / (second**1.5 * self.design.hashes**0.5) if second > 0 else 0.0

    @cached_property
    def _solved(self) -> tuple[Floats, int]:
        design = self.design
        # the covariances are C unit/n (X X^T)^-1: an error e is, in squared standard errors, e (X X^T) e n/(C unit)
        # in this norm, which are up to `spread` times as many in the estimates themselves
        enough = _MOVED**2 / design.spread * design.values * design.cohorts * self.unit / self.n
        if not design.complete:
            return design.solve(self._totals, enough)
        even = np.full(design.values, 1 / design.values)
        moved, steps = design.solve(self._totals - design.product(even), enough)
        return even + moved, steps

    @property
    def solution(self) -> Floats:
        """The frequencies of all candidates by least squares, without their errors."""
        return self._solved[0]

    def least_squares(self) -> Decoded:
        """Fit all candidates at once; unbiased if there are no other strings. Frequencies may be negative."""
        design = self.design
        solution, steps = self._solved
        diagonal, total = design.inverse_sums
        residual = self.cells - design.scatter(solution) / design.cohorts
        noise, variance = self._noise(residual, design.rank, diagonal, solution)
        found = Decoded(solution, solution, noise, self.skewness_of(residual), {"steps": steps, "load": design.load})
        return found if design.complete else _with_rest(found, design.cohorts**2 * variance * total)

    def projected(self) -> Decoded:
        """Least squares, then the nearest nonnegative frequencies that sum to the share of listed strings."""
        found = self.least_squares()
        if self.design.complete:
            return replace(found, frequencies=nearest_distribution(found.first))
        total = min(1.0, max(0.0, 1 - found.first[-1]))
        listed = total * nearest_distribution(found.first[:-1] / total) if total > 0 else 0 * found.first[:-1]
        return replace(found, frequencies=np.append(listed, 1 - total))

    def nonnegative(self) -> Decoded:
        """Least squares among nonnegative frequencies, scaled down if they sum to more than 1."""
        found = self.least_squares()
        listed = found.first if self.design.complete else found.first[:-1]
        free = replace(self.design, complete=False)
        weight = float(self._norms.mean())  # of the equation that all frequencies sum to 1
        pull = weight if self.design.complete else 0.0

        def product(vector: Floats) -> Floats:
            return np.asarray(free.gram(vector) + pull * vector.sum())

        start = np.maximum(listed, 0.0)
        fitted = nonnegative(product, self._norms + pull, self._totals + pull, start > 0, start)
        if self.design.complete:
            return replace(found, frequencies=fitted / fitted.sum())
        fitted = fitted / max(1.0, fitted.sum())
        return replace(found, frequencies=np.append(fitted, max(0.0, 1 - fitted.sum())))

    def per_candidate(self) -> Decoded:
        """Estimate each candidate from its own cells, for any number; unbiased over the hash functions."""
        alone = self._totals / self._norms
        noise, variance = self._noise(self.cells, 0, 1 / self._norms, alone)
        found = Decoded(alone, alone, noise, self.skewness_of(self.cells))
        if self.design.complete:
            return found
        # a cell that two candidates share is in both estimates: noise other than of reports counts twice
        strings = max(0.0, variance - self.unit / self.design.cohorts)
        squares = float((self.design.scatter(1 / self._norms) ** 2).sum())
        return _with_rest(found, self.design.cohorts**2 * (variance + strings) * squares)

    def roughly(self) -> Decoded:
        """Estimate each candidate from its own cells, with the noise of an average cell: faster, for very many."""
        alone = self._totals / self._norms
        noise = self.design.cohorts**2 * self._cell_variance(self.cells, 0) / self._norms
        return Decoded(alone, alone, np.asarray(noise))

    def selected(self, report: Callable[[int, int], None] = lambda *_: None) -> Decoded:
        """Fit the candidates found to be present together; the others are 0, though their sum may be large.

        `report(round, chosen)` is called in every round with the number of candidates chosen.
        """
        told_apart = self.design.load <= MOST_LOAD and self.design.identifiable
        plain = self.least_squares() if told_apart else self.per_candidate()
        listed = slice(self.design.values)
        found = Decoded(plain.first[listed], plain.first[listed], plain.noise[listed], plain.skewness)
        chosen = np.zeros(self.design.values, bool)
        for number in range(1 if told_apart else _ROUNDS):
            more = chosen | significant(p_values(found.first, found.noise, self.n, found.skewness), RATE)
            report(number, int(more.sum()))
            if (more == chosen).all():
                break
            chosen = self._affordable(more, found)
            found = self._given(chosen)
        details = {"selected": int(chosen.sum()), "rounds": number + 1, "rate": RATE}
        kept = np.where(chosen, np.maximum(found.first, 0.0), 0.0)
        kept /= max(kept.sum(), 1.0)
        # selection biases the sum of the listed: the unlisted share comes from the estimate without selection
        first = plain.first if told_apart else np.append(found.first, plain.first[self.design.values :])
        noise = plain.noise if told_apart else np.append(found.noise, plain.noise[self.design.values :])
        rest = np.clip(first[self.design.values :], 0.0, 1 - kept.sum())
        skewness = plain.skewness if told_apart else found.skewness
        return Decoded(np.append(kept, rest), first, noise, skewness, details)

    def _affordable(self, chosen: Mask, found: Decoded) -> Mask:
        """The chosen, or the most significant of them if least squares cannot tell all of them apart."""
        most = int(MOST_LOAD * self._free_cells)
        if chosen.sum() <= most:
            return chosen
        order = np.argsort(np.where(chosen, -found.first / np.sqrt(found.noise), np.inf))
        kept = np.zeros_like(chosen)
        kept[order[:most]] = True
        return kept

    def _part(self, chosen: Mask) -> CohortCells:
        return replace(self, design=self.design.only(chosen))

    def _given(self, chosen: Mask) -> Decoded:
        """Fit the chosen together, and estimate each of the others from the residual in its cells."""
        part = self._part(chosen)
        solution, _ = part.design.solve(part._totals)
        residual = self.cells - part.design.scatter(solution) / self.design.cohorts
        squared = 1 / (self._norms * self._unfitted(chosen))
        first = self.design.cohorts * self.design.gather(residual) * squared
        first[chosen], squared[chosen] = solution, part.design.inverse_sums[0]
        noise, _ = self._noise(residual, len(solution), squared, first)
        return Decoded(first, first, noise, self.skewness_of(residual))

    def _unfitted(self, chosen: Mask) -> float:
        """The share of another candidate's cells that fitting the chosen leaves free, for random hashes."""
        return 1 - int(chosen.sum()) / self._free_cells


def _with_rest(found: Decoded, noise: float) -> Decoded:
    """Append one entry: the strings that are not among the candidates, and the noise of their share."""
    first = np.append(found.first, 1 - found.first.sum())
    return replace(found, frequencies=first, first=first, noise=np.append(found.noise, noise))
