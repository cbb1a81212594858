"""A summary counts every report once."""

from __future__ import annotations

import numpy as np

from deniable.estimation.channel import PureChannel
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract.checks.payloads import payload_array, payload_key


def check_summary_counts_every_report(m: Mechanism, seed: int) -> None:
    reports = m.privatize(np.random.default_rng(seed).integers(0, m.k, 1000), seed=seed)
    whole = m.summarize(reports)
    one_by_one = sum(m.summarize(reports[i : i + 1]) for i in range(len(reports)))
    assert whole == one_by_one
    assert whole.n == 1000
    if isinstance(getattr(m, "channel", None), PureChannel):
        # a report supports the values under which it is likeliest; one that fits all alike says nothing here
        columns = {y: [m._probability(y, x) for x in range(m.k)] for y in set(map(payload_key, reports.data))}
        telling = [y for y in map(payload_key, reports.data) if len(set(columns[y])) > 1]
        support = m.support_counts(m.summarize(payload_array(m, telling)))
        assert support.tolist() == [sum(columns[y][x] == max(columns[y]) for y in telling) for x in range(m.k)]
