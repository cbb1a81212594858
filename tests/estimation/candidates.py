"""Strings in cohorts, simulated: what the tests of decoding are about."""

from __future__ import annotations

from typing import Any

import numpy as np

import deniable as dn
from deniable.estimation.cohorts.decoding import CohortCells
from deniable.estimation.cohorts.design import CohortDesign

DOMAIN = dn.Domain.open()


def strings(count: int, of: object = "") -> list[str]:
    return [f"string {number} of {of}" for number in range(count)]


def made(cohorts: int, buckets: int, epsilon: float = 2.0, seed: int = 0) -> dn.HashedResponse:
    return dn.HashedResponse(DOMAIN, epsilon, cohorts=cohorts, buckets=buckets, candidates=1, seed=seed)


def zipf(count: int, n: int) -> np.ndarray:
    shares = 1 / np.arange(1, count + 1)
    true = np.floor(n * shares / shares.sum()).astype(np.int64)
    true[0] += n - true.sum()
    return true


def cells_of(m: dn.HashedResponse, listed: list[str], true: Any, users: list[str], **options: Any) -> CohortCells:
    summary = dn.simulate(m, true, seed=options.pop("seed", 0), candidates=users)
    return m.cohort_cells(summary, m.functions.design(DOMAIN.indices(listed), complete=options.pop("complete", False)))


def dense(design: CohortDesign) -> np.ndarray:
    """X written out from its definition, a row for each value."""
    x = np.full((design.values, design.cohorts, design.buckets), -design.centre)
    for f, row in enumerate(design.table.tolist()):
        for value, bucket in enumerate(row):
            if bucket < design.buckets:
                x[value, f // design.hashes, bucket] = 1 - design.centre
    return x.reshape(design.values, -1)
