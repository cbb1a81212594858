"""Costs per user: making a report and counting it.

Goals are stated in time. The required ratio to the best peer is that peer's time on the machine where the
goals were set, divided by the goal, so it applies on any machine.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import BINCOUNT, KEYSTREAM
from benchmarks.registry import Bench, Row

USERS = 10_000_000
PEER_USERS = 20_000  # a peer's client takes up to 20 µs per user
PEER_REPORTS = 500_000  # enough to hide the cost per value of a peer's server
EPSILON = 1.0
NS = 1e-9
PEERS = ("pure-ldp", "multi-freq-ldpy")


def privatize(bench: Bench, name: str, k: int, peers: bool = True) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism = dn.mechanism(name, k=k, epsilon=EPSILON)
    values = uniform_values(k, USERS)
    measured = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=USERS)
    measured |= Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})
    if not peers:
        return measured
    few = {"values": values[:PEER_USERS]}
    return measured | bench.peers.run(f"{name} privatize", few, per=PEER_USERS, k=k, epsilon=EPSILON).measured


def aggregate(bench: Bench, name: str, k: int) -> Measured:
    """Counts of many reports, beside np.bincount of the same number of int64."""
    mechanism = dn.mechanism(name, k=k, epsilon=EPSILON)
    reports = mechanism.privatize(uniform_values(k, USERS))
    plain = reports.data.astype(np.int64)
    jobs = {OURS: lambda: mechanism.summarize(reports), BINCOUNT: lambda: np.bincount(plain, minlength=k)}
    few = {"reports": plain[:PEER_REPORTS]}
    theirs = bench.peers.run(f"{name} aggregate", few, per=PEER_REPORTS, k=k, epsilon=EPSILON)
    return timed(medians(jobs), per=USERS) | theirs.measured


GRR_PRIVATIZE = AtMost(8 * NS, beside=KEYSTREAM)
GRR_AGGREGATE = AtMost(2.5 * NS, beside=BINCOUNT, or_beside=True)

ROWS = (
    Row("GRR privatize, k=100", partial(privatize, name="grr", k=100), (GRR_PRIVATIZE, Faster(47, PEERS))),
    Row("GRR privatize, k=22000", partial(privatize, name="grr", k=22_000), (GRR_PRIVATIZE, Faster(66, PEERS))),
    Row("GRR privatize, k=2^24", partial(privatize, name="grr", k=2**24, peers=False), (GRR_PRIVATIZE,)),
    Row("GRR aggregate, k=100", partial(aggregate, name="grr", k=100), (GRR_AGGREGATE, Faster(50, PEERS))),
    Row("GRR aggregate, k=22000", partial(aggregate, name="grr", k=22_000), (GRR_AGGREGATE, Faster(50, PEERS))),
)
