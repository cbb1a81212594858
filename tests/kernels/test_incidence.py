"""The kernels that list which reports support which values equal their slow twins."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable.estimation.operators import designs
from deniable.estimation.operators.designs import ShiftFamily
from deniable.estimation.operators.hashing import LinearHashes
from deniable.kernels.incidence import column_sums, row_sums
from tests.naive import incidence as naive


@pytest.mark.twin
@given(st.integers(1, 11), st.integers(1, 40), st.integers(0, 2**32))
@settings(max_examples=40)
def test_sums_over_a_mask_equal_their_slow_twins(rows: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = rng.integers(0, 2, (rows, columns), dtype=np.uint8)
    scores, weights = rng.integers(-50, 50, columns).astype(float), rng.integers(-50, 50, rows).astype(float)
    by_row, by_column = np.empty(rows), np.empty(columns)
    row_sums(mask, scores, by_row)
    column_sums(mask, weights, by_column)
    assert by_row.tolist() == naive.row_sums(mask.tolist(), scores.tolist())
    assert by_column.tolist() == naive.column_sums(mask.tolist(), weights.tolist())


@pytest.mark.twin
@given(st.integers(3, 40), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=40)
def test_members_of_shifted_sets_equal_their_slow_twin(modulus: int, cohorts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.choice(modulus, rng.integers(1, modulus), replace=False)
    units = [m for m in range(1, modulus) if np.gcd(m, modulus) == 1]
    multipliers = tuple(int(m) for m in rng.choice(units, cohorts))
    family = ShiftFamily(modulus, base, multipliers)
    values, reports = rng.integers(0, modulus, 5), rng.integers(0, cohorts * modulus, 30)
    sets = [{int(d) * m % modulus for d in base} for m in multipliers]
    pairs = [divmod(report, modulus) for report in reports.tolist()]
    assert family.supported(values, reports).tolist() == naive.shifted_members(values.tolist(), pairs, sets, modulus)


@pytest.mark.twin
@given(st.integers(7, 40), st.integers(1, 3), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_pairs_of_shifted_sets_equal_their_slow_twin(modulus: int, cohorts: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.choice(modulus, rng.integers(1, 4), replace=False)
    units = [m for m in range(1, modulus) if np.gcd(m, modulus) == 1]
    multipliers = tuple(int(m) for m in rng.choice(units, cohorts))
    values, reports = rng.permutation(modulus)[:5], rng.integers(0, cohorts * modulus, 30)
    sets = [{int(d) * m % modulus for d in base} for m in multipliers]
    pairs = [divmod(report, modulus) for report in reports.tolist()]
    expected = np.argwhere(np.array(naive.shifted_members(values.tolist(), pairs, sets, modulus)).T)
    with patch.object(designs, "_MANY", 0), patch.object(designs, "_ROOM", rng.choice([0.0, 1.2])):
        found = ShiftFamily(modulus, base, multipliers).pairs(values, reports)
    assert found is not None
    assert sorted(zip(found[1].tolist(), found[0].tolist(), strict=True)) == [tuple(each) for each in expected.tolist()]


@pytest.mark.twin
@given(st.sampled_from([2, 3, 5, 7, 67]), st.integers(1, 4), st.integers(0, 2**32))
@settings(max_examples=40)
def test_equal_hashes_equal_their_slow_twin(base: int, digits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    hashes = LinearHashes(base, digits, base**digits, lines=False)
    values, reports = rng.integers(0, base**digits, 5), rng.integers(0, base * hashes.seeds, 30)
    pairs = [(report // base + 1, report % base) for report in reports.tolist()]
    assert hashes.supported(values, reports).tolist() == naive.hashed_equal(values.tolist(), pairs, base, digits)
