"""The exact privacy of shuffled reports, by enumeration of everything that a batch can look like."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict

import numpy as np

from deniable.core.arrays import Floats
from deniable.mechanisms.base.mechanism import Mechanism

Law = dict[int, float]


def channel(m: Mechanism) -> Floats:
    """The probabilities of all reports, one row per value."""
    payloads = list(m.layout.all())
    return np.array([[float(m.probability(payload, label)) for payload in payloads] for label in m.domain.all_labels()])


def shuffled(rows: Floats, n: int) -> dict[tuple[int, ...], Law]:
    """The law of the histogram of n reports, a number in base n + 1, for every multiset of the senders' values."""
    found: dict[tuple[int, ...], Law] = {(): {0: 1.0}}
    for size in range(1, n + 1):
        for values in itertools.combinations_with_replacement(range(len(rows)), size):
            law: Law = defaultdict(float)
            for histogram, chance in found[values[:-1]].items():
                for report, probability in enumerate(rows[values[-1]]):
                    law[histogram + (n + 1) ** report] += chance * probability
            found[values] = law
    return found


def exact_deltas(rows: Floats, n: int, epsilons: list[float]) -> list[float]:
    """The largest delta over all values of one person, any other value of theirs, and all values of the others."""
    laws = shuffled(rows, n)
    worst = [0.0] * len(epsilons)
    for others in itertools.combinations_with_replacement(range(len(rows)), n - 1):
        each = [laws[tuple(sorted((*others, value)))] for value in range(len(rows))]
        for one, other in itertools.permutations(each, 2):
            for place, epsilon in enumerate(epsilons):
                bound = math.exp(epsilon)
                delta = math.fsum(max(0.0, chance - bound * other.get(seen, 0.0)) for seen, chance in one.items())
                worst[place] = max(worst[place], delta)
    return worst
