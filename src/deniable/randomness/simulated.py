"""Seeded randomness for simulation. It protects nobody, and no report that leaves a device uses it."""

from __future__ import annotations

import hashlib

import numpy as np

from deniable.core.arrays import Integers
from deniable.core.validate import whole
from deniable.randomness.keystream import Keystream

_CHUNK = 2**22


def generator(seed: int) -> np.random.Generator:
    """Return NumPy's generator for this seed."""
    return np.random.Generator(np.random.PCG64(whole(0, seed=seed)))


def scatter(balls: int, boxes: int, source: np.random.Generator) -> Integers:
    """Throw balls uniformly into boxes: one at a time if there are few, otherwise by one multinomial."""
    if balls > 8 * boxes:
        return source.multinomial(balls, np.full(boxes, 1 / boxes))
    counts = np.zeros(boxes, np.int64)
    for start in range(0, balls, _CHUNK):
        counts += np.bincount(source.integers(boxes, size=min(_CHUNK, balls - start)), minlength=boxes)
    return counts


def part(seed: int, *numbers: int) -> Keystream:
    """Return the keystream of one part of a simulation, so that parts may be made in any order, or apart."""
    names = b"".join(number.to_bytes(8, "big") for number in numbers)
    return Keystream(hashlib.sha256(Keystream.seeded(seed).key + names).digest(), simulated=True)
