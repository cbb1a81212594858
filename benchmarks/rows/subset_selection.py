"""Costs of subset selection: making a set, counting it, and encoding it at the information bound.

The required ratio to the peer is the peer's time on the machine where the goals were set, divided by the goal.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import COPY, KEYSTREAM
from benchmarks.registry import Bench, Row

EPSILON = 2.0
PEER = ("multi-freq-ldpy",)
US = 1e-6
CODED = 500

BEYOND = "bytes beyond the information bound"


def privatize(bench: Bench, k: int, n: int, peer_users: int) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism = dn.mechanism("ss", k=k, epsilon=EPSILON)
    values = uniform_values(k, n)
    ours = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=n)
    words = Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})
    few = {"values": values[:peer_users]}
    return ours | words | bench.peers.run("ss privatize", few, per=peer_users, k=k, epsilon=EPSILON).measured


def aggregate(bench: Bench, k: int, n: int, peer_users: int) -> Measured:
    """Counts of many bitmaps, beside a copy of the same number of bytes; the peer counts lists of values."""
    mechanism = dn.mechanism("ss", k=k, epsilon=EPSILON)
    reports = mechanism.privatize(uniform_values(k, n))
    ours = timed(medians({OURS: lambda: mechanism.summarize(reports)}), per=n)
    copied = Measured({COPY: {TIME: reports.data.nbytes / n * bench.limits[COPY]}})
    bits = np.unpackbits(reports.data[:peer_users].view(np.uint8), axis=1, bitorder="little")
    lists = {"reports": np.nonzero(bits)[1].reshape(peer_users, -1)}
    return ours | copied | bench.peers.run("ss aggregate", lists, per=peer_users, k=k, epsilon=EPSILON).measured


def code(_: Bench, k: int, decode: bool) -> Measured:
    """Reports to bytes, or bytes to reports, and the length of the bytes."""
    mechanism = dn.mechanism("ss", k=k, epsilon=EPSILON)
    reports = mechanism.privatize(uniform_values(k, CODED))
    codes = mechanism.encode_many(reports)
    job = (lambda: mechanism.decode_many(codes)) if decode else (lambda: mechanism.encode_many(reports))
    beyond = max(map(len, codes)) - mechanism.report_bits / 8
    return timed(medians({OURS: job}), per=CODED) | Measured({OURS: {BEYOND: beyond}})


SMALL = {"k": 1024, "n": 200_000, "peer_users": 2_000}
LARGE = {"k": 22_000, "n": 10_000, "peer_users": 100}
CODES = (AtMost(200 * US), AtMost(2, BEYOND))

ROWS = (
    Row("SS privatize, k=1024", partial(privatize, **SMALL), (AtMost(2 * US, beside=KEYSTREAM), Faster(8.2, PEER))),
    Row("SS privatize, k=22000", partial(privatize, **LARGE), (AtMost(30 * US, beside=KEYSTREAM), Faster(14, PEER))),
    Row("SS aggregate, k=1024", partial(aggregate, **SMALL), (AtMost(0.2 * US, beside=COPY), Faster(122, PEER))),
    Row("SS aggregate, k=22000", partial(aggregate, **LARGE), (AtMost(4 * US, beside=COPY), Faster(169, PEER))),
    Row("SS encode, k=22000", partial(code, k=22_000, decode=False), CODES),
    Row("SS decode, k=22000", partial(code, k=22_000, decode=True), CODES),
)
