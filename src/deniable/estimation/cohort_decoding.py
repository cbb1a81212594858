"""From the cells of cohorts to the frequencies of candidate strings, with what the candidates leave out.

Up to half as many candidates as there are equations, least squares tells them apart. Beyond, each candidate is
estimated by itself from the cells it is hashed to: unbiased over the choice of the hash functions, with the other
strings that share its cells as additional noise. The candidates found to be present are then fitted together, which
takes their part out of the noise of the others, and so on until no more are found.

Errors come from the cells themselves. What is left of them after the fit is the noise of the reports and whatever
strings nobody listed put there, and both are what the estimates suffer from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.estimate import RATE
from deniable.estimation.cohort_design import CohortDesign
from deniable.estimation.pivoting import nonnegative
from deniable.estimation.presence import p_values, significant
from deniable.estimation.simplex_floats import nearest_distribution

Floats = npt.NDArray[np.float64]

MOST_LOAD = 0.5  # candidates for each equation up to which least squares is used
_ROUNDS = 8


@dataclass(frozen=True, eq=False)
class Decoded:
    """Frequencies by one method; the unbiased estimates behind them and their n Var at frequency 0."""

    frequencies: Floats
    first: Floats
    noise: Floats
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class CohortCells:
    """The estimated shares of users in the cells, centred as the design says, and how much reports alone vary.

    `unit` is n C times the variance of a cell when no value is frequent.
    """

    design: CohortDesign
    cells: Floats
    n: int
    unit: float

    @cached_property
    def _totals(self) -> Floats:
        """C X cells: what candidates have in their cells."""
        return self.design.cohorts * self.design.gather(self.cells)

    @cached_property
    def _norms(self) -> Floats:
        """|X_s|^2."""
        design = self.design
        ones = (design.table < design.buckets).sum(0)
        return np.asarray(ones * (1 - 2 * design.centre) + design.cohorts * design.buckets * design.centre**2)

    @property
    def _free_cells(self) -> int:
        # in each cohort the cells of one hash add up to what its size says
        return self.design.cohorts * (self.design.buckets - (self.design.hashes == 1))

    def _cell_variance(self, left: Floats, fitted: int) -> float:
        """n times the variance of a cell: what a fit leaves of the cells, but no less than reports alone give."""
        free = max(self._free_cells - fitted, 1)
        return max(self.n * float((left**2).sum()) / free, self.unit / self.design.cohorts)

    @cached_property
    def _solved(self) -> tuple[Floats, int]:
        design = self.design
        if not design.complete:
            return design.solve(self._totals)
        even = np.full(design.values, 1 / design.values)
        moved, steps = design.solve(self._totals - design.gather(design.scatter(even)))
        return even + moved, steps

    def least_squares(self) -> Decoded:
        """All candidates fitted at once; unbiased if they are all the strings there are. May be negative."""
        design = self.design
        solution, steps = self._solved
        variance = self._cell_variance(self.cells - design.scatter(solution) / design.cohorts, design.rank)
        diagonal, total = design.spread
        scale = design.cohorts**2 * variance
        found = Decoded(solution, solution, scale * diagonal, {"steps": steps, "load": design.load})
        return found if design.complete else _with_rest(found, scale * total)

    def projected(self) -> Decoded:
        """Least squares, then the nearest frequencies that are not negative and add up to what is not unlisted."""
        found = self.least_squares()
        if self.design.complete:
            return replace(found, frequencies=nearest_distribution(found.first))
        total = min(1.0, max(0.0, 1 - found.first[-1]))
        listed = total * nearest_distribution(found.first[:-1] / total) if total > 0 else 0 * found.first[:-1]
        return replace(found, frequencies=np.append(listed, 1 - total))

    def nonnegative(self) -> Decoded:
        """Least squares among frequencies that are not negative, scaled down if they add up to more than 1."""
        found = self.least_squares()
        listed = found.first if self.design.complete else found.first[:-1]
        free = replace(self.design, complete=False)
        weight = float(self._norms.mean())  # of the sum of all, where it is known to be 1
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
        """Each candidate from its own cells; unbiased over the hash functions. For any number of candidates."""
        alone = self._totals / self._norms
        scale = self.design.cohorts**2 * self._cell_variance(self.cells, 0)
        found = Decoded(alone, alone, scale / self._norms)
        if self.design.complete:
            return found
        return _with_rest(found, scale * float((self.design.scatter(1 / self._norms) ** 2).sum()))

    def selected(self, report: Callable[[int, int], None] = lambda *_: None) -> Decoded:
        """The candidates that are present, fitted together; the others are 0, though what they have may be much.

        `report` hears of every round and how many are chosen.
        """
        chosen = np.zeros(self.design.values, bool)
        for number in range(_ROUNDS):
            found = self._given(chosen)
            more = chosen | significant(p_values(found.first, found.noise, self.n), RATE)
            report(number, int(more.sum()))
            if (more == chosen).all():
                break
            chosen = self._affordable(more, found)
        found = self._given(chosen)
        details = {"selected": int(chosen.sum()), "rounds": number + 1, "rate": RATE}
        kept = np.where(chosen, np.maximum(found.first, 0.0), 0.0)
        kept /= max(kept.sum(), 1.0)
        if self.design.complete:
            return replace(found, frequencies=kept, details=details)
        rest = 1 - found.first.sum()
        return Decoded(
            np.append(kept, min(max(rest, 0.0), 1 - kept.sum())),
            np.append(found.first, rest),
            np.append(found.noise, self._total_noise(chosen, found)),
            details,
        )

    def _affordable(self, chosen: npt.NDArray[np.bool_], found: Decoded) -> npt.NDArray[np.bool_]:
        """No more of them than least squares can tell apart: those that stand out most."""
        most = int(MOST_LOAD * self._free_cells)
        if chosen.sum() <= most:
            return chosen
        order = np.argsort(np.where(chosen, -found.first / np.sqrt(found.noise), np.inf))
        kept = np.zeros_like(chosen)
        kept[order[:most]] = True
        return kept

    def _part(self, chosen: npt.NDArray[np.bool_]) -> CohortCells:
        table = np.ascontiguousarray(self.design.table[:, chosen])
        return replace(self, design=replace(self.design, table=table, complete=False))

    def _given(self, chosen: npt.NDArray[np.bool_]) -> Decoded:
        """The chosen fitted together, and each of the others from what they leave in its cells."""
        if not chosen.any():
            alone = replace(self, design=replace(self.design, complete=False)).per_candidate()
            return Decoded(alone.first[:-1], alone.first[:-1], alone.noise[:-1])
        part = self._part(chosen)
        solution, _ = part.design.solve(part._totals)
        left = self.cells - part.design.scatter(solution) / self.design.cohorts
        scale = self.design.cohorts**2 * self._cell_variance(left, len(solution))
        first = self.design.cohorts * self.design.gather(left) / self._norms
        noise = scale / self._norms
        first[chosen] = solution
        noise[chosen] = scale * part.design.spread[0]
        return Decoded(first, first, noise)

    def _total_noise(self, chosen: npt.NDArray[np.bool_], found: Decoded) -> float:
        """n Var of the sum of what `_given` says of all candidates: of the cells' weights in it."""
        weights = self.design.cohorts * self.design.scatter(np.where(chosen, 0.0, 1 / self._norms))
        if chosen.any():
            part = self._part(chosen).design
            left, _ = part.solve(self.design.cohorts - part.gather(weights))
            weights = weights + part.scatter(left)
        # a candidate's own noise is that of a cell times C^2/|X_s|^2
        variance = float(np.median(found.noise[~chosen] * self._norms[~chosen])) / self.design.cohorts**2
        return variance * float((weights**2).sum())


def _with_rest(found: Decoded, noise: float) -> Decoded:
    """One more entry at the end: the strings that are not among the candidates, and the noise of their share."""
    first = np.append(found.first, 1 - found.first.sum())
    return replace(found, frequencies=first, first=first, noise=np.append(found.noise, noise))
