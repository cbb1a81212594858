"""Costs of noisy counts: exact discrete Laplace noise, and an unbiased answer beside one evaluation of f."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.goals import OURS, TIME, AtMost, Faster, Measured, timed
from benchmarks.limits import KEYSTREAM
from benchmarks.registry import Bench, Row
from deniable.randomness.discrete_laplace import sampler

COUNTS = 10_000_000
PEER_COUNTS = 20_000  # the peer takes 8 µs per count
NS = 1e-9
PEER = "opendp"
ONCE = "f by NumPy, once"
EVALUATIONS = "evaluations of f"


def release(bench: Bench, epsilon: float) -> Measured:
    """Secure noise for many counts, beside the keystream words it takes."""
    mechanism, counts = dn.DiscreteLaplace(epsilon), np.arange(COUNTS) % 1000
    measured = timed(medians({OURS: lambda: mechanism.release(counts)}), per=COUNTS)
    measured |= Measured({KEYSTREAM: {TIME: sampler(mechanism.q).stride * bench.limits[KEYSTREAM]}})
    few = {"counts": counts[:PEER_COUNTS]}
    return measured | bench.peers.run("discrete laplace", few, per=PEER_COUNTS, epsilon=epsilon).measured


def answer(_: Bench, f: Callable[[np.ndarray], np.ndarray], largest: int, reduce: str) -> Measured:
    """An unbiased answer with its standard error, beside f of the same counts."""
    counts = np.random.default_rng(0).integers(1, largest, COUNTS)
    noisy = dn.DiscreteLaplace(1.0).release(counts, seed=1)
    floats = noisy.values.astype(np.float64)
    seconds = medians({OURS: lambda: dn.debias(f, noisy, reduce=reduce), ONCE: lambda: f(floats)})
    return timed(seconds, per=COUNTS) | Measured({OURS: {EVALUATIONS: seconds[OURS] / seconds[ONCE]}})


def entropy_term(x: np.ndarray) -> np.ndarray:
    """x log x, and 0 where x is not positive."""
    return x * np.log(np.maximum(x, 1.0))


TEN_TIMES = AtMost(10.0, figure=EVALUATIONS)
NOISE = AtMost(15 * NS, beside=KEYSTREAM)

ROWS = (
    Row("discrete Laplace release, eps=1", partial(release, epsilon=1.0), (NOISE, Faster(467, (PEER,)))),
    Row("discrete Laplace release, eps=0.1", partial(release, epsilon=0.1), (NOISE,)),
    Row("debias, sum, dense counts", partial(answer, f=entropy_term, largest=1000, reduce="sum"), (TEN_TIMES,)),
    Row("debias, each, dense counts", partial(answer, f=entropy_term, largest=1000, reduce="none"), (TEN_TIMES,)),
    Row("debias, sum, sparse counts", partial(answer, f=entropy_term, largest=2**40, reduce="sum"), (TEN_TIMES,)),
    Row("debias, each, sparse counts", partial(answer, f=entropy_term, largest=2**40, reduce="none"), (TEN_TIMES,)),
)
