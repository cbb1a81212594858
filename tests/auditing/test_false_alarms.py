"""What sound code is told: the exact chance of every alarm, also at large epsilon and with few trials."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

import deniable as dn
from deniable.auditing.empirical import game
from deniable.auditing.empirical.bounds import right_share, too_few
from deniable.auditing.empirical.companions import companions
from deniable.auditing.empirical.mechanisms import FALSE_ALARM, Source, audit_mechanism
from deniable.auditing.empirical.tables import dependent, least_tail, uneven


@pytest.mark.parametrize(
    ("k", "epsilon", "trials", "runs"),
    [(100, 14, 12_000, 30), (100, 12, 1000, 30), (4, 12, 1500, 30), (100, 15, 100_000, 6), (16, 13, 4000, 20)],
)
def test_sound_code_at_a_large_epsilon_is_not_accused(k: int, epsilon: float, trials: int, runs: int) -> None:
    m = dn.mechanism("grr", k=k, epsilon=epsilon)
    source = Source(game.fresh_reports(m))
    for seed in range(runs):
        found = audit_mechanism(m, trials, source=source, generator=np.random.default_rng(seed))
        assert (found.below, found.exceeds) == ("", False)


@pytest.mark.parametrize("guesses", [100, 12_000, 10**7])
@pytest.mark.parametrize("epsilon", [0.5, 4.0, 14.0])
def test_too_few_right_guesses_are_as_rare_as_is_said(guesses: int, epsilon: float) -> None:
    share = right_share(epsilon, 100)
    for level in (0.1, FALSE_ALARM):
        most = int(binom.ppf(level, guesses, share)) - 1  # the largest number that is refused
        if most >= 0:
            assert too_few(most, guesses, epsilon, 100) <= level
        assert too_few(most + 1, guesses, epsilon, 100) >= level


@pytest.mark.parametrize("epsilon", [14.0, 30.0])
def test_two_calls_may_agree_where_reports_are_nearly_the_values(epsilon: float) -> None:
    m = dn.mechanism("grr", k=100, epsilon=epsilon)
    assert list(companions(m, game.values_of(m), np.random.default_rng(1))) == []


@pytest.mark.parametrize("p", [0.5, 0.96, 0.977, 0.9995])
def test_a_table_of_independent_classes_is_refused_exactly_as_rarely_as_its_level(p: float) -> None:
    # at a level of 1 in 100 the share of 3,000 tables that are refused is at most that, whatever the expected counts
    rng = np.random.default_rng(7)
    draws = [(rng.random((2, 400)) < p).astype(np.int64) for _ in range(3000)]
    assert sum(dependent(one, other, 0.01) for one, other in draws) <= 30 + 4 * 30**0.5


def test_counts_of_classes_have_exact_tails() -> None:
    counts = np.array([5, 0, 0, 1])
    chances = np.full(4, 0.25)
    tails = [min(binom.cdf(c, 6, 0.25), binom.sf(c - 1, 6, 0.25)) for c in counts]
    assert least_tail(counts, chances) == pytest.approx(min(1.0, 8 * min(tails)))
    rng = np.random.default_rng(3)
    assert sum(uneven(rng.integers(30, size=90), 30, 0.01) for _ in range(2000)) <= 20 + 4 * 20**0.5


def test_a_weak_dependence_that_no_single_cell_shows_is_seen() -> None:
    rng = np.random.default_rng(5)
    values, seeds = rng.integers(16, size=100_000), rng.integers(64, size=100_000)
    shown = rng.random(100_000) < 0.15
    assert dependent(np.where(shown, seeds // 2 * 2 + values % 2, seeds), values)
    assert not dependent(seeds, values)
