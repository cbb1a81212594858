"""Costs of unary encoding: making a bit vector, counting it, and the constrained decoding of the counts."""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values, zipf_counts
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import COPY, KEYSTREAM
from benchmarks.registry import Bench, Row
from deniable.estimation.methods.composite import most_likely_bits

USERS = 100_000
PEER_USERS = 2_000  # a peer's report is a vector of k numbers
VALUES = 1024
EPSILON = 1.0
PEERS = ("pure-ldp", "multi-freq-ldpy")

PASSES = "passes"
RESIDUAL = "KKT residual"


def privatize(bench: Bench, name: str) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism = dn.mechanism(name, k=VALUES, epsilon=EPSILON)
    values = uniform_values(VALUES, USERS)
    ours = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=USERS)
    words = Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})
    few = {"values": values[:PEER_USERS]}
    theirs = bench.peers.run(f"{name} privatize", few, per=PEER_USERS, k=VALUES, epsilon=EPSILON)
    return ours | words | theirs.measured


def aggregate(bench: Bench, name: str) -> Measured:
    """Counts of many packed reports, beside a copy of the same number of bytes; peers count vectors of numbers."""
    mechanism = dn.mechanism(name, k=VALUES, epsilon=EPSILON)
    reports = mechanism.privatize(uniform_values(VALUES, USERS))
    ours = timed(medians({OURS: lambda: mechanism.summarize(reports)}), per=USERS)
    copied = Measured({COPY: {TIME: reports.data.nbytes / USERS * bench.limits[COPY]}})
    vectors = np.unpackbits(reports.data[:PEER_USERS].view(np.uint8), axis=1, bitorder="little")[:, :VALUES]
    theirs = bench.peers.run(f"{name} aggregate", {"reports": vectors}, per=PEER_USERS, k=VALUES, epsilon=EPSILON)
    return ours | copied | theirs.measured


def composite(_: Bench, name: str, k: int, n: int) -> Measured:
    """The constrained maximum of the composite likelihood: its passes over the counts, and its residual."""
    mechanism = dn.mechanism(name, k=k, epsilon=EPSILON)
    counts, channel = dn.simulate(mechanism, zipf_counts(k, n)).counts, mechanism.channel
    found = most_likely_bits(counts, n, channel)
    exactness = Measured({OURS: {PASSES: found.passes, RESIDUAL: found.residual}})
    return timed(medians({OURS: lambda: most_likely_bits(counts, n, channel)})) | exactness


DECODED = (AtMost(20, PASSES), AtMost(1e-10, RESIDUAL))

ROWS = (
    Row("OUE privatize, k=1024", partial(privatize, name="oue"), (AtMost(1e-6, beside=KEYSTREAM), Faster(13, PEERS))),
    Row("OUE aggregate, k=1024", partial(aggregate, name="oue"), (AtMost(1e-7, beside=COPY), Faster(15, PEERS))),
    Row("k-RAPPOR composite likelihood, k=100,000", partial(composite, name="sue", k=100_000, n=1_000_000), DECODED),
    Row("OUE composite likelihood, k=100,000", partial(composite, name="oue", k=100_000, n=1_000_000), DECODED),
)
