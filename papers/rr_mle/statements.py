"""Measurements of the paper's statements without a figure: Theorems 1 and 2, Algorithm 1, validity, equation 8."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from deniable.core.arrays import Counts, Floats
from deniable.estimation.channel import PureChannel
from deniable.mechanisms.registry import mechanism
from deniable.randomness.simulated import generator
from deniable.simulation import simulate
from papers.rr_mle.comparison import zipf

ONE, SEVERAL = "one below q", "several below q"
RUNNING, EXACT = "running sum", "exact integers"
PRINTED, SQUARED = "over p - q", "over (p - q)^2"
SURE = 4.5  # standard errors
_TRIES = 2000


def maximal(seed: int, k: int, epsilon: float, n: int, skew: float) -> list[dict[str, Any]]:
    """Theorem 1: the certified gap in likelihood of MLE*, and its distance from the limit of the Bayesian update."""
    source = generator(seed)
    users = source.multinomial(n, zipf(k, skew))
    server = mechanism("grr", k=k, epsilon=epsilon)
    summary = simulate(server, users, seed=int(source.integers(2**62)))
    operator = server.operator()
    assert operator is not None
    exact = server.estimate(summary, "mle").frequencies
    # f(best) - f(theta) <= max_i g_i - 1, with g the gradient of the average log-likelihood
    gap = float(operator.adjoint(summary.counts / n / operator.forward(exact)).max()) - 1
    limit = server.estimate(summary, "ibu").frequencies
    return [{"gap": max(gap, 0.0), "distance": float(np.abs(exact - limit).sum())}]


def totals(seed: int, k: int, epsilon: float, n: int, skew: float) -> list[dict[str, Any]]:
    """Algorithm 1: the distance of the estimate's sum from 1, with a running sum as printed, and as we implement it."""
    source = generator(seed)
    server = mechanism("grr", k=k, epsilon=epsilon)
    summary = simulate(server, source.multinomial(n, zipf(k, skew)), seed=int(source.integers(2**62)))
    ours = server.estimate(summary, "mle").frequencies
    channel = server.channel
    assert channel is not None
    return [
        {"sum": RUNNING, "off": abs(1 - _total_by_running_sum(summary.counts / n, channel))},
        {"sum": EXACT, "off": abs(1 - math.fsum(ours))},
    ]


def _total_by_running_sum(shares: Floats, channel: PureChannel) -> float:
    p, q = float(channel.p), float(channel.q)
    ordered = np.sort(shares)
    rest = np.subtract.accumulate(np.concatenate([[1.0], ordered]))[:-1]  # the sum that remains before each is dropped
    stays = q * rest <= (1 - np.arange(len(ordered)) * q) * ordered
    first = int(np.argmax(stays))
    kept = ordered[first:] * ((1 - first * q) / ((p - q) * rest[first])) - q / (p - q)
    return math.fsum(kept)


def collinear(seed: int, k: int, epsilon: float, n: int) -> list[dict[str, Any]]:
    """Theorem 2: how far MLE* is from the line from InvP to InvN, and its place, with the condition and without."""
    source = generator(seed)
    server = mechanism("grr", k=k, epsilon=epsilon)
    channel = server.channel
    assert channel is not None
    empty = {ONE: 1, SEVERAL: k // 2}
    rows = []
    for case, without in empty.items():
        users = np.where(np.arange(k) < without, 0, n // (k - without))
        for _ in range(_TRIES):
            summary = simulate(server, users, seed=int(source.integers(2**62)))
            if _case(summary.counts, summary.n, channel) == case:
                break
        else:
            continue
        found = [server.estimate(summary, method).frequencies for method in ("projected", "mle", "normalized")]
        off, place = _on_line(*found)
        share = Fraction(int(summary.counts.min()), summary.n)
        rows.append({"case": case, "off": off, "place": place, "formula": float((channel.p - share) / (1 - share))})
    return rows


def _case(counts: Counts, n: int, channel: PureChannel) -> str | None:
    """The case of the theorem's condition that these counts fall into, in exact arithmetic; None if none applies."""
    least, second = (int(each) for each in np.sort(counts)[:2])
    q, k = channel.q, len(counts)
    if least >= n * q:
        return None  # nothing is negative: the three coincide
    return ONE if second * (k - 1) >= n * k * q - least else SEVERAL


def _on_line(start: Floats, point: Floats, end: Floats) -> tuple[float, float]:
    """The distance of a point from a line, relative to its length, and its position: 0 at the start, 1 at the end."""
    way = end - start
    length = float(way @ way)
    place = float((point - start) @ way) / length
    return float(np.linalg.norm(point - start - place * way)) / math.sqrt(length), place


def negative(seed: int, k: int, epsilon: float, n: int, draws: int) -> list[dict[str, Any]]:
    """Section 5.1: the frequency of negative unbiased estimates of an absent value, counted and exact."""
    from scipy.stats import binom

    source = generator(seed)
    server = mechanism("grr", k=k, epsilon=epsilon)
    channel = server.channel
    assert channel is not None
    empty = k // 2
    users = source.multinomial(n, np.where(np.arange(k) < empty, 0.0, 1 / (k - empty)))
    below = 0
    for _ in range(draws):
        summary = simulate(server, users, seed=int(source.integers(2**62)))
        below += int((server.estimate(summary, "unbiased").frequencies[:empty] < 0).sum())
    expected = n * channel.q
    # the count of an absent value is Binomial(n, q): the estimate is negative if it is below n q
    exactly = float(binom.cdf(math.ceil(expected) - 1, n, float(channel.q)))
    trials = empty * draws
    allowed = SURE * math.sqrt(exactly * (1 - exactly) / trials) + 2 / trials
    both = {"expected": float(expected), "exact": exactly, "allowed": allowed}
    return [{"kind": "counted", "share": below / trials, **both}, {"kind": "exact", "share": exactly, **both}]


def variances(seed: int, k: int, epsilon: float, n: int, frequency: float, draws: int) -> list[dict[str, Any]]:
    """Equation 8: the measured variance of the unbiased estimate over the printed formula, and over its square."""
    source = generator(seed)
    server = mechanism("grr", k=k, epsilon=epsilon)
    channel = server.channel
    assert channel is not None
    first = round(n * frequency)
    users = np.full(k, (n - first) // (k - 1), np.int64)
    users[0] = first
    total = int(users.sum())
    found = np.empty(draws)
    for place in range(draws):
        summary = simulate(server, users, seed=int(source.integers(2**62)))
        found[place] = server.estimate(summary, "unbiased").frequencies[0]
    squared = server.variance(first / total, total)
    printed = squared * float(channel.gain)
    measured = float(found.var(ddof=1))
    return [
        {"formula": PRINTED, "ratio": measured / printed},
        {"formula": SQUARED, "ratio": measured / squared},
    ]
