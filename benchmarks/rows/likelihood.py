"""Costs of maximum likelihood with fewer users than values, beside generalised least squares."""

from __future__ import annotations

from functools import partial

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import zipf_counts
from benchmarks.goals import OURS, AtMost, Measured, timed
from benchmarks.registry import Bench, Row

K, REPORTS = 22_000, 10_000
GAP = "certified gap"
LEAST_SQUARES = "gls"
HARD = (("hr", 2.0), ("hpgr", 4.0), ("rhr", 4.0), ("flh", 5.0), ("olh", 5.0), ("clh", 5.0), ("csr", 5.0))


def maximum(_: Bench, name: str, epsilon: float) -> Measured:
    """The most likely distribution with its certificate, and the weighted estimate from the same reports."""
    mechanism = dn.mechanism(name, k=K, epsilon=epsilon)
    summary = dn.simulate(mechanism, zipf_counts(K, REPORTS), seed=1)
    found = mechanism.estimate(summary, "mle")
    jobs = {
        OURS: lambda: mechanism.estimate(summary, "mle"),
        LEAST_SQUARES: lambda: mechanism.estimate(summary, "gls"),
    }
    return timed(medians(jobs, repeats=3)) | Measured({OURS: {GAP: found.details["gap"]}})


ROWS = tuple(
    Row(
        f"{name.upper()} mle, k={K}, n={REPORTS:,}, eps={epsilon:g}",
        partial(maximum, name=name, epsilon=epsilon),
        (AtMost(5.0, beside=LEAST_SQUARES), AtMost(1e-12, GAP)),
    )
    for name, epsilon in HARD
)
