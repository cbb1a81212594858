"""Costs of Bloom filters and sketches: a report of a value whose index is known, and counting it.

The peer has the count mean sketch and its Hadamard form; its clients hash strings, ours hash digests or indices.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import COPY, KEYSTREAM
from benchmarks.registry import Bench, Row

EPSILON, COHORTS, K = 4.0, 256, 10_000
PEER, PEER_USERS = ("pure-ldp",), 2_000
NS = 1e-9


def made(name: str, buckets: int) -> Any:
    """A design with this number of buckets, for K values."""
    return dn.mechanism(name, k=K, epsilon=EPSILON, cohorts=COHORTS, buckets=buckets)


def theirs(bench: Bench, job: str, name: str, values: Any, buckets: int) -> Measured:
    """The peer's time per user, where it has the mechanism."""
    if name == "orappor":
        return Measured()
    sizes = {"cohorts": COHORTS, "buckets": buckets, "epsilon": EPSILON, "hadamard": name == "hcms"}
    return bench.peers.run(f"sketch {job}", {"values": values[:PEER_USERS]}, per=PEER_USERS, **sizes).measured


def privatize(bench: Bench, name: str, buckets: int, users: int) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism, values = made(name, buckets), uniform_values(K, users)
    measured = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=users)
    measured |= Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})
    return measured | theirs(bench, "privatize", name, values, buckets)


def aggregate(bench: Bench, name: str, buckets: int, users: int) -> Measured:
    """Counts of many reports, beside a copy of the same number of bytes."""
    mechanism, values = made(name, buckets), uniform_values(K, users)
    reports = mechanism.privatize(values)
    measured = timed(medians({OURS: lambda: mechanism.summarize(reports)}), per=users)
    measured |= Measured({COPY: {TIME: reports.data.nbytes / users * bench.limits[COPY]}})
    return measured | theirs(bench, "aggregate", name, values, buckets)


ROWS = (
    Row(
        "ORAPPOR privatize, 128 buckets",
        partial(privatize, name="orappor", buckets=128, users=200_000),
        (AtMost(400 * NS, beside=KEYSTREAM),),
    ),
    Row(
        "ORAPPOR aggregate, 128 buckets",
        partial(aggregate, name="orappor", buckets=128, users=200_000),
        (AtMost(50 * NS, beside=COPY),),
    ),
    Row(
        "CMS privatize, 1024 buckets",
        partial(privatize, name="cms", buckets=1024, users=100_000),
        (AtMost(1000 * NS, beside=KEYSTREAM), Faster(10, PEER)),
    ),
    Row(
        "CMS aggregate, 1024 buckets",
        partial(aggregate, name="cms", buckets=1024, users=100_000),
        (AtMost(200 * NS, beside=COPY), Faster(20, PEER)),
    ),
    Row(
        "HCMS privatize, 1024 buckets",
        partial(privatize, name="hcms", buckets=1024, users=1_000_000),
        (AtMost(40 * NS, beside=KEYSTREAM), Faster(50, PEER)),
    ),
    Row(
        "HCMS aggregate, 1024 buckets",
        partial(aggregate, name="hcms", buckets=1024, users=1_000_000),
        (AtMost(5 * NS), Faster(50, PEER)),
    ),
)
