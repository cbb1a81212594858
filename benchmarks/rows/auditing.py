"""Audits by trials: the share of epsilon that ten million reports leave uncertified, and how long that takes."""

from __future__ import annotations

from functools import partial
from statistics import fmean

import numpy as np

import deniable as dn
from benchmarks.goals import OURS, TIME, AtMost, Measured
from benchmarks.registry import Bench, Row
from deniable.auditing.empirical.mechanisms import audit_mechanism

TRIALS, ALPHA, VALUES = 10_000_000, 1e-9, 100
SEEDS = (16, 17, 18)  # of the values that are audited; a run scatters by a sixth of what it leaves, a mean by less
LEFT, EXPECTED = "uncertified", "to be expected"
MINUTE = 60.0


def certified(_: Bench, name: str, epsilon: float) -> Measured:
    """What the bound leaves of the epsilon that is spent, beside what the game can be expected to leave."""
    m = dn.mechanism(name, k=VALUES, epsilon=epsilon)
    runs = [audit_mechanism(m, TRIALS, ALPHA, generator=np.random.default_rng(seed)) for seed in SEEDS]
    assert not any(found.exceeds for found in runs)
    expected = fmean(found.expected / found.promised for found in runs if found.expected is not None)
    ours = {LEFT: 1 - fmean(found.share for found in runs), TIME: max(found.seconds for found in runs)}
    return Measured({OURS: ours, EXPECTED: {LEFT: 1 - expected}})


SETTINGS = [  # and the share of epsilon that may be left: more where a report tells of few values
    ("grr", 0.5, 0.04),
    ("oue", 0.5, 0.015),
    ("ss", 1.0, 0.015),
    ("she", 1.0, 0.015),
    ("csr", 4.0, 0.015),
    ("clh", 8.0, 0.015),
    ("mss", 8.0, 0.015),
    ("blh", 8.0, 0.025),
    ("hcms", 8.0, 0.025),
]
ROWS = tuple(
    Row(
        f"audit {name}, epsilon {epsilon:g}, ten million reports",
        partial(certified, name=name, epsilon=epsilon),
        (AtMost(left, LEFT, EXPECTED), AtMost(MINUTE)),
    )
    for name, epsilon, left in SETTINGS
)
