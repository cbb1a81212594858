"""A matrix as a mechanism: exact weights within epsilon, the best linear estimate, and reasons for refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deniable as dn
from deniable import ext
from deniable.estimation.channel import noise_at
from deniable.mechanisms.channels.rounding import MAX_CELLS, weights
from deniable.randomness.bounds import exponential_below
from tests.contract.cases import Case, Refused
from tests.contract.vectors import WEEK, Vector
from tests.mechanisms.channels.examples import SCALE, SKEW, WIDE, nearby, responses

CASE = Case(
    "matrix",
    small=[
        {"k": 2, "epsilon": 1.0, "matrix": SKEW},
        {"k": 3, "epsilon": 0.5, "matrix": responses(3)},
        {"k": 3, "epsilon": 1.5, "matrix": WIDE},
        {"k": 5, "epsilon": 1.0, "matrix": nearby(5, 1.0)},
        {"k": 4, "epsilon": 3.0, "matrix": nearby(4, 3.0)},
    ],
    large={"k": 100, "epsilon": 1.0},
    sizes=(10,),
    needed=lambda k: {"matrix": responses(k) if k * k <= MAX_CELLS else [[1.0]]},
    refused=Refused(15, 52),  # epsilon up to 0.1, which is less than log 1.5, and over 2^16 entries
    vectors={
        "ordinal": Vector({"labels": WEEK[:5], "epsilon": 2.25, "matrix": SCALE}),
        "fractions": Vector({"k": 3, "epsilon": 1.5, "matrix": WIDE}),
    },
)


def test_randomised_response_as_a_matrix_has_its_error_and_its_guarantee() -> None:
    grr = dn.mechanism("grr", k=6, epsilon=1.0)
    rows = [[grr.probability(report, value) for report in range(6)] for value in range(6)]
    m = ext.from_matrix(rows, epsilon=1.0)
    assert abs(m.ratio() - grr.ratio()) < Fraction(1, 2**58)
    for f in (0.0, 0.3, 1.0):
        assert m.variance(f, 100) == pytest.approx(grr.variance(f, 100), rel=1e-12)
    assert float(m.reconstruction_rate()) == pytest.approx(float(grr.reconstruction_rate()), rel=1e-15)
    counts = grr.summarize(grr.privatize([0, 1, 1, 2, 5] * 50, seed=4)).counts
    summary = dn.Summary(counts, 250, m.fingerprint)
    np.testing.assert_allclose(m.unbiased(summary), grr.unbiased(dn.Summary(counts, 250, grr.fingerprint)), atol=1e-12)


@given(
    st.integers(2, 5).flatmap(
        lambda k: st.lists(st.lists(st.integers(1, 40), min_size=6, max_size=6), min_size=k, max_size=k)
    ),
    st.sampled_from([2**8, 2**16, 2**64]),
)
@settings(max_examples=150)
def test_weights_sum_to_the_modulus_and_never_exceed_the_bound(rows: list[list[int]], modulus: int) -> None:
    matrix = [[entry / sum(row) for entry in row] for row in rows]  # floats, whose ratios are a little off
    columns = list(zip(*matrix, strict=True))
    bound = exponential_below(math.log(max(max(column) / min(column) for column in columns)) or 1e-9)
    try:
        found = weights(matrix, bound, modulus)
    except dn.InvalidArgument:
        assert modulus < 2**64
        return
    assert (found.sum(axis=1) == modulus).all()
    assert (found > 0).all()
    assert all(int(high) <= bound * int(low) for high, low in zip(found.max(axis=0), found.min(axis=0), strict=True))
    if modulus == 2**64:
        assert np.abs((found / modulus).astype(float) - np.array(matrix)).max() < 1e-12


def test_the_least_epsilon_is_that_of_the_matrix_and_less_is_refused() -> None:
    m = ext.from_matrix(nearby(5, 1.0))
    assert m.epsilon == pytest.approx(m.guarantee().epsilon, rel=1e-15)
    assert m.guarantee().ratio <= exponential_below(m.epsilon)
    assert dn.mechanism("matrix", k=5, epsilon=m.epsilon, matrix=nearby(5, 1.0)) == m
    with pytest.raises(dn.InvalidArgument, match=r"^epsilon must be at least 0\.\d+ for this matrix, got 0\.4"):
        ext.from_matrix(nearby(5, 1.0), epsilon=0.4)


def test_the_linear_estimate_has_the_least_variance_over_evenly_spread_users() -> None:
    m = ext.from_matrix(WIDE)
    matrix, adds = m.matrix_run, m._linear.adds
    spread = matrix.mean(axis=0)
    plain = np.linalg.pinv(matrix)  # unbiased too, but not the best
    assert (spread @ adds**2 <= spread @ plain**2 + 1e-12).all()
    assert spread @ adds**2 @ np.ones(3) < spread @ plain**2 @ np.ones(3)


def test_errors_and_steps_of_every_value_are_those_of_the_users_there_are() -> None:
    m, n = ext.from_matrix(WIDE), 1000
    shares = np.array([0.6, 0.1, 0.3])
    matrix, says = m.matrix_run, m._linear.adds
    counts = np.rint(n * 10**6 * shares @ matrix).astype(np.int64)
    evidence = m.evidence(dn.Summary(counts, int(counts.sum()), m.fingerprint))
    exact = shares @ (matrix @ says**2 - np.eye(3))  # n Var for the users there are, by every report of every value
    np.testing.assert_allclose(noise_at(m.noise_of(evidence, "users"), shares), exact, rtol=1e-6)
    sampled = exact + shares * (1 - shares)
    np.testing.assert_allclose(noise_at(m.noise_of(evidence, "population"), shares), sampled, rtol=1e-6)
    steps = m.steps_of(evidence, "users")
    assert (steps.up == says.max(axis=0)).all()
    assert (steps.down == 1 - says.min(axis=0)).all()
    for others in np.eye(3):
        for value in range(3):
            mixed = 0.25 * np.eye(3)[value] + 0.75 * others
            least = noise_at(steps.least, mixed[value])[value]
            assert least <= (mixed @ (matrix @ says**2 - np.eye(3)))[value] + 1e-12


def test_intervals_cover_every_value_and_absent_values_do_not_stand_out(seed: int) -> None:
    m = ext.from_matrix(nearby(5, 3.0))
    true, runs = np.array([3000, 0, 1500, 0, 500]), 300
    each, together, found = np.zeros(5), 0, 0
    for run in range(runs):
        e = m.estimate(dn.simulate(m, true, seed=seed + run), "unbiased")
        low, high = e.interval()
        each += (low <= true / 5000) & (true / 5000 <= high)
        low, high = e.interval(simultaneous=True)
        together += bool(((low <= true / 5000) & (true / 5000 <= high)).all())
        found += any(true[int(row.label)] == 0 for row in e.present(0.05, control="family"))
    # 6 standard errors of a share of 300 runs are 7.5%
    assert each.min() / runs >= 0.875
    assert together / runs >= 0.875
    assert found / runs <= 0.125


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], "matrix must tell the values apart"),
        ([[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]], "matrix must tell the values apart, got '3 by 2'. It has fewer reports"),
        (np.full((2**16, 1), 1.0), "matrix must tell the values apart, got '65536 by 1'"),  # 32 GiB, were it inverted
        ([[0.6, 0.3], [0.4, 0.6]], r"matrix must have rows that sum to 1, got 0\.9.* Row 0 does not"),
        ([[0.6, 0.4], [1.0, 0.0]], "matrix must have positive entries, got 0. Report 1: value 1 never makes it"),
        ([[0.6, 0.4, 0.0], [0.4, 0.6, 0.0]], "Report 2: no value makes it"),
        ([[0.6, 0.4], [1.2, -0.2]], "matrix must have entries from 0 to 1, as numbers or fractions, got 1.2. In row 1"),
        ([[0.6, "a/b"], [0.4, 0.6]], "matrix must have entries from 0 to 1"),
        ([[0.6, "1/0"], [0.4, 0.6]], "matrix must have entries from 0 to 1"),
        ([[0.6, float("nan")], [0.4, 0.6]], "matrix must have entries from 0 to 1"),
        ([[True, False], [0.4, 0.6]], "matrix must have entries from 0 to 1"),
        ([[0.6, 0.4], [1.0]], "matrix must be rows of equal length"),
        ([0.6, 0.4], "matrix must be rows of equal length"),
        (7, "matrix must be rows of equal length"),
        (np.full((300, 300), 1 / 300), f"matrix must have at most {MAX_CELLS} entries"),
    ],
)
def test_a_matrix_that_is_no_mechanism_is_refused_with_the_reason(matrix: Any, complaint: str) -> None:
    with pytest.raises(dn.InvalidArgument, match=complaint) as caught:
        ext.from_matrix(matrix)
    assert "\n" not in str(caught.value)


def test_a_matrix_is_given_with_labels_or_a_domain() -> None:
    assert ext.from_matrix(SKEW, labels=["a", "b"]).domain == dn.Domain.categories(["a", "b"])
    assert ext.from_matrix(np.array(SKEW), domain=dn.Domain.integers(3, 4)).k == 2
    with pytest.raises(dn.InvalidArgument, match="matrix must have one row for each of the 3 values, got '2 rows'"):
        ext.from_matrix(SKEW, labels=["a", "b", "c"])
    with pytest.raises(dn.InvalidArgument, match="domain must be given exactly once"):
        ext.from_matrix(SKEW, labels=["a", "b"], domain=dn.Domain.integers(3, 4))


def test_equal_matrices_have_equal_specs_however_they_are_written() -> None:
    written = [[[0.75, 0.25], [0.5, 0.5]], [["3/4", "1/4"], [Fraction(1, 2), 0.5]], np.array(SKEW, np.float32)]
    assert len({ext.from_matrix(matrix).fingerprint for matrix in written}) == 1


def test_too_small_entries_are_refused_since_no_word_leads_there() -> None:
    tiny = 1e-21
    with pytest.raises(dn.InvalidArgument, match="matrix must have larger entries"):
        ext.from_matrix([[0.6, 0.4 - tiny, tiny], [0.4 - tiny, 0.6, tiny]], epsilon=1.0)
