"""Users drawn into the buckets of cohorts, for simulations that make no single report."""

from __future__ import annotations

import numpy as np

from deniable.core.arrays import Counts, Indices
from deniable.mechanisms.cohorts.functions import CohortFunctions

_AT_ONCE = 2**22  # cells of the table of buckets


def users_in_buckets(
    functions: CohortFunctions, indices: Indices, true_counts: Counts, generator: np.random.Generator
) -> tuple[Counts, Counts]:
    """The number of users in each bucket of each cohort, and in each cohort, if every user draws one."""
    from deniable.kernels.cohort_hashes import count_each, count_users

    cohorts, hashes = functions.cohorts, functions.hashes
    users = np.zeros((cohorts, functions.buckets + 1), np.int64)  # the last for repeated hashes
    sizes = np.zeros(cohorts, np.int64)
    even = np.full(cohorts, 1 / cohorts)
    several = max(1, _AT_ONCE // cohorts)
    for start in range(0, len(indices), several):
        part = slice(start, start + several)
        own, table = true_counts[part], functions.table(indices[part])
        if own.sum() < len(own) * cohorts:  # few users: one by one
            drawn = generator.integers(cohorts, size=int(own.sum()))
            sizes += np.bincount(drawn, minlength=cohorts)
            count_each(table, hashes, np.repeat(np.arange(len(own)), own), drawn, users)
        else:
            split = np.ascontiguousarray(generator.multinomial(own, even).T)  # [cohort, value]
            sizes += split.sum(1)
            count_users(table, hashes, split, users)
    return users[:, :-1], sizes
