"""Shuffling and attacks: one certified bound, one test for liars, and a guess with a prior."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import deniable as dn
from benchmarks.goals import OURS, TIME, AtMost, Measured
from benchmarks.registry import Bench, Row

_RUNS = 3
CLONES = "clones, which any mechanism has"
COUNTING = "counting the same reports"
CHANNEL = "the attack rate for equally likely values"


def _seconds(work: Callable[[], object]) -> float:
    """The least processor time of several runs."""
    took = []
    for _ in range(_RUNS):
        started = time.process_time()
        work()
        took.append(time.process_time() - started)
    return min(took)


def amplified(_: Bench) -> Measured:
    """The central epsilon of 100,000 reports, by all bounds of a mechanism and by clones alone."""
    m = dn.mechanism("ss", k=1000, epsilon=2.0)
    ours = _seconds(lambda: dn.amplify(m, n=100_000, delta=1e-6))
    return Measured({OURS: {TIME: ours}, CLONES: {TIME: _seconds(lambda: dn.amplify(2.0, n=100_000, delta=1e-6))}})


def liars(_: Bench) -> Measured:
    """Tests of 100,000 reports of 128 bits, beside counting them."""
    m = dn.mechanism("oue", k=128, epsilon=1.0)
    data = m.privatize(np.arange(100_000) % 128, seed=1)
    m.summarize(data)  # which compiles the loop
    found = {OURS: {TIME: _seconds(lambda: dn.detect_poisoning(m, data))}}
    return Measured({**found, COUNTING: {TIME: _seconds(lambda: m.summarize(data))}})


def guess(_: Bench) -> Measured:
    """The best guess with a prior among 1,000 values, value by value, beside the closed form for equal priors."""
    m = dn.mechanism("csr", k=1000, epsilon=2.0)
    prior = 1 / np.arange(1, 1001)
    prior /= prior.sum()
    ours = _seconds(lambda: dn.reconstruction(m, prior))
    return Measured({OURS: {TIME: ours}, CHANNEL: {TIME: _seconds(lambda: dn.reconstruction(m))}})


ROWS = (
    Row("amplify: 100,000 reports of ss", amplified, (AtMost(1.0, beside=CLONES),)),
    Row("detect_poisoning: 100,000 reports of oue", liars, (AtMost(0.5, beside=COUNTING),)),
    Row("reconstruction: 1,000 values, a prior", guess, (AtMost(0.05, beside=CHANNEL),)),
)
