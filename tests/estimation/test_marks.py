"""The maximum of the likelihood from kept reports, where their summary does not carry it."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.methods.iterative import iterate
from deniable.estimation.operators.dense import MatrixOperator
from deniable.estimation.operators.marks import MarkOperator, ResidueMarkOperator
from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract.checks import payload_key

MARKING = ["mss", "oue", "ss", "sue"]


def matrix_of(m: Mechanism, reports: dn.Reports) -> np.ndarray:
    """Pr[report | value] of every kept report, exactly."""
    payloads = [payload_key(row) for row in reports.data]
    return np.array([[float(m._probability(y, x)) for y in payloads] for x in range(m.k)])


@pytest.mark.parametrize("name", MARKING)
def test_it_equals_the_maximum_of_the_exact_channel(name: str) -> None:
    m = dn.mechanism(name, k=6, epsilon=2.0)
    reports = m.privatize([0] * 150 + [1] * 100 + [4] * 50, seed=3)
    found = m.estimate(reports, "mle-reports")
    exact = iterate(np.ones(300, np.int64), MatrixOperator(matrix_of(m, reports)))
    assert np.abs(found.frequencies - exact.frequencies).sum() <= 1e-8
    assert found.details["gap"] <= 1e-12
    assert not found.unbiased


@pytest.mark.twin
@pytest.mark.parametrize("k", [3, 64, 65, 130])
def test_the_operator_agrees_with_its_matrix(k: int, rng: np.random.Generator) -> None:
    marks = rng.random((20, k)) < 0.3
    rows = np.zeros((20, -(-k // 64)), np.uint64)
    for i, v in zip(*np.nonzero(marks), strict=True):
        rows[i, v // 64] |= np.uint64(1) << np.uint64(v % 64)
    dense = MatrixOperator(np.where(marks, 2.5, 1.0).T)
    operator = MarkOperator(rows, k, 2.5)
    weights, scores = rng.random(k), rng.random(20)
    np.testing.assert_allclose(operator.forward(weights), dense.forward(weights))
    np.testing.assert_allclose(operator.adjoint(scores), dense.adjoint(scores))
    np.testing.assert_allclose(operator.adjoint_squared(scores), dense.adjoint_squared(scores))


@pytest.mark.parametrize(("k", "moduli"), [(6, (3, 4)), (90, (7, 65, 29)), (140, (129, 2, 13))])
def test_the_operator_on_residues_agrees_with_its_matrix(
    k: int, moduli: tuple[int, ...], rng: np.random.Generator
) -> None:
    ratios = tuple(1.5 + j for j in range(len(moduli)))
    rows = np.zeros((40, 1 - (-max(moduli) // 64)), np.uint64)
    matrix = np.ones((k, 40))
    for i, j in enumerate(rng.integers(len(moduli) - 1, size=40).tolist()):  # the last cohort has no report
        rows[i, 0] = j
        for r in np.flatnonzero(rng.random(moduli[j]) < 0.4).tolist():
            rows[i, 1 + r // 64] |= np.uint64(1) << np.uint64(r % 64)
            matrix[r :: moduli[j], i] = ratios[j]
    dense, operator = MatrixOperator(matrix), ResidueMarkOperator.of(k, moduli, ratios, rows)
    weights, scores = rng.random(k), rng.random(40)
    np.testing.assert_allclose(operator.forward(weights), dense.forward(weights))
    np.testing.assert_allclose(operator.adjoint(scores), dense.adjoint(scores))
    np.testing.assert_allclose(operator.adjoint_squared(scores), dense.adjoint_squared(scores))


def test_each_cohort_of_residues_has_a_ratio_of_its_own() -> None:
    m = dn.ModularSubsetSelection(6, epsilon=2.0, moduli=(3, 4), sizes=(2, 1))
    reports = m.privatize([0, 1, 2, 3, 4, 5] * 4, seed=5)
    operator, exact = m.reports_operator(reports.data), matrix_of(m, reports)
    weights = np.arange(1.0, 7.0)
    # up to a factor of the report alone
    factors = operator.forward(weights) / (weights @ exact)
    alone = operator.forward(np.eye(6)[2]) / exact[2]
    np.testing.assert_allclose(factors, alone)


def test_a_summary_is_not_enough_and_says_so() -> None:
    m = dn.mechanism("ss", k=6, epsilon=2.0)
    reports = m.privatize([0, 1, 2])
    with pytest.raises(dn.InvalidArgument, match="method must be one of"):
        m.estimate(m.summarize(reports), "mle-reports")
    assert m.estimate(reports, "projected").method == "projected"


def test_where_the_summary_carries_the_likelihood_both_agree() -> None:
    m = dn.mechanism("grr", k=6, epsilon=2.0)
    reports = m.privatize([0, 1, 2] * 50, seed=1)
    kept, summed = m.estimate(reports, "mle-reports"), m.estimate(m.summarize(reports), "mle")
    np.testing.assert_allclose(kept.frequencies, summed.frequencies, atol=1e-9)
