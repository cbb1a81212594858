"""Costs of hashed randomised response: a report of a string or of a listed value, and decoding many candidates."""

from __future__ import annotations

import multiprocessing
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values, zipf_counts
from benchmarks.goals import OURS, TIME, AtMost, Measured, timed
from benchmarks.limits import KEYSTREAM
from benchmarks.registry import Bench, Row

EPSILON, COHORTS, BUCKETS = 4.0, 256, 1024
USERS, REPORTS, PRESENT = 1_000_000, 1_000_000, 20_000
MEMORY = "GiB"
NS = 1e-9


def of_strings() -> dn.HashedResponse:
    """A design for a hundred thousand candidates."""
    return dn.HashedResponse(dn.Domain.open(), EPSILON, cohorts=COHORTS, buckets=BUCKETS, candidates=100_000)


def privatize(bench: Bench, *, strings: bool) -> Measured:
    """Reports of values whose indices or digests are known, beside the keystream words they take."""
    mechanism = of_strings() if strings else dn.mechanism("orr", k=22_000, epsilon=EPSILON)
    values = uniform_values(22_000, USERS)
    if strings:
        values = mechanism.domain.indices([str(value) for value in range(22_000)])[values]
    from deniable.randomness.keystream import Keystream

    measured = timed(medians({OURS: lambda: mechanism.payloads(values, Keystream.fresh())}), per=USERS)
    return measured | Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})


def decode_once(candidates: int, method: str | None) -> tuple[float, float]:
    """Seconds for one estimate, including the hashing of strings, and the peak memory of the process."""
    mechanism = of_strings()
    names = [f"site-{number}.example" for number in range(candidates)]
    summary = dn.simulate(mechanism, zipf_counts(PRESENT, REPORTS), seed=0, candidates=names[:PRESENT])
    mechanism.estimate(summary, method, candidates=names[:2000])  # compile before timing
    started = time.process_time()
    mechanism.estimate(summary, method, candidates=names)
    return time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def decode(_: Bench, candidates: int, method: str | None) -> Measured:
    """Run in a separate process, to measure its memory alone."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as alone:
        runs = [alone.submit(decode_once, candidates, method).result() for _ in range(3 if candidates < 10**6 else 1)]
    seconds, memory = np.median([run[0] for run in runs]), max(run[1] for run in runs)
    return Measured({OURS: {TIME: float(seconds), MEMORY: memory}})


ROWS = (
    Row("ORR privatize, k=22000", partial(privatize, strings=False), (AtMost(250 * NS, beside=KEYSTREAM),)),
    Row("ORR privatize, strings", partial(privatize, strings=True), (AtMost(20 * NS, beside=KEYSTREAM),)),
    Row(
        "ORR decode, 100,000 candidates by least squares, n=1,000,000",
        partial(decode, candidates=100_000, method="least-squares"),
        (AtMost(5.0), AtMost(1.0, MEMORY)),
    ),
    Row(
        "ORR decode, 1,000,000 candidates, n=1,000,000",
        partial(decode, candidates=1_000_000, method=None),
        (AtMost(30.0), AtMost(4.0, MEMORY)),
    ),
)
