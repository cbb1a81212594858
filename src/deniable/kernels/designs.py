"""The loops of the design mechanisms: a random block, or a value moved by a random element in or out of a set."""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Indices, Mask, Symbols, Words
from deniable.kernels import compiled
from deniable.kernels.words import high_half, picked


@compiled
def choose_block(
    values: Indices,
    words: Words,
    truth: Any,
    bounds: Words,
    rejections: Words,
    places: Symbols,
    again: Mask,
    out: Symbols,
) -> int:
    """out = places[value, a random place]; marks and counts rejected reports.

    Each report owns three words: the coin, a place among the bounds[0] blocks that hold the value, listed first in its
    row of `places`, and a place among the bounds[1] other blocks.
    """
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = (first * bounds[0] < rejections[0]) | (second * bounds[1] < rejections[1])
        again[i] = rejected
        count += rejected
        inside = high_half(first, bounds[0])
        outside = bounds[0] + high_half(second, bounds[1])
        out[i] = places[values[i], picked(coin < truth, inside, outside)]
    return count


@compiled
def shift(
    values: Indices,
    words: Words,
    truth: Any,
    bounds: Words,
    rejections: Words,
    elements: Symbols,
    multipliers: Words,
    again: Mask,
    out: Symbols,
) -> int:
    """out = cohort K + (value + multiplier[cohort] element) mod K; marks and counts rejected reports.

    Each report owns four words: the coin, the cohort, a place inside and a place outside the set.
    `bounds` are the numbers of cohorts, of elements inside and of elements outside; `elements` lists
    the elements inside first.
    """
    inside = bounds[1]
    modulus = bounds[1] + bounds[2]
    count = 0
    for i in range(values.shape[0]):
        coin, first, second, third = words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]
        rejected = (
            (first * bounds[0] < rejections[0])
            | (second * bounds[1] < rejections[1])
            | (third * bounds[2] < rejections[2])
        )
        again[i] = rejected
        count += rejected
        cohort = high_half(first, bounds[0])
        place_inside = high_half(second, bounds[1])
        place_outside = inside + high_half(third, bounds[2])
        element = np.uint64(elements[picked(coin < truth, place_inside, place_outside)])
        moved = (np.uint64(values[i]) + multipliers[cohort] * element) % modulus
        out[i] = np.uint32(cohort * modulus + moved)
    return count


@compiled
def shift_in_blocks(
    values: Indices,
    words: Words,
    truth: Any,
    blocks: Any,
    bounds: Words,
    rejections: Words,
    elements: Symbols,
    again: Mask,
    out: Symbols,
) -> int:
    """out = block b + number mod b, of the value moved by a random place; marks and counts rejected reports.

    Each report owns three words: the coin, a place inside the set and a place outside it; `bounds` are the numbers of
    such places. Place p moves the block by p div b and the number by elements[p mod b]; `elements` lists the
    elements of the set first, so the places below bounds[0] support the value.
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
        place = picked(coin < truth, place_inside, place_outside)
        value = np.uint64(values[i])
        block = (value % blocks + place // modulus) % blocks
        number = (value // blocks + np.uint64(elements[place % modulus])) % modulus
        out[i] = np.uint32(block * modulus + number)
    return count
