"""Decoding candidates: the design is what its definition says, and every method solves the problem it names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import nnls

import deniable as dn
from deniable.estimation.cohorts import design as cohort_design
from deniable.estimation.cohorts.design import CohortDesign
from tests.estimation.candidates import DOMAIN, cells_of, dense, made, strings, zipf


@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("hashes", [1, 2])
def test_products_with_the_design_are_those_of_its_matrix(hashes: int, complete: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 7, (6 * hashes, 20)).astype(np.uint16)
    if hashes > 1:
        table[1::2][table[1::2] == table[::2]] = 7
    design = CohortDesign(table, 7, hashes, 0.2 if hashes > 1 else 1 / 7, complete)
    x, weights, cells = dense(design), rng.normal(size=20), rng.normal(size=(6, 7))
    assert np.allclose(design.scatter(weights).reshape(-1), x.T @ weights)
    assert np.allclose(design.gather(cells), x @ cells.reshape(-1))
    centred = x - x.mean(0) if complete else x
    assert np.allclose(design.gram(weights), centred @ centred.T @ weights)
    assert np.allclose(design.matrix, centred)
    assert np.allclose(design._gram, centred @ centred.T)
    assert np.allclose(design.inverse, np.linalg.pinv(centred @ centred.T))
    assert design.rank == np.linalg.matrix_rank(centred)
    assert np.allclose(design.inverse_sums[0], np.diag(np.linalg.pinv(centred @ centred.T)))


@pytest.mark.parametrize("hashes", [1, 2])
def test_threads_share_a_large_table_and_change_no_bit(
    hashes: int, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cohort_design, "LARGE", 0)
    table = rng.integers(0, 7, (37 * hashes, 20)).astype(np.uint16)
    if hashes > 1:
        table[1::2][table[1::2] == table[::2]] = 7
    design = CohortDesign(table, 7, hashes, 1 / 7)
    x, weights = dense(design), rng.normal(size=20)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("DENIABLE_THREADS", threads)
        found.append((design.scatter(weights), design.product(weights)))
    assert np.allclose(found[0][0].reshape(-1), x.T @ weights)
    assert np.allclose(found[0][1], x @ x.T @ weights)
    assert all(np.array_equal(*pair) for one in found[1:] for pair in zip(one, found[0], strict=True))


@pytest.mark.parametrize(
    ("name", "k", "cohorts", "buckets"),
    [("orr", 1000, 64, 64), ("orr", 1000, 20, 64), ("cms", 1000, 128, 16), ("hcms", 800, 16, 128)],
)
def test_estimates_end_within_a_hundredth_of_their_standard_errors_of_least_squares(
    name: str, k: int, cohorts: int, buckets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = dn.mechanism(name, k=k, epsilon=1.0, cohorts=cohorts, buckets=buckets)
    summary = dn.simulate(m, zipf(k, 20_000), seed=2)
    exact, inverse = m.unbiased(summary), np.diag(m.whole_design.inverse)
    errors = np.sqrt(cohorts * m.unit() / 20_000 * inverse)
    monkeypatch.setattr(cohort_design, "DENSE", 0)
    design = m.functions.design(np.arange(k), complete=True)
    moved = (m.cohort_cells(summary, design).solution - exact) / errors
    assert 0 < np.sqrt((moved**2).mean()) < 0.01
    assert np.abs(moved).max() < 0.03
    assert design.inverse_sums[0].mean() == pytest.approx(inverse.mean(), rel=0.02)


def test_a_singular_design_knows_its_rank() -> None:
    table = np.random.default_rng(1).integers(0, 3, (5, 30)).astype(np.uint16)
    table[:, 7] = table[:, 3]
    for complete in (False, True):
        design = CohortDesign(table, 3, 1, 1 / 3, complete)
        x = dense(design) - complete * dense(design).mean(0)
        assert design.rank == np.linalg.matrix_rank(x) < 30 - complete
        assert not design.identifiable
        assert np.allclose(design.inverse, np.linalg.pinv(x @ x.T), atol=1e-8)
        assert (3, 7) in design.repeated()


@pytest.mark.parametrize("complete", [False, True])
def test_conjugate_gradients_give_what_the_dense_path_gives(complete: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    m, names = made(32, 32), strings(400)
    true = zipf(400, 50_000)
    exact = cells_of(m, names, true, names, complete=complete).least_squares()
    monkeypatch.setattr(cohort_design, "DENSE", 0)
    found = cells_of(m, names, true, names, complete=complete).least_squares()
    errors = np.sqrt(exact.noise / 50_000)
    moved = (found.first - exact.first) / errors
    assert np.sqrt((moved**2).mean()) < 0.01
    assert np.abs(moved).max() < 0.03
    assert found.details["steps"] > 0 == exact.details["steps"]
    # the average of the errors, from random signs
    assert np.sqrt(found.noise[:400]).mean() == pytest.approx(np.sqrt(exact.noise[:400]).mean(), rel=0.02)
    if not complete:
        assert found.noise[-1] == pytest.approx(exact.noise[-1], rel=0.01)


@pytest.mark.parametrize("complete", [False, True])
def test_least_squares_solves_the_normal_equations(complete: bool) -> None:
    m, names = made(16, 8), strings(60)
    cells = cells_of(m, names, zipf(60, 10_000), names, complete=complete)
    x, wanted = dense(cells.design).T / 16, cells.cells.reshape(-1)
    if complete:
        # frequencies that add up to 1: the last one follows from the others
        others, *_ = np.linalg.lstsq(x[:, :-1] - x[:, -1:], wanted - x[:, -1], rcond=None)
        solution = np.append(others, 1 - others.sum())
    else:
        solution, *_ = np.linalg.lstsq(x, wanted, rcond=None)
    found = cells.least_squares()
    assert np.allclose(found.first[:60], solution, atol=1e-9)
    assert found.first.sum() == pytest.approx(1)


@pytest.mark.parametrize("count", [30, 100])
def test_nonnegative_least_squares_is_scipy_s(count: int) -> None:
    m, names = made(16, 8), strings(count)
    cells = cells_of(m, names, zipf(count, 10_000), names)
    wanted, _ = nnls(dense(cells.design).T / 16, cells.cells.reshape(-1))
    found = cells.nonnegative().frequencies
    assert np.allclose(found[:-1], wanted / max(1.0, wanted.sum()), atol=1e-7)
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)


def test_complete_nonnegative_least_squares_pulls_the_sum_to_one() -> None:
    m, names = made(16, 8), strings(60)
    cells = cells_of(m, names, zipf(60, 10_000), names, complete=True)
    free = replace(cells.design, complete=False)
    weight = np.sqrt(cells._norms.mean())
    rows = np.vstack([dense(free).T, np.full((1, 60), weight)])
    wanted, _ = nnls(rows, np.append(16 * cells.cells.reshape(-1), weight))
    assert np.allclose(cells.nonnegative().frequencies, wanted / wanted.sum(), atol=1e-7)


def test_projected_frequencies_are_a_distribution_near_least_squares() -> None:
    m, names = made(16, 8), strings(60)
    for complete in (False, True):
        cells = cells_of(m, names, zipf(60, 10_000), names, complete=complete)
        found = cells.projected()
        assert found.frequencies.min() >= 0
        assert found.frequencies.sum() == pytest.approx(1)
        assert np.array_equal(found.first, cells.least_squares().first)


def test_one_candidate_by_itself_is_least_squares_of_it_alone() -> None:
    m, names = made(16, 8), strings(60)
    cells = cells_of(m, names, zipf(60, 10_000), names)
    for place in (0, 17):
        alone = cells_of(m, names[place : place + 1], zipf(60, 10_000), names)
        assert alone.least_squares().first[0] == pytest.approx(cells.per_candidate().first[place], rel=1e-9)


def test_the_most_likely_frequencies_are_no_less_likely_than_others(seed: int) -> None:
    m, names = made(32, 16), strings(80)
    true = zipf(80, 20_000)
    summary = dn.simulate(m, true, seed=seed, candidates=names)
    for complete in (False, True):
        design = m.functions.design(DOMAIN.indices(names[:60]), complete=complete)
        channel = m.channel_of(design, unlisted=not complete)
        best = m.estimate(summary, "mle", candidates=names[:60], complete=complete)
        assert best.frequencies.sum() == pytest.approx(1)
        likelihoods = {
            method: summary.counts @ np.log(channel.forward(found.frequencies))
            for method in ("mle", "projected", "nonnegative")
            for found in [m.estimate(summary, method, candidates=names[:60], complete=complete)]
        }
        assert max(likelihoods, key=likelihoods.__getitem__) == "mle"


@pytest.mark.parametrize("method", ["selected", "per-candidate", None])
@pytest.mark.parametrize("complete", [False, True])
def test_more_candidates_than_equations_are_decoded(method: str | None, complete: bool) -> None:
    m, names = made(16, 16, epsilon=4.0), strings(3000)
    summary = dn.simulate(m, zipf(5, 50_000), seed=3, candidates=names[100:105])
    estimate = m.estimate(summary, method, candidates=names, complete=complete)
    assert len(estimate.frequencies) == 3000 + (not complete)
    assert estimate.details["load"] > 10
    found = {row.label for row in estimate.present(control="family")}
    # by itself a string has the others, twice as frequent some of them, for its noise
    assert set(names[100 : 101 if method == "per-candidate" else 103]) <= found
    assert len(found - set(names[100:105]) - {"(unlisted)"}) <= 1


def test_selection_keeps_what_is_present_and_fits_it_together() -> None:
    m, names = made(32, 16, epsilon=3.0), strings(2000)
    true = zipf(8, 100_000)
    estimate = m.estimate(dn.simulate(m, true, seed=1, candidates=names[:8]), "selected", candidates=names)
    assert 6 <= estimate.details["selected"] <= 12
    together = m.estimate(dn.simulate(m, true, seed=1, candidates=names[:8]), "least-squares", candidates=names[:8])
    assert np.abs(estimate.frequencies[:4] - together.frequencies[:4]).max() < 0.02
    assert estimate.frequencies.sum() <= 1 + 1e-9


def test_nobody_s_string_is_selected_from_noise() -> None:
    m, names = made(32, 16), strings(2000)
    summary = dn.simulate(m, [100_000], seed=1, candidates=["something else"])
    estimate = m.estimate(summary, candidates=names)
    assert estimate.details["selected"] <= 1
    assert estimate.frequencies[:-1].sum() < 0.1


def test_the_variance_of_a_candidate_s_cells_is_that_of_its_weights() -> None:
    # n Var of the estimate from its own cells is C^2/|X|^4 times the sum of X^2 times the variance of each cell
    m, names = made(16, 8), strings(20)
    summary = dn.simulate(m, zipf(20, 10_000), candidates=names)
    design = m.functions.design(DOMAIN.indices(names), complete=False)
    variances = m.cell_variances(summary)
    x, cells = dense(design), variances.observed.reshape(-1)
    norms = (x**2).sum(1)
    assert np.allclose(variances.around(design, norms, np.zeros(20)), (x**2) @ cells / norms)
    # a cell with nobody in it but the candidate's own users is as noisy as an empty one
    assert (variances.around(design, norms, np.ones(20)) == variances.least).all()
    # and all cells together are as noisy as stated
    assert cells.mean() == pytest.approx(m.unit() / m.cohorts)


def test_a_candidate_beside_a_frequent_unlisted_string_has_a_larger_error() -> None:
    m, names = made(16, 16, epsilon=4.0), strings(200)
    other = "not on the list"
    summary = dn.simulate(m, [30_000, *[350] * 200], seed=2, candidates=[other, *names])
    table = m.functions.table(DOMAIN.indices([other, *names]))
    shared = (table[:, 1:] == table[:, :1]).sum(0)
    errors = m.estimate(summary, "per-candidate", candidates=names).std_error[:-1]
    assert errors[shared >= 3].mean() > 1.2 * errors[shared == 0].mean()
