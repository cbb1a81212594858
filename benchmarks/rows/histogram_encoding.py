"""Costs of histogram encoding: making a vector of noisy levels or bits, and adding vectors."""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import COPY, KEYSTREAM
from benchmarks.registry import Bench, Row

USERS = 10_000
PEER_USERS = 2_000  # a peer's report is a vector of k floats
PEER_USERS_OF_THE = 50  # it compares floats with theta one by one
VALUES = 1024
EPSILON = 1.0
PEERS = ("pure-ldp",)


def privatize(bench: Bench, name: str) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism = dn.mechanism(name, k=VALUES, epsilon=EPSILON)
    values = uniform_values(VALUES, USERS)
    ours = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=USERS)
    words = Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})
    few = {"values": values[:PEER_USERS]}
    theirs = bench.peers.run("he privatize", few, per=PEER_USERS, k=VALUES, epsilon=EPSILON)
    return ours | words | theirs.measured


def aggregate(bench: Bench, name: str, users: int) -> Measured:
    """Sums of many reports, beside a copy of the same number of bytes; peers add, or compare, vectors of floats."""
    mechanism = dn.mechanism(name, k=VALUES, epsilon=EPSILON)
    reports = mechanism.privatize(uniform_values(VALUES, USERS))
    ours = timed(medians({OURS: lambda: mechanism.summarize(reports)}), per=USERS)
    copied = Measured({COPY: {TIME: reports.data.nbytes / USERS * bench.limits[COPY]}})
    noisy = np.random.default_rng(0).laplace(scale=2 / EPSILON, size=(users, VALUES))
    theirs = bench.peers.run(f"{name} aggregate", {"reports": noisy}, per=users, k=VALUES, epsilon=EPSILON)
    return ours | copied | theirs.measured


ROWS = (
    # 15 ns per element, the goal for all discrete noise
    Row(
        "SHE privatize, k=1024",
        partial(privatize, name="she"),
        (AtMost(VALUES * 15e-9, beside=KEYSTREAM), Faster(1, PEERS)),
    ),
    Row(
        "SHE aggregate, k=1024",
        partial(aggregate, name="she", users=PEER_USERS),
        (AtMost(1e-6, beside=COPY), Faster(1, PEERS)),
    ),
    Row("THE privatize, k=1024", partial(privatize, name="the"), (AtMost(1e-6, beside=KEYSTREAM), Faster(13, PEERS))),
    Row(
        "THE aggregate, k=1024",
        partial(aggregate, name="the", users=PEER_USERS_OF_THE),
        (AtMost(1e-7, beside=COPY), Faster(15, PEERS)),
    ),
)
