"""Costs of questions about noisy counts: order statistics, entropies and divergences, beside the naive answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.goals import OURS, AtMost, Measured, timed
from benchmarks.registry import Bench, Row

NAIVE = "naive by NumPy"
WIDTH = "width of certainty"
TIMES = "times the naive answer"

DOCUMENTS, WORDS = 1_500, 7_605


def asked(ask: Callable[[], dn.Answer], naive: Callable[[], object], repeats: int = 3) -> Measured:
    """Our answer beside the naive one, and the error bound of our arithmetic."""

    def ours() -> dn.Answer:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dn.UnreliableAnswer)
            return ask()

    seconds = medians({OURS: ours, NAIVE: naive}, repeats)
    figures = {WIDTH: ours().width, TIMES: seconds[OURS] / seconds[NAIVE]}
    return timed(seconds) | Measured({OURS: figures})


def order(_: Bench, epsilon: float) -> Measured:
    """All order statistics of 10,000 counts from a Zipf law, mostly tied."""
    counts = np.minimum(np.random.default_rng(0).zipf(1.3, 10_000), 10**9)
    noisy = dn.DiscreteLaplace(epsilon).release(counts, seed=1)
    return asked(lambda: dn.ask.order_statistics(noisy), lambda: np.sort(noisy.values))


def largest(_: Bench) -> Measured:
    """The largest of ten million counts."""
    counts = np.random.default_rng(0).integers(0, 10**6, 10_000_000)
    noisy = dn.DiscreteLaplace(1.0).release(counts, seed=1)
    return asked(lambda: dn.ask.maximum(noisy), lambda: noisy.values.max())


def documents(_: Bench) -> Measured:
    """The entropy of every document, with public lengths, for data as large as the bag of words of 1,500 papers."""
    rng = np.random.default_rng(0)
    weights = np.arange(1, WORDS + 1) ** -1.0
    counts = rng.multinomial(rng.integers(500, 3000, DOCUMENTS), weights / weights.sum())
    totals = counts.sum(axis=1)
    noisy = dn.DiscreteLaplace(1.0, sensitivity=2).release(counts, seed=1)

    def naive() -> np.ndarray:
        shares = np.maximum(noisy.values, 0) / totals[:, np.newaxis]
        return -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1)

    return asked(lambda: dn.ask.entropy(noisy, total=totals), naive)


def histograms(n: int) -> tuple[dn.Release, dn.Release]:
    """Two noisy histograms of n counts, each of about 20 n people."""
    rng = np.random.default_rng(n)
    first, second = (rng.multinomial(20 * n, rng.dirichlet(np.ones(n))) + 1 for _ in range(2))
    mechanism = dn.DiscreteLaplace(1.0)
    return mechanism.release(first, seed=1), mechanism.release(second, seed=2)


def unknown(_: Bench, n: int, divergence: bool) -> Measured:
    """Entropy or divergence with totals that are not public."""
    first, second = histograms(n)
    p, w = (np.maximum(each.values, 1) / np.maximum(each.values, 1).sum() for each in (first, second))
    if divergence:
        return asked(lambda: dn.ask.divergence(first, second), lambda: (p * np.log(p / w)).sum())
    return asked(lambda: dn.ask.entropy(first), lambda: -(p * np.log(p)).sum())


CERTAIN = AtMost(1e-9, figure=WIDTH)

TWO, TEN = AtMost(2.0, beside=NAIVE), AtMost(10.0, beside=NAIVE)

ROWS = (
    Row("all order statistics, 10,000 Zipf counts, eps=1", partial(order, epsilon=1.0), (TWO, CERTAIN)),
    Row("all order statistics, 10,000 Zipf counts, eps=0.5", partial(order, epsilon=0.5), (TWO, CERTAIN)),
    Row("maximum of 10,000,000 counts", largest, (AtMost(10.0, figure=TIMES), CERTAIN)),
    Row("entropy, public totals, 1,500 x 7,605", documents, (TWO,)),
    Row("entropy, unknown total, n=200", partial(unknown, n=200, divergence=False), (TEN, CERTAIN)),
    Row("divergence, unknown totals, n=200", partial(unknown, n=200, divergence=True), (TEN, CERTAIN)),
)
