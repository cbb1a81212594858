"""Costs of decoding a whole histogram: maximum likelihood, projection, iterative Bayesian update."""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.data import Counts, histogram, zipf_counts
from benchmarks.goals import OURS, AtMost, Faster, Measured, timed
from benchmarks.published import bayesian_update, maximum_likelihood
from benchmarks.registry import Bench, Row
from deniable.estimation.channel import PureChannel
from deniable.estimation.methods.iterative import iterate
from deniable.estimation.methods.likelihood import most_likely
from deniable.estimation.methods.simplex import projected
from deniable.estimation.operators.two_level import Identity, two_level_operator

INCOME_VALUES, INCOME_USERS = 1_423_000, 1_664_500  # the paper's largest real domain, and its users
INCOME_FILE = "hist_acs2013_17_100k_20states_pincp.csv"
CLICKS_VALUES, CLICKS_FILE = 41_270, "hist_kosarak_first100k_firstitem.csv"
ITERATIONS = 40_000

LOOP = "published loop"
SORT = "np.argsort"
PLAIN = f"{ITERATIONS:,} plain updates"
PROJECTION_PEER = "pure-ldp"
SUM_ERROR = "|sum - 1|"
SAME_ANSWER = "L1 to the peer's answer"
GAP = "certified gap"
DISTANCE = "L1 to the exact MLE"


def observed(true_counts: Counts, epsilon: float) -> tuple[Counts, PureChannel]:
    """Counts of the reports of these users, and the channel that made them."""
    mechanism = dn.mechanism("grr", k=len(true_counts), epsilon=epsilon)
    return dn.simulate(mechanism, true_counts).counts, mechanism.channel


def likelihood(true_counts: Counts) -> Measured:
    """The exact maximum of the likelihood, beside the published loop and one sort of the same data."""
    counts, channel = observed(true_counts, epsilon=5.0)
    shares, p, q = counts / counts.sum(), float(channel.p), float(channel.q)
    jobs = {
        OURS: lambda: most_likely(counts, channel),
        LOOP: lambda: maximum_likelihood(shares, p, q),
        SORT: lambda: np.argsort(counts),
    }
    errors = {
        OURS: {SUM_ERROR: abs(float(most_likely(counts, channel).sum()) - 1)},
        LOOP: {SUM_ERROR: abs(float(maximum_likelihood(shares, p, q).sum()) - 1)},
    }
    return timed(medians(jobs)) | Measured(errors)


def synthetic_likelihood(_: Bench, k: int, n: int) -> Measured:
    """On Zipf data."""
    return likelihood(zipf_counts(k, n))


def real_likelihood(bench: Bench, name: str, k: int) -> Measured:
    """On a real histogram."""
    return likelihood(histogram(bench.data, name, k))


def projection(bench: Bench, k: int, n: int) -> Measured:
    """The Euclidean projection, beside a peer's on the same unbiased estimate."""
    counts, channel = observed(zipf_counts(k, n), epsilon=5.0)
    theirs = bench.peers.run("simplex projection", {"vector": channel.unbiased(counts, n)})
    measured = timed(medians({OURS: lambda: projected(counts, n, channel)})) | theirs.measured
    if PROJECTION_PEER in theirs.answers:
        apart = np.abs(projected(counts, n, channel) - theirs.answers[PROJECTION_PEER]).sum()
        measured |= Measured({OURS: {SAME_ANSWER: float(apart)}})
    return measured


def update(_: Bench, k: int, n: int) -> Measured:
    """The iterative Bayesian update with its certificate, beside plain updates."""
    counts, channel = observed(zipf_counts(k, n), epsilon=1.0)
    operator, exact = two_level_operator(Identity(), channel.p, channel.q), most_likely(counts, channel)
    shares = counts / counts.sum()

    def plain() -> np.ndarray:
        return bayesian_update(shares, float(channel.p), float(channel.q), ITERATIONS)

    found = iterate(counts, operator)
    accuracy = {
        OURS: {GAP: found.gap, DISTANCE: float(np.abs(found.frequencies - exact).sum())},
        PLAIN: {DISTANCE: float(np.abs(plain() - exact).sum())},
    }
    return timed(medians({OURS: lambda: iterate(counts, operator), PLAIN: plain})) | Measured(accuracy)


EXACT_AND_FAST = (Faster(20, (LOOP,)), Faster(1, (SORT,)), AtMost(1e-12, SUM_ERROR, beside=LOOP))

ROWS = (
    Row("MLE of RR, K=10,000", partial(synthetic_likelihood, k=10_000, n=1_000_000), EXACT_AND_FAST),
    Row("MLE of RR, K=1,423,000", partial(synthetic_likelihood, k=INCOME_VALUES, n=INCOME_USERS), EXACT_AND_FAST),
    Row("MLE of RR, Kosarak, K=41,270", partial(real_likelihood, name=CLICKS_FILE, k=CLICKS_VALUES), EXACT_AND_FAST),
    Row("MLE of RR, incomes, K=1,423,000", partial(real_likelihood, name=INCOME_FILE, k=INCOME_VALUES), EXACT_AND_FAST),
    Row(
        "simplex projection, K=1,423,000",
        partial(projection, k=INCOME_VALUES, n=INCOME_USERS),
        (Faster(10, (PROJECTION_PEER,)), AtMost(1e-9, SAME_ANSWER)),
    ),
    Row(
        "IBU, K=500, eps=1, n=10,000",
        partial(update, k=500, n=10_000),
        (AtMost(0.020, beside=PLAIN), AtMost(1e-12, GAP), AtMost(1e-9, DISTANCE, beside=PLAIN)),
    ),
)
