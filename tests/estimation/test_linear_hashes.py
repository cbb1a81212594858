"""Linear hashes: all pairs of values collide equally often, and sums over hashes by transforms are exact."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from deniable.estimation.operators.hashing import LinearHashes
from deniable.mechanisms.hashing.primes import collision
from tests.naive import hashing as naive_hashes

SEED = 2718
FAMILIES = [
    (base, count, lines)
    for base, count in ((2, 1), (2, 2), (2, 3), (2, 5), (3, 1), (3, 2), (3, 3), (5, 1), (5, 2), (7, 2))
    for lines in (False, True)
]


@pytest.mark.parametrize(("base", "count", "lines"), FAMILIES)
def test_every_pair_of_values_collides_equally_often(base: int, count: int, lines: bool) -> None:
    known = naive_hashes.seeds(base, count, lines)
    table = np.array(
        [[naive_hashes.linear_hash(x, seed, base, count) for x in range(base**count)] for seed in known], np.int64
    )
    for x, other in combinations(range(base**count), 2):
        assert Fraction(int((table[:, x] == table[:, other]).sum()), len(known)) == collision(base, count)


@pytest.mark.parametrize(("base", "count"), [(2, 3), (3, 2), (5, 2), (7, 1)])
def test_lines_are_just_enough_to_identify_all_values(base: int, count: int) -> None:
    # constant collisions need a matrix of rank k, and g classes of S seeds have rank 1 + S (g - 1) at most
    hashes = LinearHashes(base, count, base**count, lines=True)
    incidence = np.array([hashes.scatter(row).reshape(-1) for row in np.eye(base**count)])
    assert np.linalg.matrix_rank(incidence) == base**count == 1 + hashes.seeds * (base - 1)


@pytest.mark.parametrize(("base", "count", "lines"), FAMILIES)
@pytest.mark.parametrize("left_out", [0, 1, 3])
def test_support_and_its_transpose_are_those_of_brute_force(base: int, count: int, lines: bool, left_out: int) -> None:
    known, k = naive_hashes.seeds(base, count, lines), max(2, base**count - left_out)
    if k > base**count:
        return
    hashes, rng = LinearHashes(base, count, k, lines), np.random.default_rng(SEED)
    assert hashes.seeds == len(known)
    counts = rng.integers(0, 2**56 // len(known), (len(known), base))
    support, weights = [0] * k, rng.random(k)
    sums = np.zeros((len(known), base))
    for place, seed in enumerate(known):
        for x in range(k):
            y = naive_hashes.linear_hash(x, seed, base, count)
            support[x] += int(counts[place, y])
            sums[place, y] += weights[x]
    assert hashes.support(counts.reshape(-1)).tolist() == support
    assert hashes.support(counts.reshape(-1), piece=2**9).tolist() == support
    np.testing.assert_allclose(hashes.scatter(weights), sums, atol=1e-12)
    np.testing.assert_allclose(hashes.gather(counts.astype(np.float64)), support, rtol=1e-12)


@pytest.mark.parametrize("lines", [False, True])
def test_the_transform_of_full_cells_is_far_closer_than_a_half(lines: bool) -> None:
    base, count, k = 7, 4, 60
    hashes, known = LinearHashes(base, count, k, lines), naive_hashes.seeds(base, count, lines)
    counts = np.random.default_rng(SEED).integers(2**25, 2**26, (len(known), base))
    exact = [
        sum(int(counts[place, naive_hashes.linear_hash(x, seed, base, count)]) for place, seed in enumerate(known))
        for x in range(k)
    ]
    found = hashes.gather(counts)
    assert max(abs(Fraction(one) - whole) for one, whole in zip(found.tolist(), exact, strict=True)) < 1e-3
    assert hashes.support(counts.reshape(-1)).tolist() == exact


class Blurred(LinearHashes):
    """Transforms with errors as large as those of counts a million times too large for floats would be."""

    def gather(self, rows: Any) -> Any:
        return super().gather(rows) + 1e-3 * rows.max()


def test_sums_too_far_from_integers_are_made_again_in_smaller_pieces() -> None:
    counts = np.random.default_rng(SEED).integers(0, 1000, 24)
    exact = LinearHashes(3, 2, 9, lines=False).support(counts)
    blurred = Blurred(3, 2, 9, lines=False)
    assert np.abs(blurred.gather(counts.reshape(8, 3)) - exact).max() > 0.5
    assert blurred.support(counts).tolist() == exact.tolist()


def test_counts_near_the_largest_do_not_wrap() -> None:
    for base in (2, 3):
        counts = np.zeros(base**3 - base, np.int64)
        counts[base] = 2**62 - 1
        support = LinearHashes(base, 2, base**2, lines=False).support(counts)
        assert support.max() == 2**62 - 1
        assert support.min() == 0
