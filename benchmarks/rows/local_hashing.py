"""Costs of local hashing: a report, the server's work per user, and a whole histogram.

A peer's server hashes every value under every user's seed as reports come in, and then needs little time for an
estimate. Ours counts reports and decodes all counts at once, so its time per user includes both.
The required ratio is the faster peer's time on the machine where the goals were set, divided by the goal.
"""

from __future__ import annotations

from functools import partial

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import uniform_values
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import BINCOUNT, KEYSTREAM
from benchmarks.registry import Bench, Row
from benchmarks.rows.cyclotomic import BITS, EPSILON, LOSS, MS, NS, USERS, K, decode, privatize

PEERS = ("pure-ldp", "multi-freq-ldpy")
US = 1e-6


def aggregate(bench: Bench, k: int, peer_users: int) -> Measured:
    """Time per user from reports to the unbiased estimate of every value, beside one count by np.bincount."""
    mechanism = dn.mechanism("olh", k=k, epsilon=EPSILON)
    values = uniform_values(k, USERS)
    reports = mechanism.privatize(values)
    measured = timed(medians({OURS: lambda: mechanism.unbiased(mechanism.summarize(reports))}), per=USERS)
    measured |= Measured({BINCOUNT: {TIME: bench.limits[BINCOUNT]}})
    few = {"values": values[:peer_users]}
    return measured | bench.peers.run("olh aggregate", few, per=peer_users, k=k, epsilon=EPSILON).measured


def privatizing(name: str) -> Row:
    """A row for making reports with one kind of seeds."""
    return Row(f"{name.upper()} privatize, k={K}", partial(privatize, name=name), (AtMost(50 * NS, beside=KEYSTREAM),))


def decoding(name: str, loss: float, bits: int) -> Row:
    """A row for a whole histogram."""
    goals = AtMost(12 * MS), AtMost(loss, LOSS), AtMost(bits, BITS)
    return Row(f"{name.upper()} decode, k={K}, n=10,000, eps=2", partial(decode, name=name), goals)


ROWS = (
    *(privatizing(name) for name in ("olh", "flh", "blh")),
    Row(
        "OLH aggregate and estimate, k=1024",
        partial(aggregate, k=1024, peer_users=300),
        (AtMost(0.4 * US, beside=BINCOUNT), Faster(1140, PEERS)),
    ),
    Row(
        f"OLH aggregate and estimate, k={K}",
        partial(aggregate, k=K, peer_users=20),
        (AtMost(8 * US, beside=BINCOUNT), Faster(1290, PEERS)),
    ),
    decoding("olh", 1.02, 3),
    decoding("flh", 1.02, 3),
    decoding("blh", 2.42, 1),  # one bit can reach (e + 1)^2/4e times the optimum
)
