"""Costs of the Hadamard mechanisms: a report by bit operations, a histogram by fast Walsh-Hadamard transforms.

The PGR authors' C++ of Hadamard Response, not run here, takes 80 to 138 ns per report and 3.5 ms per histogram.
"""

from __future__ import annotations

import math
from functools import partial

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import KEYSTREAM
from benchmarks.registry import Bench, Row

K, REPORTS = 22_000, 10_000
USERS, PEER_USERS = 5_000_000, 20_000
LOSS = "variance / optimum"
NS, MS = 1e-9, 1e-3
PEER = "pure-ldp"


def privatize(bench: Bench, name: str, epsilon: float, peers: bool = True) -> Measured:
    """Reports of many users with the secure generator, beside the keystream words they take."""
    mechanism = dn.mechanism(name, k=K, epsilon=epsilon)
    values = uniform_values(K, USERS)
    measured = timed(medians({OURS: lambda: mechanism.privatize(values)}), per=USERS)
    measured |= Measured({KEYSTREAM: {TIME: mechanism.stride * bench.limits[KEYSTREAM]}})
    if not peers:
        return measured
    few = {"values": values[:PEER_USERS]}
    return measured | bench.peers.run(f"{name} privatize", few, per=PEER_USERS, k=K, epsilon=epsilon).measured


def decode(bench: Bench, name: str, epsilon: float, peers: bool = True) -> Measured:
    """The unbiased estimate with its standard errors, and its variance at f = 0 over the asymptotic optimum."""
    mechanism = dn.mechanism(name, k=K, epsilon=epsilon)
    values = uniform_values(K, REPORTS)
    summary = mechanism.summarize(mechanism.privatize(values))
    loss = mechanism.variance(0.0) / (4 * math.exp(epsilon) / math.expm1(epsilon) ** 2)
    measured = timed(medians({OURS: lambda: mechanism.estimate(summary, "unbiased")})) | Measured({OURS: {LOSS: loss}})
    if not peers:
        return measured
    return measured | bench.peers.run(f"{name} decode", {"values": values}, k=K, epsilon=epsilon).measured


def decoding(name: str, epsilon: float, loss: float, *goals: AtMost | Faster) -> Row:
    """A row for one epsilon; the peer decodes its own reports of the same values."""
    job = f"{name.upper()} decode, k={K}, n={REPORTS:,}, eps={epsilon:g}"
    peers = any(isinstance(goal, Faster) for goal in goals)
    return Row(job, partial(decode, name=name, epsilon=epsilon, peers=peers), (*goals, AtMost(loss, LOSS)))


FASTER = Faster(100, (PEER,))  # 4.1 µs / 40 ns
QUICKER = Faster(34, (PEER,))  # 68.5 ms / 2 ms

ROWS = (
    *(
        Row(
            f"HR privatize, k={K}, eps={epsilon:g}",
            partial(privatize, name="hr", epsilon=epsilon),
            (AtMost(40 * NS, beside=KEYSTREAM), FASTER),
        )
        for epsilon in (1.0, 3.0)
    ),
    Row(
        f"RHR privatize, k={K}, eps=1",
        partial(privatize, name="rhr", epsilon=1.0, peers=False),
        (AtMost(40 * NS, beside=KEYSTREAM),),
    ),
    decoding("hr", 1.0, 1.28, AtMost(2 * MS, beside=PEER), QUICKER),
    decoding("hr", 2.0, 1.76, AtMost(2 * MS, beside=PEER), QUICKER),
    decoding("hr", 4.0, 1.98, AtMost(2 * MS, beside=PEER), QUICKER),
    decoding("rhr", 1.0, 1.28, AtMost(2 * MS)),
)
