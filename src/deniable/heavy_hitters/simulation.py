"""Summaries of many simulated users, without making their reports one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from deniable.core.errors import InvalidArgument
from deniable.core.summary import Summary
from deniable.core.validate import whole
from deniable.heavy_hitters.collected import HitterSummary
from deniable.heavy_hitters.strings import sequences
from deniable.randomness.simulated import generator

if TYPE_CHECKING:
    from deniable.heavy_hitters.protocol import HeavyHitters

MAX_USERS = 2**53


def simulated(protocol: HeavyHitters, counts: Mapping[str, int], seed: int) -> HitterSummary:
    """Simulate the summaries of all levels: users are assigned by multinomials, reports drawn from their exact law."""
    if not isinstance(counts, Mapping) or not counts:
        raise InvalidArgument("counts", "map strings to numbers of users", counts, hint="Use {string: count}.")
    numbers = np.array([whole(0, MAX_USERS, count=count) for count in counts.values()], np.int64)
    if sum(numbers.tolist()) > MAX_USERS:
        raise InvalidArgument("counts", f"add up to at most {MAX_USERS}", sum(numbers.tolist()))
    source = generator(seed)
    encoded = sequences(list(counts), protocol.max_bytes)
    size = len(protocol.levels)
    split = source.multinomial(numbers, np.full(size, 1 / size))
    parts = []
    for number, level in enumerate(protocol.levels):
        users: Counter[bytes] = Counter()
        for text, count in zip(encoded, split[:, number].tolist(), strict=True):
            users[text[: protocol.lengths[number]]] += count
        digests = level.domain.indices(list(users))
        true = np.array(list(users.values()), np.int64)
        drawn = level.simulated_among(digests, true, source)
        parts.append(Summary(drawn, int(true.sum()), level.fingerprint, simulated=True))
    return HitterSummary(tuple(parts), protocol.fingerprint)
