"""Costs of finding frequent strings without a list, and the strings found."""

from __future__ import annotations

from functools import partial

import numpy as np

import deniable as dn
from benchmarks.clock import medians
from benchmarks.goals import OURS, AtMost, Measured, timed
from benchmarks.registry import Bench, Row

LETTERS = "abcdefghijklmnopqrstuvwxyz"
STRINGS, TOP = 20_000, 20
LOST = f"of the {TOP} most frequent not found"
HASHING = "hashing as many candidates"


def finding(_: Bench, users: int, epsilon: float) -> Measured:
    """Decoding the summary of a million users' strings, beside hashing its candidates alone."""
    rng = np.random.default_rng(0)
    shares = 1 / (np.arange(STRINGS) + 2.0)
    drawn = rng.multinomial(users, shares / shares.sum())
    names = ["".join(rng.choice(list(LETTERS), size)) for size in rng.integers(3, 9, STRINGS)]
    counts: dict[str, int] = {}
    for name, count in zip(names, drawn.tolist(), strict=True):
        counts[name] = counts.get(name, 0) + count
    hh = dn.HeavyHitters.new(epsilon=epsilon, alphabet=LETTERS, max_bytes=9)
    summary = hh.simulate(counts)
    found = hh.find(summary)
    listed = {row.label for row in found.rows()}
    lost = sum(name not in listed for name in sorted(counts, key=counts.__getitem__)[-TOP:])
    mechanism, candidates = hh.levels[0], sum(note.candidates for note in found.notes)
    digests = np.arange(2**13)

    def hashes() -> None:
        for _ in range(candidates // len(digests)):
            mechanism.table(digests)

    jobs = {OURS: lambda: hh.find(summary), HASHING: hashes}
    return timed(medians(jobs)) | Measured({OURS: {LOST: float(lost)}})


ROWS = (
    Row(
        "heavy hitters, n=1,000,000, 26 letters, eps=4",
        partial(finding, users=1_000_000, epsilon=4.0),
        (AtMost(10.0, beside=HASHING), AtMost(0.0, LOST)),
    ),
)
