"""The groups of users: the mechanism each group uses, and the random choice of a user's group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from deniable.core.arrays import Levels
from deniable.core.domain import Domain
from deniable.core.errors import InvalidArgument
from deniable.core.validate import choice, whole
from deniable.heavy_hitters.strings import Alphabet
from deniable.mechanisms.cohorts.base import CohortMechanism
from deniable.mechanisms.registry import mechanism, open_mechanisms
from deniable.randomness.bounds import rejection_bound
from deniable.randomness.choices import scaled
from deniable.randomness.keystream import Keystream

MAX_BYTES, MAX_LEVELS = 255, 64
BUDGET = 2**21  # candidates per level
COHORTS, FITTED = 512, 256  # defaults of a level's mechanism: hash functions, and strings fitted jointly
_MAX_SEED = 2**32 // MAX_LEVELS - 1


def made_lengths(lengths: Iterable[int] | None, alphabet: Alphabet, max_bytes: int) -> tuple[int, ...]:
    """Return the given prefix lengths, checked, or the fewest that the budget of candidates allows."""
    if lengths is None:
        found = alphabet.default_lengths(max_bytes, BUDGET)
        if len(found) > MAX_LEVELS:
            rule = f"be small enough for {MAX_LEVELS} groups"
            raise InvalidArgument("max_bytes", rule, max_bytes, f"It needs {len(found)}. Reduce it, or give lengths.")
        return found
    if isinstance(lengths, (str, bytes)) or not isinstance(lengths, Iterable):
        raise InvalidArgument("lengths", "be a list of whole numbers", lengths)
    return tuple(whole(1, MAX_BYTES + 1, lengths=length) for length in lengths)


def made_levels(
    name: str, epsilon: float, lengths: tuple[int, ...], key: str, parameters: Mapping[str, Any]
) -> tuple[CohortMechanism, ...]:
    """Make the mechanism of each group."""
    choice(open_mechanisms(), mechanism=name)
    if known := sorted({"domain", "k", "labels"} & parameters.keys()):
        raise InvalidArgument("parameters", "not name a domain", known, hint="The domain is that of all strings.")
    seed = whole(0, _MAX_SEED, seed=parameters.get("seed", 0))
    sizes = {"cohorts": COHORTS, "candidates": FITTED} | dict(parameters)
    made = []
    for number, length in enumerate(lengths):
        domain = Domain.open(max_bytes=length, key=key)
        # each level has its own hash functions, so that strings that share cells at one level do not at the next
        level = mechanism(name, domain=domain, epsilon=epsilon, **{**sizes, "seed": seed * MAX_LEVELS + number})
        assert isinstance(level, CohortMechanism)
        made.append(level)
    return tuple(made)


def uniform_levels(count: int, words: Any, keystream: Keystream) -> Levels:
    """Draw a level from each word, as Choices.below: the high half of word * count, unless the low half is small."""
    low, high = words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)
    factor = np.uint64(count)
    drawn = (high * factor + (low * factor >> np.uint64(32))) >> np.uint64(32)
    for place in np.flatnonzero(words * factor < np.uint64(rejection_bound(count))).tolist():
        for word in keystream.overflow(place):
            drawn[place], rest = scaled(word, count)
            if rest >= rejection_bound(count):
                break
    return np.asarray(drawn, np.uint16)
