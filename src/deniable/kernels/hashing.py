"""The loops of local hashing: keep or replace the hash of a value, and sum over equivalent hashes.

A seed is a vector of d digits modulo a prime g, written as a number in base g with the first digit least significant.
It sends a value, written the same way, to the sum of the products of their digits, modulo g.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bytes, Indices, Mask, Symbols, Words
from deniable.kernels import compiled
from deniable.kernels.words import high_half, picked


@compiled
def classify(
    values: Indices,
    words: Words,
    truth: Any,
    bounds: Words,
    rejections: Words,
    table: Symbols,
    again: Mask,
    out: Symbols,
) -> int:
    """out = y N + the class of value - y mod K, or a uniform class; marks and counts rejected reports.

    Each report owns three words: the coin, a class below N and the public y below K. `bounds` are N and K;
    `table` gives the class of every difference, and N for the difference 0, which has no class and always sends the
    uniform one.
    """
    classes, modulus = bounds[0], bounds[1]
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = (first * classes < rejections[0]) | (second * modulus < rejections[1])
        again[i] = rejected
        count += rejected
        replacement, public = high_half(first, classes), high_half(second, modulus)
        own = np.uint64(table[(np.uint64(values[i]) + modulus - public) % modulus])
        kept = (coin < truth) & (own < classes)
        out[i] = np.uint32(public * classes + picked(kept, own, replacement))
    return count


_ONE = np.uint64(1)
_HALVES = tuple(np.uint64(step) for step in (16, 8, 4, 2, 1))


@compiled
def hash_or_replace(
    values: Indices,
    words: Words,
    truth: Any,
    bounds: Words,
    rejections: Words,
    firsts: Words,
    parts: Words,
    products: Bytes,
    again: Mask,
    out: Symbols,
) -> int:
    """out = s g + the hash of the value under seed s, or a uniform class; marks and counts rejected reports.

    Each report owns three words: the coin, a class below g and the seed's place s; `bounds` are g and the number of
    seeds. Places from firsts[j] up to the next of them are those of the seeds from g^j on.

    Values and seeds are hashed in parts of a few digits: `parts` holds the number of parts, the number G of values of a
    part, and m and r with x div G = (x m) >> r for all x below 2^31; `products` holds the hashes of all pairs of
    parts, or is empty if there are too many, and a part is then one digit.
    """
    base = bounds[0]
    count = 0
    for i in range(values.shape[0]):
        coin, first, second = words[3 * i], words[3 * i + 1], words[3 * i + 2]
        rejected = (first * base < rejections[0]) | (second * bounds[1] < rejections[1])
        again[i] = rejected
        count += rejected
        replacement, place = high_half(first, base), high_half(second, bounds[1])
        seed = place
        power = _ONE
        for j in range(firsts.shape[0]):
            seed = place - firsts[j] + power if place >= firsts[j] else seed
            power *= base
        own = _hash(np.uint64(values[i]), seed, base, parts, products)
        out[i] = np.uint32(place * base + picked(coin < truth, own, replacement))
    return count


@compiled
def _hash(value: Any, seed: Any, base: Any, parts: Words, products: Bytes) -> Any:
    """The inner product of the digits, modulo g; for g = 2, the parity of the common bits."""
    if base == np.uint64(2):
        common = value & seed
        for step in _HALVES:
            common ^= common >> step
        return common & _ONE
    size, multiplier, shift = parts[1], parts[2], parts[3]
    listed = products.shape[0] > 0
    total = np.uint64(0)
    for _ in range(parts[0]):
        rest, other = (value * multiplier) >> shift, (seed * multiplier) >> shift
        one, two = value - rest * size, seed - other * size
        total += np.uint64(products[one * size + two]) if listed else one * two
        value, seed = rest, other
    return total % base


@compiled()
def fold(counts: Any, line_cells: Indices, inverses: Indices, out: Any) -> None:
    """Add the cells of seed t a, class t z, to those of seed a, class z: both support the same values.

    `line_cells` gives for every vector the number of its line times g, plus t; `inverses` are the inverses modulo g.
    The vector 0 is no seed.
    """
    base = counts.shape[1]
    for place in range(counts.shape[0]):
        line, factor = divmod(line_cells[place + 1], base)
        step, z = inverses[factor], 0
        for y in range(base):
            out[line, z] += counts[place, y]
            z += step
            if z >= base:
                z -= base


@compiled()
def unfold(sums: Any, line_cells: Indices, inverses: Indices, out: Any) -> None:
    """The transpose of `fold`: every seed takes its cells from its line."""
    base = sums.shape[1]
    for place in range(out.shape[0]):
        line, factor = divmod(line_cells[place + 1], base)
        step, z = inverses[factor], 0
        for y in range(base):
            out[place, y] = sums[line, z]
            z += step
            if z >= base:
                z -= base
