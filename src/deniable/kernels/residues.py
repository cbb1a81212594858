"""The loops of residue number systems: subsets of residues, and products with residue counts.

`fold` maps a vector over the values 0..k-1 to a vector over the residues of each modulus; `tile` is its transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.core.arrays import Bitmaps, Floats, Indices, Mask, Words
from deniable.kernels import compiled, part
from deniable.kernels.subsets import select
from deniable.kernels.words import high_half


@compiled
def select_residues(
    values: Indices,
    words: Words,
    stride: int,
    moduli: Indices,
    sizes: Indices,
    truths: Words,
    cohort_rejection: Any,
    rejections: Words,
    again: Mask,
    out: Bitmaps,
) -> int:
    """out = the cohort, then a subset of its residues as a bitmap; marks and counts rejected reports.

    Each report owns `stride` words: the cohort, then the words of subset selection for the cohort's modulus (see
    kernels/subsets.py), then words that only cohorts with larger subsets use.
    """
    cohorts = np.uint64(moduli.shape[0])
    residue = np.empty(1, np.int64)
    count = 0
    for i in range(values.shape[0]):
        first = i * stride
        word = words[first]
        rejected = word * cohorts < cohort_rejection
        j = np.int64(high_half(word, cohorts))
        w = sizes[j]
        residue[0] = values[i] % moduli[j]
        own = words[first + 1 : first + 2 + w]
        row = out[i : i + 1, 1:]
        select(residue, own, truths[j], np.uint64(moduli[j]), w, rejections[j], again[i : i + 1], row)
        out[i, 0] = np.uint64(j)
        again[i] |= rejected
        count += again[i]
    return count


@compiled()
def fold(vector: Floats, moduli: Indices, out: Floats) -> None:
    """out = A vector: for each modulus in turn, the sums over values of equal residue."""
    first = 0
    for j in range(moduli.shape[0]):
        m = moduli[j]
        _fold_one(vector, m, out[first : first + m])
        first += m


@compiled()
def tile(vector: Floats, moduli: Indices, weights: Floats, out: Floats) -> None:
    """out = A^T W vector: for each value, the weighted sum of the entries of its residues."""
    out[:] = 0.0
    first = 0
    for j in range(moduli.shape[0]):
        m = moduli[j]
        _add_tiles(vector[first : first + m], weights[j], out)
        first += m


@compiled()
def gram(vector: Floats, moduli: Indices, weights: Floats, ridge: float, room: Floats, out: Floats) -> None:
    """out = (A^T W A + ridge) vector, one modulus at a time, so that residues stay in cache; `room` is workspace."""
    for x in range(vector.shape[0]):
        out[x] = ridge * vector[x]
    for j in range(moduli.shape[0]):
        sums = room[: moduli[j]]
        _fold_one(vector, moduli[j], sums)
        _add_tiles(sums, weights[j], out)


@compiled(small=2**11)
def solve_gram(
    wanted: Floats,
    moduli: Indices,
    weights: Floats,
    ridge: float,
    tolerance: float,
    negligible: float,
    rounds: int,
    out: Floats,
) -> int:
    """Solve (A^T W A + ridge) out = wanted by conjugate gradients from zero; return the number of steps.

    Written out here because a product costs no more than the vector operations of a step, which are done two per pass
    through the vectors. Stops when the residual is `tolerance` times the initial one, or when a step has lowered the
    squared error, in the norm of the system, by no more than `negligible` (Hestenes and Stiefel 1952, theorem 6:1).
    """
    k = wanted.shape[0]
    largest = 0
    for j in range(moduli.shape[0]):  # `moduli.max()` takes a second to compile
        largest = max(largest, moduli[j])
    room = np.empty(largest)
    image, direction, residual = np.empty(k), wanted.copy(), wanted.copy()
    out[:] = 0.0
    norm = _squares(residual)
    least = tolerance * tolerance * norm
    for step in range(rounds):
        if norm <= least:
            return step
        gram(direction, moduli, weights, ridge, room, image)
        length = norm / _product(direction, image)
        for x in range(k):
            out[x] += length * direction[x]
            residual[x] -= length * image[x]
        if length * norm <= negligible:
            return step + 1
        previous, norm = norm, _squares(residual)
        turn = norm / previous
        for x in range(k):
            direction[x] = residual[x] + turn * direction[x]
    return rounds


@part
def _product(a: Floats, b: Floats) -> float:
    """The scalar product, as four sums, so that additions need not wait for each other."""
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    even = a.shape[0] // 4 * 4
    for x in range(0, even, 4):
        first += a[x] * b[x]
        second += a[x + 1] * b[x + 1]
        third += a[x + 2] * b[x + 2]
        fourth += a[x + 3] * b[x + 3]
    for x in range(even, a.shape[0]):
        first += a[x] * b[x]
    return first + second + third + fourth


@part
def _squares(a: Floats) -> float:
    return _product(a, a)


@part
def _fold_one(vector: Floats, m: int, out: Floats) -> None:
    k = vector.shape[0]
    for r in range(m):
        out[r] = vector[r]
    for start in range(m, k, m):
        piece = vector[start : min(start + m, k)]
        for r in range(piece.shape[0]):
            out[r] += piece[r]


@part
def _add_tiles(residues: Floats, weight: float, out: Floats) -> None:
    k, m = out.shape[0], residues.shape[0]
    for start in range(0, k, m):
        piece = out[start : min(start + m, k)]
        for r in range(piece.shape[0]):
            piece[r] += weight * residues[r]
