"""Costs of Projective Geometry Response: a report by table, a histogram with our geometry and with the published one.

The authors' C++, not run here, takes 75, 42, 179, 37, 235, 1612 and 23 ms at the published geometries.
"""

from __future__ import annotations

import math
from functools import partial

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, TIME, AtMost, Measured, timed
from benchmarks.limits import KEYSTREAM
from benchmarks.registry import Bench, Row

K, EPSILON = 22_000, 2.0
USERS, REPORTS = 2_000_000, 10_000
LOSS = "variance / optimum"
NS, MS = 1e-9, 1e-3
EPSILONS = (2, 2.5, 3, 3.5, 4, 4.5, 5)
POINTS = (177_156, 88_741, 292_561, 52_060, 208_920, 922_180, 22_953)  # of the published geometries


def privatize(bench: Bench) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism = dn.mechanism("pgr", k=K, epsilon=EPSILON)
    values = uniform_values(K, USERS)
    measured = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=USERS)
    return measured | Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})


def decode(_: Bench, epsilon: float, rule: str) -> Measured:
    """The unbiased estimate with its standard errors, and its variance at f = 0 over the asymptotic optimum."""
    mechanism = dn.mechanism("pgr", k=K, epsilon=epsilon, rule=rule)
    summary = mechanism.summarize(mechanism.privatize(uniform_values(K, REPORTS)))
    loss = mechanism.variance(0.0) / (4 * math.exp(epsilon) / math.expm1(epsilon) ** 2)
    return timed(medians({OURS: lambda: mechanism.estimate(summary, "unbiased")})) | Measured({OURS: {LOSS: loss}})


def decoding(epsilon: float, rule: str, most: float) -> Row:
    """A row for one geometry."""
    job = f"PGR decode, k={K}, n={REPORTS:,}, eps={epsilon:g}, {rule} geometry"
    return Row(job, partial(decode, epsilon=epsilon, rule=rule), (AtMost(most), AtMost(1.07, LOSS)))


ROWS = (
    Row(f"PGR privatize, k={K}", privatize, (AtMost(50 * NS, beside=KEYSTREAM),)),
    *(decoding(epsilon, "weighed", 12 * MS) for epsilon in EPSILONS),
    *(
        decoding(epsilon, "published", (12 if points <= 300_000 else 150) * MS)
        for epsilon, points in zip(EPSILONS, POINTS, strict=True)
    ),
)
