"""Decoding candidates: errors, intervals and discoveries are as stated, by simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.estimation.candidates import made, strings

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
    assert 0.94 < trial.covered[:, :-1].mean() < 0.997  # more than the level where unlisted strings skew the estimates
    assert trial.covered[:, -1].mean() >= 0.83  # of 30: 0.95 less three standard errors
    assert trial.false_share <= 0.05 + 0.03
    assert trial.called > trial.runs or world[2] < 2


def test_errors_about_the_population_include_its_sampling() -> None:
    trial = Trial((16, 32, 4.0, 60, 20, True), "least-squares", "population", complete=False)
    assert trial.scores.std() == pytest.approx(1, abs=0.08)
    assert 0.94 < trial.covered.mean() < 0.995


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
