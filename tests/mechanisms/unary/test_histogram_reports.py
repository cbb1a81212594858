"""Reports of histogram encoding: loops against their twins, bytes, simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.methods.iterative import iterate
from deniable.estimation.operators.dense import MatrixOperator
from deniable.estimation.operators.marks import LevelOperator
from deniable.kernels import unary as kernels
from tests.contract import checks as contract
from tests.naive import levels as naive_levels


@pytest.mark.twin
@pytest.mark.parametrize(("k", "reach"), [(2, 0), (3, 1), (5, 2), (4, 9), (3, 127)])
def test_levels_of_the_kernel_are_those_of_its_twin(k: int, reach: int, rng: np.random.Generator) -> None:
    m = dn.mechanism("she", k=k, epsilon=1.0, reach=reach)
    starts = [m.thresholds[f"level_{c}"] for c in range(1, m.levels)]
    edges = np.array([0, 2**64 - 1, *starts, *(t - 1 for t in starts)], np.uint64)
    n = 30
    words = rng.choice(edges, n * k)
    indices = rng.integers(0, k, n)
    out = m.layout.empty(n)
    kernels.draw_levels(indices, words, m.limits, m.levels, out)
    assert out.tolist() == naive_levels.draw_levels(indices.tolist(), words.tolist(), starts, k)
    sums = np.arange(k)
    kernels.add_levels(out, sums)
    assert sums.tolist() == naive_levels.add_levels(out.tolist(), list(range(k)))


@pytest.mark.twin
def test_the_operator_of_levels_agrees_with_its_matrix(rng: np.random.Generator) -> None:
    rows, odds = rng.integers(0, 6, (20, 7)).astype(np.uint8), rng.random(6)
    dense, operator = MatrixOperator(odds[rows].T), LevelOperator(rows, odds)
    weights, scores = rng.random(7), rng.random(20)
    np.testing.assert_allclose(operator.forward(weights), dense.forward(weights))
    np.testing.assert_allclose(operator.adjoint(scores), dense.adjoint(scores))
    np.testing.assert_allclose(operator.adjoint_squared(scores), dense.adjoint_squared(scores))


@pytest.mark.parametrize("name", ["she", "the"])
def test_kept_reports_give_the_maximum_of_the_exact_channel(name: str) -> None:
    m = dn.mechanism(name, k=5, epsilon=3.0)
    reports = m.privatize([0] * 90 + [1] * 60 + [4] * 30, seed=3)
    payloads = [contract.payload_key(row) for row in reports.data]
    matrix = np.array([[float(m._probability(y, x)) for y in payloads] for x in range(m.k)])
    exact = iterate(np.ones(180, np.int64), MatrixOperator(matrix / matrix.max(axis=0)))
    found = m.estimate(reports, "mle-reports")
    assert np.abs(found.frequencies - exact.frequencies).sum() <= 1e-8


@pytest.mark.parametrize(("k", "reach"), [(70, 2), (9, 0), (33, 31), (5, 100)])
def test_rows_of_levels_survive_bytes_and_arrow(k: int, reach: int, seed: int) -> None:
    m = dn.mechanism("she", k=k, epsilon=0.3, reach=reach)
    batch = m.privatize(np.arange(k))
    sent = m.encode_many(batch)
    assert {len(data) for data in sent} == {math.ceil(m.report_bits / 8)}
    assert sent == [m.encode(batch[i]) for i in range(k)]
    assert m.decode_many(sent) == batch
    assert m.decode_many([]).data.shape == (0, k)
    number = int.from_bytes(sent[0], "little")
    assert [number >> m.layout.level_bits * v & (2**m.layout.level_bits - 1) for v in range(k)] == batch.data[
        0
    ].tolist()
    assert dn.Reports.from_arrow(batch.to_arrow()) == batch
    contract.check_batch_equals_one_by_one(m, seed)
    contract.check_one_value_changes_one_report(m, seed)


@pytest.mark.parametrize("name", ["she", "the"])
def test_a_quadrillion_users_are_simulated_without_reports(name: str, seed: int) -> None:
    m = dn.mechanism(name, k=100, epsilon=1.0)
    f = m.estimate(dn.simulate(m, np.full(100, 10**13), seed=seed), "unbiased").frequencies
    assert (np.abs(f - 0.01) <= 6 * math.sqrt(m.variance(0.01, 10**15))).all()


def test_rare_levels_are_simulated_as_often_as_they_occur(seed: int) -> None:
    # at epsilon = 30 all levels but one have chances of 3e-7 and less
    m = dn.mechanism("she", k=2000, epsilon=30.0)
    n = 10**9
    found = m.unbiased(dn.simulate(m, np.eye(1, 2000, 0, np.int64)[0] * n, seed=seed))
    errors = (found - np.eye(1, 2000)[0]) ** 2
    assert errors.mean() == pytest.approx(m.variance(n=n), rel=6 * math.sqrt(2 / 2000))


@pytest.mark.parametrize("check", ["kernel", "plain", "sampler", "counts", "bytes"])
def test_levels_of_three_values_keep_the_contract(check: str, seed: int) -> None:
    # as all small settings do, but with too many reports to try each of them often
    m = dn.mechanism("she", k=3, epsilon=3.0, reach=1)
    {
        "kernel": lambda: contract.check_kernel_makes_the_channel(m, 6),
        "plain": lambda: contract.check_plain_path_makes_the_channel(m, 4),
        "sampler": lambda: contract.check_sampler_follows_channel(m, seed, defect=0.2),
        "counts": lambda: contract.check_summary_counts_every_report(m, seed),
        "bytes": lambda: contract.check_encoding_round_trips(m),
    }[check]()
