"""The channel of kept reports that mark buckets of their cohort, each a cell of its own (see kept_reports.py)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deniable.estimation.cohort_design import CohortDesign
from deniable.estimation.kept_reports import MarkOperator

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BucketMarkOperator:
    """Values go to their buckets once; within a cohort the reports mark these.

    `places` says which of the n reports are those of each cohort in `cohorts`, which has reports in `marks`.
    """

    design: CohortDesign
    cohorts: tuple[int, ...]
    marks: tuple[MarkOperator, ...]
    places: tuple[npt.NDArray[np.int64], ...]

    @staticmethod
    def of(design: CohortDesign, ratio: float, rows: npt.NDArray[np.uint64]) -> BucketMarkOperator:
        """From rows of the cohort, then its bits; a set bit is `ratio` times as likely in the value's bucket."""
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
