"""Costs of the cyclotomic mechanisms: a report by table, a whole histogram by Fourier transforms."""

from __future__ import annotations

import math
from functools import partial

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values, zipf_counts
from benchmarks.goals import OURS, TIME, AtMost, Measured, timed
from benchmarks.limits import KEYSTREAM
from benchmarks.registry import Bench, Row

K, EPSILON = 22_000, 2.0
USERS, REPORTS, RUNS = 2_000_000, 10_000, 30
LOSS = "MSE / optimum"
BITS = "bits"
NS, MS = 1e-9, 1e-3


def privatize(bench: Bench, name: str) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism = dn.mechanism(name, k=K, epsilon=EPSILON)
    values = uniform_values(K, USERS)
    measured = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=USERS)
    return measured | Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})


def decode(_: Bench, name: str) -> Measured:
    """The unbiased estimate with its standard errors, its mean squared error over many runs, and the bits."""
    mechanism = dn.mechanism(name, k=K, epsilon=EPSILON)
    truth = zipf_counts(K, REPORTS)
    summaries = [dn.simulate(mechanism, truth, seed=seed) for seed in range(RUNS)]
    times = timed(medians({OURS: lambda: mechanism.estimate(summaries[0], "unbiased")}))
    errors = [((mechanism.unbiased(summary) - truth / REPORTS) ** 2).mean() for summary in summaries]
    optimum = 4 * math.exp(EPSILON) / (REPORTS * math.expm1(EPSILON) ** 2)
    loss = float(sum(errors)) / RUNS / optimum
    return times | Measured({OURS: {LOSS: loss, BITS: float(mechanism.report_bits)}})


ROWS = (
    Row("CSR privatize, k=22000", partial(privatize, name="csr"), (AtMost(30 * NS, beside=KEYSTREAM),)),
    Row(
        "CSR decode, k=22000, n=10,000, eps=2",
        partial(decode, name="csr"),
        (AtMost(10 * MS), AtMost(1.01, LOSS), AtMost(17, BITS)),
    ),
    Row("CLH privatize, k=22000", partial(privatize, name="clh"), (AtMost(250 * NS, beside=KEYSTREAM),)),
    Row(
        "CLH decode, k=22000, n=10,000, eps=2",
        partial(decode, name="clh"),
        (AtMost(12 * MS), AtMost(1.01, LOSS), AtMost(3, BITS)),
    ),
)
