"""The maximum of the likelihood from kept reports, where their summary does not carry it."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.bayesian_update import iterate
from deniable.estimation.channel import MatrixOperator
from deniable.estimation.kept_reports import MarkOperator
from tests.contract import payload_key

MARKING = ["oue", "ss", "sue"]


def matrix_of(m: dn.SubsetSelection, reports: dn.Reports) -> np.ndarray:
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
