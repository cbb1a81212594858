"""The loop of hybrid geometries: move a value inside its block, by an element of a set, or else anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.kernels import compiled
from deniable.kernels.words import high_half

Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Payloads = npt.NDArray[np.uint32]


@compiled
def shift_in_blocks(
    values: Indices,
    words: Words,
    truth: Any,
    blocks: Any,
    bounds: Words,
    rejections: Words,
    elements: Payloads,
    again: npt.NDArray[np.bool_],
    out: Payloads,
) -> int:
    """out = block b + number mod b, of the value moved by a random place; marks and counts rejected reports.

    Each report owns three words: the coin, a place inside the set and a place outside it; `bounds` are how many
    there are of both. Place p moves the block by p div b and the number by elements[p mod b], which lists the
    elements of the set first: the places below bounds[0] support the value.
    """
    modulus = np.uint64(elements.shape[0])
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = (first * bounds[0] < rejections[0]) | (second * bounds[1] < rejections[1])
        again[i] = rejected
        count += rejected
        place_inside = high_half(first, bounds[0])
        place_outside = bounds[0] + high_half(second, bounds[1])
        place = place_inside if coin < truth else place_outside
        value = np.uint64(values[i])
        block = (value % blocks + place // modulus) % blocks
        number = (value // blocks + np.uint64(elements[place % modulus])) % modulus
        out[i] = np.uint32(block * modulus + number)
    return count
