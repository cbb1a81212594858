"""Audits by trials: the share of epsilon that ten million reports leave uncertified, and how long that takes."""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.goals import OURS, TIME, AtMost, Measured
from benchmarks.registry import Bench, Row
from deniable.auditing.empirical.mechanisms import audit_mechanism

TRIALS, ALPHA, VALUES, SEED = 10_000_000, 1e-9, 100, 16
LEFT, EXPECTED = "uncertified", "to be expected"
MINUTE = 60.0


def certified(_: Bench, name: str, epsilon: float) -> Measured:
    """What the bound leaves of the epsilon that is spent, beside what the game can be expected to leave."""
    m = dn.mechanism(name, k=VALUES, epsilon=epsilon)
    found = audit_mechanism(m, TRIALS, ALPHA, generator=np.random.default_rng(SEED))
    assert found.expected is not None
    assert not found.exceeds
    ours = {LEFT: 1 - found.share, TIME: found.seconds}
    return Measured({OURS: ours, EXPECTED: {LEFT: 1 - found.expected / found.promised}})


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
