"""A summary counts every report once."""

from __future__ import annotations

import numpy as np

from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.testing.checks.payloads import payload_array, payload_key
from deniable.testing.expectations import require, require_equal


def check_summary_counts_every_report(m: Mechanism, seed: int) -> None:
    """A summary is the sum of those of its reports, and counts support as the channel says."""
    values = np.array(m.domain.all_labels(), object)[np.random.default_rng(seed).integers(0, m.k, 1000)]
    reports = m.privatize(values.tolist(), seed=seed)
    whole, added = m.summarize(reports), m.empty_summary()
    for i in range(len(reports)):
        added = added + m.summarize(reports[i : i + 1])
    require(np.array_equal(whole.counts, added.counts), "a summary must be the sum of those of its reports")
    require_equal((whole.n, added.n), (1000, 1000), "the number of reports")
    if isinstance(getattr(m, "channel", None), PureChannel):
        # a report supports the values under which it is likeliest; one that fits all alike says nothing here
        columns = {y: [m._probability(y, x) for x in range(m.k)] for y in set(map(payload_key, reports.data))}
        telling = [y for y in map(payload_key, reports.data) if len(set(columns[y])) > 1]
        support = m.support_counts(m.summarize(payload_array(m, telling)))
        likeliest = [sum(columns[y][x] == max(columns[y]) for y in telling) for x in range(m.k)]
        require_equal(support.tolist(), likeliest, "the support of each value")
