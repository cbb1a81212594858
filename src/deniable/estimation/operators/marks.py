"""The channel of kept reports that mark sets of values, with one cell per report.

Where a summary does not carry the likelihood (subset selection, unary encoding), the reports themselves
do: Pr[report | value] is, up to a factor that depends on the report alone, `ratio` if the report marks the
value and 1 if not. The factor does not move the maximum of the likelihood, so it is left out. For reports that
mark residues of values (modular subset selection), values are first folded to residues. Reports that give every
value a level (summed histograms) have a factor per level in place of the one ratio.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deniable.core.arrays import Bytes, Floats, Integers, Words
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.operators.residues import ResidueSystem


@dataclass(frozen=True, eq=False)
class MarkOperator:
    """Bitmaps of n reports over k values, as an operator from values to these n reports."""

    rows: Words
    values: int
    ratio: float

    def forward(self, weights: Floats) -> Floats:
        from deniable.kernels.unary import sum_marked

        marked = np.empty(len(self.rows))
        sum_marked(self.rows, weights, marked)
        return np.asarray(weights.sum() + (self.ratio - 1) * marked)

    def adjoint(self, scores: Floats) -> Floats:
        return np.asarray(scores.sum() + (self.ratio - 1) * self._marked(scores))

    def adjoint_squared(self, scores: Floats) -> Floats:
        return np.asarray(scores.sum() + (self.ratio**2 - 1) * self._marked(scores))

    def _marked(self, scores: Floats) -> Floats:
        from deniable.kernels.unary import add_marked

        total = np.zeros(self.values)
        add_marked(self.rows, scores, total)
        return total


@dataclass(frozen=True, eq=False)
class ResidueMarkOperator:
    """Reports by cohort, each marking residues modulo the modulus of its cohort, as an operator from values.

    Values are folded once to the residues of every modulus, which the reports of a cohort mark. `places` lists the
    positions of each cohort's reports among all n.
    """

    system: ResidueSystem  # with all weights 1
    cohorts: tuple[MarkOperator, ...]
    places: tuple[Integers, ...]

    @staticmethod
    def of(k: int, moduli: tuple[int, ...], ratios: tuple[float, ...], rows: Words) -> ResidueMarkOperator:
        """Make the operator from rows of a cohort and its bitmap; `ratios` has one ratio per cohort."""
        system = ResidueSystem(k, moduli, (1.0,) * len(moduli))
        places = tuple(np.flatnonzero(rows[:, 0] == j) for j in range(len(moduli)))
        cohorts = tuple(
            MarkOperator(np.ascontiguousarray(rows[own, 1 : 1 - (-m // 64)]), m, ratio)
            for own, m, ratio in zip(places, moduli, ratios, strict=True)
        )
        return ResidueMarkOperator(system, cohorts, places)

    def forward(self, weights: Floats) -> Floats:
        out = np.empty(sum(len(own) for own in self.places))
        folded = self.system.blocks(self.system.fold(weights))
        for cohort, own, residues in zip(self.cohorts, self.places, folded, strict=True):
            out[own] = cohort.forward(residues)
        return out

    def adjoint(self, scores: Floats) -> Floats:
        pairs = zip(self.cohorts, self.places, strict=True)
        return self.system.tile(np.concatenate([cohort.adjoint(scores[own]) for cohort, own in pairs]))

    def adjoint_squared(self, scores: Floats) -> Floats:
        pairs = zip(self.cohorts, self.places, strict=True)
        return self.system.tile(np.concatenate([cohort.adjoint_squared(scores[own]) for cohort, own in pairs]))


@dataclass(frozen=True, eq=False)
class LevelOperator:
    """Rows of n reports that give each of k values a level, as an operator from values to these n reports."""

    rows: Bytes
    odds: Floats  # for each level, its likelihood ratio of the sender's value to another

    def forward(self, weights: Floats) -> Floats:
        from deniable.kernels.unary import weigh_levels

        out = np.empty(len(self.rows))
        weigh_levels(self.rows, self.odds, weights, out)
        return out

    def adjoint(self, scores: Floats) -> Floats:
        return self._scored(scores, self.odds)

    def adjoint_squared(self, scores: Floats) -> Floats:
        return self._scored(scores, self.odds**2)

    def _scored(self, scores: Floats, table: Floats) -> Floats:
        from deniable.kernels.unary import score_levels

        out = np.zeros(self.rows.shape[1])
        score_levels(self.rows, table, scores, out)
        return out


@dataclass(frozen=True, eq=False)
class BucketMarkOperator:
    """Values are hashed once to their buckets, which the reports of a cohort mark.

    `cohorts` lists the cohorts that have reports, `marks` their reports, and `places` the positions of these among n.
    """

    design: CohortDesign
    cohorts: tuple[int, ...]
    marks: tuple[MarkOperator, ...]
    places: tuple[Integers, ...]

    @staticmethod
    def of(design: CohortDesign, ratio: float, rows: Words) -> BucketMarkOperator:
        """Make the operator from rows of a cohort and its bits; `ratio` is the likelihood ratio of a set bit."""
        order = np.argsort(rows[:, 0], kind="stable")
        cohorts, starts = np.unique(rows[order, 0], return_index=True)
        places = tuple(np.split(order, starts[1:]))
        marks = tuple(MarkOperator(np.ascontiguousarray(rows[own, 1:]), design.buckets, ratio) for own in places)
        plain = replace(design, centre=0.0, complete=False)
        return BucketMarkOperator(plain, tuple(cohorts.tolist()), marks, places)

    def forward(self, weights: Floats) -> Floats:
        out = np.empty(sum(map(len, self.places)))
        cells = self.design.scatter(weights)
        for cohort, marks, own in zip(self.cohorts, self.marks, self.places, strict=True):
            out[own] = marks.forward(cells[cohort])
        return out

    def adjoint(self, scores: Floats) -> Floats:
        return self._gathered([marks.adjoint(scores[own]) for marks, own in zip(self.marks, self.places, strict=True)])

    def adjoint_squared(self, scores: Floats) -> Floats:
        pairs = zip(self.marks, self.places, strict=True)
        return self._gathered([marks.adjoint_squared(scores[own]) for marks, own in pairs])

    def _gathered(self, rows: list[Floats]) -> Floats:
        cells = np.zeros((self.design.cohorts, self.design.buckets))
        cells[list(self.cohorts)] = rows
        return self.design.gather(cells)
