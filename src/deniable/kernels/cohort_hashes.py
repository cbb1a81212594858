"""The hash functions of hashing.py for many values and cohorts at once, and sums over their buckets.

A table has one row per hash function and one column per value; its entries are buckets. An entry equal to the
number of buckets marks a repeat: an earlier function of the same cohort gave the same bucket, which counts once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from deniable.core.arrays import Floats, Indices, Keys, Table, Words
from deniable.kernels import compiled, part
from deniable.kernels.words import high_half

_PRIME = np.uint64(2**61 - 1)
_BITS = np.uint64(61)
_SPARE = np.uint64(3)
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)
BLOCK = 4096  # values whose sums fit in the processor's cache
_READ_AGAIN = 16  # values per bucket in a block, so that a cohort's cells are read often once they are in the cache


@part
def full_high(a: Any, b: Any) -> Any:
    """The high half of the 128-bit product of two 64-bit words."""
    low = (a & _LOW) * (b & _LOW)
    first = (a >> _HALF) * (b & _LOW) + (low >> _HALF)
    second = (a & _LOW) * (b >> _HALF) + (first & _LOW)
    return (a >> _HALF) * (b >> _HALF) + (first >> _HALF) + (second >> _HALF)


@part
def affine_bucket(number: Any, a: Any, b: Any, buckets: Any) -> Any:
    """floor(buckets ((a number + b) mod P) / 2^61), P = 2^61 - 1; number, a and b below P, buckets below 2^32."""
    # 2^61 = 1 modulo P: the digits of the product in base 2^61 are added
    low = a * number
    image = (low & _PRIME) + ((low >> _BITS) | (full_high(a, number) << _SPARE)) + b
    image = (image & _PRIME) + (image >> _BITS)
    image -= _PRIME * np.uint64(image >= _PRIME)  # not a branch, which would depend on the value
    return high_half(image << _SPARE, buckets)


@part
def swapped(index: Any, first: Any, second: Any, size: Any) -> Any:
    """The image of an index under one round of a permutation with these two words; all numbers have 32 bits."""
    # every step is cut to 32 bits, which the compiler would widen
    key = np.uint32((np.uint64(first) * np.uint64(size)) >> _HALF)
    apart = np.uint32(key - index)
    partner = min(apart, np.uint32(apart + size))  # modulo size, at most 2^31, and 2^32
    word = np.uint32(second ^ max(index, partner))
    word = np.uint32(np.uint32(word ^ (word >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    word = np.uint32(np.uint32(word ^ (word >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    swap = np.uint32(word ^ (word >> np.uint32(16))) >> np.uint32(31)
    # by a mask of all ones or all zeros, so without a branch
    return np.uint32(index ^ np.uint32(np.uint32(index ^ partner) & np.uint32(np.uint32(0) - np.uint32(swap))))


@part
def permuted_index(index: Any, keys: Keys, size: Any) -> Any:
    """The image of an index under the permutation of these round keys."""
    place = np.uint32(index)
    for turn in range(0, keys.shape[0], 2):
        place = swapped(place, keys[turn], keys[turn + 1], size)
    return place


@compiled()
def fill_hashed(numbers: Indices, maps: Words, buckets: int, table: Table) -> None:
    """table[f, i] = the bucket of number i under function f, whose a and b are maps[f]."""
    for f in range(maps.shape[0]):
        a, b = maps[f, 0], maps[f, 1]
        for i in range(numbers.shape[0]):
            table[f, i] = affine_bucket(np.uint64(numbers[i]), a, b, np.uint64(buckets))


@compiled()
def fill_permuted(indices: Indices, keys: Keys, size: int, buckets: int, table: Table) -> None:
    """table[f, i] = the image of index i under permutation f, modulo the buckets."""
    places = np.empty(BLOCK, np.uint32)
    many, few = np.uint32(size), np.uint32(buckets)
    for first in range(0, indices.shape[0], BLOCK):
        count = min(BLOCK, indices.shape[0] - first)
        for f in range(keys.shape[0]):
            for i in range(count):
                places[i] = indices[first + i]
            # two rounds at a time, for many values, so that the processor handles several values at once
            for turn in range(0, keys.shape[1] - 3, 4):
                a, b, c, d = keys[f, turn], keys[f, turn + 1], keys[f, turn + 2], keys[f, turn + 3]
                for i in range(count):
                    places[i] = swapped(swapped(places[i], a, b, many), c, d, many)
            for turn in range(keys.shape[1] - keys.shape[1] % 4, keys.shape[1], 2):
                for i in range(count):
                    places[i] = swapped(places[i], keys[f, turn], keys[f, turn + 1], many)
            for i in range(count):
                table[f, first + i] = places[i] % few


@compiled()
def mark_repeats(table: Table, hashes: int, buckets: int) -> None:
    """Replace a bucket by `buckets` if an earlier of the `hashes` functions of its cohort gave the same bucket."""
    for f in range(table.shape[0]):
        for earlier in range(f - f % hashes, f):
            for i in range(table.shape[1]):
                if table[f, i] == table[earlier, i]:
                    table[f, i] = buckets


@compiled()
def gather(table: Table, hashes: int, cells: Floats, out: Floats) -> None:
    """out[i] = the sum over functions f of cells[f // hashes, table[f, i]]; the last column of cells is zero."""
    whole = table.shape[0] - table.shape[0] % 4
    block = max(BLOCK, _READ_AGAIN * cells.shape[1])
    for first in range(0, table.shape[1], block):
        last = min(first + block, table.shape[1])
        for i in range(first, last):
            out[i] = 0.0
        for f in range(0, whole, 4):  # four at a time, which writes the sums once
            a, b, c, d = (
                cells[f // hashes],
                cells[(f + 1) // hashes],
                cells[(f + 2) // hashes],
                cells[(f + 3) // hashes],
            )
            for i in range(first, last):
                half = a[table[f, i]] + b[table[f + 1, i]]
                out[i] += half + (c[table[f + 2, i]] + d[table[f + 3, i]])
        for f in range(whole, table.shape[0]):
            row = cells[f // hashes]
            for i in range(first, last):
                out[i] += row[table[f, i]]


@compiled()
def scatter(table: Table, hashes: int, weights: Floats, out: Floats) -> None:
    """out[f // hashes, table[f, i]] += weights[i] for every function and value."""
    whole = table.shape[0] - table.shape[0] % 4
    for f in range(0, whole, 4):  # four at a time, so that additions to one bucket need not wait for each other
        a, b, c, d = out[f // hashes], out[(f + 1) // hashes], out[(f + 2) // hashes], out[(f + 3) // hashes]
        for i in range(table.shape[1]):
            weight = weights[i]
            a[table[f, i]] += weight
            b[table[f + 1, i]] += weight
            c[table[f + 2, i]] += weight
            d[table[f + 3, i]] += weight
    for f in range(whole, table.shape[0]):
        row = out[f // hashes]
        for i in range(table.shape[1]):
            row[table[f, i]] += weights[i]


@compiled()
def through_cells(table: Table, start: float, weights: Floats, rows: Floats, out: Floats) -> None:
    """out[i] = the sum over cohorts of `start` plus the weights of all values in the bucket of value i; one hash each.

    Equivalent to `scatter` and then `gather`, for four cohorts at a time; `rows` is working space for their cells.
    """
    cohorts, values = table.shape
    out[:] = 0.0
    for c in range(0, cohorts - 3, 4):
        rows[:] = start
        for i in range(values):
            weight = weights[i]
            rows[0, table[c, i]] += weight
            rows[1, table[c + 1, i]] += weight
            rows[2, table[c + 2, i]] += weight
            rows[3, table[c + 3, i]] += weight
        for i in range(values):
            half = rows[0, table[c, i]] + rows[1, table[c + 1, i]]
            out[i] += half + (rows[2, table[c + 2, i]] + rows[3, table[c + 3, i]])
    for c in range(cohorts - cohorts % 4, cohorts):
        rows[0] = start
        for i in range(values):
            rows[0, table[c, i]] += weights[i]
        for i in range(values):
            out[i] += rows[0, table[c, i]]


@compiled(small=2**10)
def shared_buckets(table: Table, hashes: int, buckets: int, out: npt.NDArray[np.int32]) -> None:
    """out[i, j] += the number of buckets, over all cohorts, that hold both value i and value j."""
    for i in range(table.shape[1]):
        row = out[i]
        for f in range(table.shape[0]):
            own = table[f, i]
            if own != buckets:
                for g in range(f - f % hashes, f - f % hashes + hashes):
                    other = table[g]
                    for j in range(table.shape[1]):
                        row[j] += other[j] == own


@compiled()
def count_users(table: Table, hashes: int, users: Indices, out: Indices) -> None:
    """out[c, b] += the number of users of cohort c with a value in bucket b; users[c, i] of them have value i."""
    for f in range(table.shape[0]):
        own, row = users[f // hashes], out[f // hashes]
        for i in range(table.shape[1]):
            row[table[f, i]] += own[i]


@compiled()
def count_each(table: Table, hashes: int, values: Indices, cohorts: Indices, out: Indices) -> None:
    """out[c, b] += 1 for each user, where c is their cohort and b each bucket of their value there."""
    for i in range(values.shape[0]):
        first = cohorts[i] * hashes
        for f in range(first, first + hashes):
            out[cohorts[i], table[f, values[i]]] += 1
