"""Decoding candidates: least squares is least squares, errors are as stated, and what is called present is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import nnls

import deniable as dn
from deniable.estimation.cohorts import design as cohort_design
from deniable.estimation.cohorts.decoding import CohortCells
from deniable.estimation.cohorts.design import CohortDesign
from deniable.estimation.presence import p_values, score_at, significant

DOMAIN = dn.Domain.open()


def strings(count: int, of: object = "") -> list[str]:
    return [f"string {number} of {of}" for number in range(count)]


def made(cohorts: int, buckets: int, epsilon: float = 2.0, seed: int = 0) -> dn.HashedResponse:
    return dn.HashedResponse(DOMAIN, epsilon, cohorts=cohorts, buckets=buckets, candidates=1, seed=seed)


def zipf(count: int, n: int) -> np.ndarray:
    shares = 1 / np.arange(1, count + 1)
    true = np.floor(n * shares / shares.sum()).astype(np.int64)
    true[0] += n - true.sum()
    return true


def cells_of(m: dn.HashedResponse, listed: list[str], true: Any, users: list[str], **options: Any) -> CohortCells:
    summary = dn.simulate(m, true, seed=options.pop("seed", 0), candidates=users)
    return m.cohort_cells(summary, m.functions.design(DOMAIN.indices(listed), complete=options.pop("complete", False)))


def dense(design: CohortDesign) -> np.ndarray:
    """X written out from its definition, a row for each value."""
    x = np.full((design.values, design.cohorts, design.buckets), -design.centre)
    for f, row in enumerate(design.table.tolist()):
        for value, bucket in enumerate(row):
            if bucket < design.buckets:
                x[value, f // design.hashes, bucket] = 1 - design.centre
    return x.reshape(design.values, -1)


# The design ----------------------------------------------------------------------------------------


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
    assert (np.abs(found.first - exact.first) < 1e-3 * errors).all()
    assert found.details["steps"] > 0 == exact.details["steps"]
    # the average of the errors, from random signs
    assert np.sqrt(found.noise[:400]).mean() == pytest.approx(np.sqrt(exact.noise[:400]).mean(), rel=0.02)
    if not complete:
        assert found.noise[-1] == pytest.approx(exact.noise[-1], rel=0.01)


# The methods ---------------------------------------------------------------------------------------


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


# Errors, by simulation -----------------------------------------------------------------------------

# cohorts, buckets, epsilon, strings listed, strings unlisted, skewed
WORLDS = [
    (16, 32, 0.5, 60, 0, True),
    (16, 32, 2.0, 60, 60, True),
    (32, 16, 6.0, 150, 50, False),
    (32, 16, 6.0, 150, 50, True),
    (64, 8, 1.0, 200, 0, False),
]
N = 50_000


class Trial:
    """Many collections in one world, each with strings and hash functions of its own, decoded by one method."""

    def __init__(
        self, world: tuple[int, int, float, int, int, bool], method: str, target: str, complete: bool, runs: int = 30
    ) -> None:
        cohorts, buckets, epsilon, listed, unlisted, skewed = world
        rng = np.random.default_rng(20_261_116)
        shares = 1 / np.arange(1, listed + unlisted + 1) if skewed else np.ones(listed + unlisted)
        shares /= shares.sum()
        scores, rest, covered, wrong, called = [], [], [], 0.0, 0
        for run in range(runs):
            m, names = made(cohorts, buckets, epsilon, seed=run), strings(listed + unlisted, run)
            order = rng.permutation(listed + unlisted)[:listed]
            true = rng.multinomial(N, shares)
            absent = strings(30, f"nobody {run}")
            summary = dn.simulate(m, true, seed=run, candidates=names)
            ours = [*[names[place] for place in order], *(() if complete else absent)]
            estimate = m.estimate(summary, method, candidates=ours, target=target, complete=complete)
            truth = (true / N if target == "users" else shares)[order]
            if not complete:
                truth = np.concatenate([truth, np.zeros(30), [1 - truth.sum()]])
            low, high = estimate.interval(0.95)
            covered.append((low <= truth + 1e-12) & (truth <= high + 1e-12))
            rule: Any = estimate.interval_rule
            v0, v1, v2 = rule.noise
            score = (rule.unbiased - truth) / np.sqrt((v0 + v1 * truth + v2 * truth**2) / N)
            scores.append(score if complete else score[:-1])
            rest.append(0.0 if complete else score[-1])
            there = [row.label for row in estimate.present()]
            false = sum(label in set(absent) for label in there)
            wrong, called = wrong + false / max(len(there), 1), called + len(there)
        self.runs = runs
        self.scores, self.rest = np.array(scores), np.array(rest)
        self.covered, self.false_share, self.called = np.array(covered), wrong / runs, called


@pytest.mark.parametrize("method", ["least-squares", "per-candidate"])
@pytest.mark.parametrize("world", WORLDS, ids=str)
def test_errors_intervals_and_discoveries_are_as_stated(world: Any, method: str) -> None:
    trial = Trial(world, method, "users", complete=False)
    assert abs(trial.scores.mean()) < 0.1
    # a string that shares cells with an unlisted frequent one is given a larger error than it needs on average
    assert 0.8 < trial.scores.std() < 1.06
    assert (trial.scores**4).mean() / (trial.scores**2).mean() ** 2 < 3.6  # 3 for normal scores
    assert 0.94 < trial.covered[:, :-1].mean() < 0.985
    assert trial.covered[:, -1].mean() >= 0.83  # of 30: 0.95 less three standard errors
    assert trial.false_share <= 0.05 + 0.03
    assert trial.called > trial.runs or world[2] < 2


def test_errors_about_the_population_include_its_sampling() -> None:
    trial = Trial((16, 32, 4.0, 60, 20, True), "least-squares", "population", complete=False)
    assert trial.scores.std() == pytest.approx(1, abs=0.08)
    assert 0.94 < trial.covered.mean() < 0.975


@pytest.mark.parametrize("target", ["users", "population"])
def test_errors_of_complete_lists_are_as_stated(target: str) -> None:
    trial = Trial((16, 32, 2.0, 100, 0, True), "least-squares", target, complete=True)
    assert trial.scores.std() == pytest.approx(1, abs=0.06)
    assert 0.935 < trial.covered.mean() < 0.97


@pytest.mark.parametrize("method", ["selected", "projected", "nonnegative", "mle"])
def test_intervals_of_constrained_estimates_cover_at_least_as_often(method: str) -> None:
    trial = Trial((32, 16, 3.0, 100, 60, True), method, "users", complete=False, runs=8)
    assert trial.covered[:, :-1].mean() > 0.94
    assert trial.covered[:, -1].mean() >= 0.74
    assert trial.false_share <= 0.05 + 0.03


def test_selected_strings_beyond_the_equations_are_there() -> None:
    trial = Trial((16, 16, 4.0, 400, 0, True), "selected", "users", complete=False, runs=20)
    assert trial.covered[:, :-1].mean() > 0.94
    assert trial.covered[:, -1].mean() >= 0.8
    assert trial.false_share <= 0.05 + 0.03


# Presence ------------------------------------------------------------------------------------------


def test_the_step_up_rule_is_benjamini_and_hochberg_s() -> None:
    # their example, section 3.2: fifteen p-values, four of which are found at the rate 0.05, three by Bonferroni
    chances = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719]
    chances += [0.6528, 0.7590, 1.0000]
    assert significant(np.array(chances), 0.05).nonzero()[0].tolist() == [0, 1, 2, 3]
    assert significant(np.array(chances), 0.05, "family").nonzero()[0].tolist() == [0, 1, 2]
    assert significant(np.array(chances[::-1]), 0.05).nonzero()[0].tolist() == [11, 12, 13, 14]


@pytest.mark.parametrize("control", ["discoveries", "family"])
def test_false_alarms_stay_below_the_rate(control: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = []
    for _ in range(2000):
        first = rng.normal(size=50)
        first[:5] += 4
        found = significant(p_values(first, np.ones(50), 1), 0.1, control)
        false = found[5:].sum()
        shares.append(false / max(found.sum(), 1) if control == "discoveries" else float(false > 0))
    assert np.mean(shares) < 0.1 + 4 * 0.1 / np.sqrt(2000)
    assert np.mean(shares) > 0.05


def test_presence_asks_for_a_rate_and_a_control() -> None:
    m = dn.mechanism("grr", k=4, epsilon=3.0)
    estimate = m.estimate(dn.simulate(m, [900, 100, 0, 0], seed=1))
    assert [row.label for row in estimate.present()] == [0, 1]
    with pytest.raises(dn.InvalidArgument, match="rate must lie strictly between 0 and 1"):
        estimate.present(0)
    with pytest.raises(dn.InvalidArgument, match="control must be one of discoveries, family"):
        estimate.present(control="none")


def test_strings_that_nobody_has_are_not_found_where_cells_hold_few_reports() -> None:
    """Counts of 4 and of 125 reports lean to the right: taken for normal, most lists would have a false string."""
    absent = [f"absent {number}" for number in range(20_000)]
    for n, cohorts, buckets, epsilon in ((2000, 16, 512, 8.0), (50_000, 64, 401, 6.0)):
        people = [f"string {number}" for number in range(n)]
        wrong = 0
        for seed in range(6):
            domain = dn.Domain.open(key=str(seed))
            m = dn.mechanism("orr", domain=domain, epsilon=epsilon, candidates=100, cohorts=cohorts, buckets=buckets)
            summary = dn.simulate(m, np.ones(n, np.int64), candidates=people, seed=seed)
            found = m.estimate(summary, "per-candidate", candidates=absent).present()
            wrong += any(row.label != "(unlisted)" for row in found)
        assert wrong <= 1  # of 6 at 5% each, 2 or more with a chance of 3% if the seeds were not fixed


def test_chances_of_leaning_estimates_are_those_of_gamma_variables() -> None:
    from scipy.stats import norm, pearson3

    scores = np.array([-3.0, 0.0, 2.0, 5.0])
    for skewness in (0.01, 0.5, 2.0):
        chances = p_values(scores, np.ones(4), 1, skewness)
        np.testing.assert_allclose(chances, pearson3.sf(scores, skewness), rtol=1e-6)
        assert score_at(float(chances[-1]), skewness) == pytest.approx(5.0)
    np.testing.assert_allclose(p_values(scores, np.ones(4), 1, -1.0), norm.sf(scores))
    assert score_at(0.025) == pytest.approx(1.96, abs=1e-4)
