"""O-RAPPOR and the count mean sketch: what is refused, and why."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import deniable as dn

OPEN = dn.Domain.open()


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("orappor", {"hashes": 0}, "hashes must be a whole number from 1"),
        ("orappor", {"hashes": 33}, "hashes must"),
        ("orappor", {"hashes": 1.5}, "hashes must"),
        ("cms", {"hashes": 2}, "parameters must be known to cms"),
        ("cms", {"cohorts": 1, "buckets": 2**25}, "buckets must be at most 16777216 for cms"),
        ("hcms", {"buckets": 48}, "buckets must be a power of two, got 48"),
        ("hcms", {"buckets": 1}, "buckets must be a whole number from 2"),
    ],
    ids=str,
)
def test_designs_that_cannot_work_are_refused_in_one_line(name: str, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=says) as caught:
        dn.mechanism(name, domain=OPEN, epsilon=1.0, **arguments)
    assert "\n" not in str(caught.value)


def test_a_mechanism_for_closed_domains_names_those_for_open_ones() -> None:
    with pytest.raises(dn.InvalidArgument, match=r"be closed for grr.* Open strings are for cms, hcms, orappor, orr"):
        dn.mechanism("grr", domain=OPEN, epsilon=1.0)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([[4, 1]], "position 0 must name a cohort below 4, got 4"),
        ([[0, 1], [1, 8]], "position 1 must have no bit set beyond bit 2"),
        ([[0, -1]], "must not be negative"),
        ([[0, 1, 1]], "a cohort and 1 words"),
        ([0, 1], "a cohort and 1 words"),
    ],
    ids=str,
)
def test_reports_no_device_sends_are_refused(rows: list[Any], says: str) -> None:
    m = dn.mechanism("orappor", k=5, epsilon=2.0, cohorts=4, buckets=3)
    with pytest.raises(dn.MalformedReport, match=says):
        m.summarize(np.array(rows))
    with pytest.raises(dn.MalformedReport, match="must have 1 bytes"):
        m.decode(b"ab")


def test_summaries_no_reports_make_are_refused() -> None:
    m = dn.mechanism("cms", k=5, epsilon=2.0, cohorts=4, buckets=3)
    good = m.summarize(m.privatize([0, 1, 2, 3], seed=1))
    more_bits, other_n = good.counts.copy(), good.counts.copy()
    more_bits[1] = more_bits[0] + 1
    other_n[0] += 1
    for counts in (more_bits, other_n, good.counts[:-1]):
        with pytest.raises(dn.MalformedSummary):
            m.estimate(dn.Summary(counts, 4, m.fingerprint))


def test_thresholds_never_exceed_epsilon_for_many_hashes() -> None:
    for hashes in (1, 3, 8, 32):
        for epsilon in (0.01, 1.0, 30.0):
            sizes = {"cohorts": 8, "buckets": 128, "candidates": 8, "hashes": hashes}
            m = dn.mechanism("orappor", domain=OPEN, epsilon=epsilon, **sizes)
            assert m.guarantee().slack >= 0
            fewer = Fraction(m.thresholds["flip"] - 2**32, 2**64)
            assert fewer == 0 or (1 / fewer - 1) ** m.distance > m.ratio()
