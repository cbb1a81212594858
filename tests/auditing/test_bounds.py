"""The bound of the guessing game: its arithmetic, its false alarms, and what it certifies."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

import deniable as dn
from benchmarks import audits, audits_page
from deniable.auditing.empirical import game
from deniable.auditing.empirical.bounds import (
    epsilon_above,
    expected_bound,
    information,
    lower_limit,
    right_share,
    too_few,
)
from deniable.auditing.empirical.mechanisms import Source, audit_mechanism
from deniable.auditing.empirical.tables import dependent, uneven
from tests.running.figures import Record

SEED = 31


@pytest.mark.parametrize(("right", "guesses"), [(1, 10), (60, 100), (100, 100), (999_000, 1_000_000)])
def test_the_limit_is_that_of_clopper_and_pearson(right: int, guesses: int) -> None:
    low = lower_limit(right, guesses, 1e-3)
    assert low == pytest.approx(beta.ppf(1e-3, right, guesses - right + 1), rel=1e-9)
    assert binom.sf(right - 1, guesses, low) == pytest.approx(1e-3, rel=1e-6)


def test_no_right_guess_shows_nothing() -> None:
    assert epsilon_above(0, 0, 2, 0.05) == epsilon_above(0, 100, 2, 0.05) == 0
    assert epsilon_above(10, 100, 2, 0.05) == 0
    assert too_few(0, 0, 1.0, 2) == 1
    assert expected_bound(1.0, 1000, 0.0, 2, 0.05) == 0


def test_all_guesses_right_certify_no_more_than_their_number_allows() -> None:
    # p_low = alpha^(1/m), so that the bound is about log(m / log(1/alpha))
    assert epsilon_above(10**6, 10**6, 2, 1e-9) == pytest.approx(math.log(10**6 / math.log(1e9)), abs=1e-4)


def test_the_bound_rarely_exceeds_the_truth() -> None:
    rng = np.random.default_rng(SEED)
    share = right_share(1.0, 3)
    bounds = [epsilon_above(int(rng.binomial(1000, share)), 1000, 3, 0.05) for _ in range(4000)]
    # 5% at most; 4,000 runs have a standard error of 0.34%
    assert 0.02 < np.mean(np.array(bounds) > 1.0) <= 0.05 + 6 * 0.0034


def test_information_is_largest_near_e_plus_one_values() -> None:
    assert max(range(2, 30), key=lambda size: information(2.0, 1.0, size)) == round(math.exp(2) + 1)


@pytest.mark.parametrize("name", ["grr", "oue", "ss", "hr", "flh", "clh"])
def test_a_bound_of_a_sound_mechanism_is_near_what_is_expected(name: str) -> None:
    rng = np.random.default_rng(SEED)
    found = audit_mechanism(dn.mechanism(name, k=20, epsilon=2.0), 200_000, 1e-9, generator=rng)
    assert found.expected is not None
    assert found.bound == pytest.approx(found.expected, abs=0.05)
    assert 0.9 * found.promised < found.bound < found.promised


def test_windows_cover_all_values_and_have_one_size() -> None:
    rng = np.random.default_rng(SEED)
    windows = game.windows_of(10, 4, 10**6, rng)
    assert [len(window) for window in windows] == [4, 4, 4]
    assert set(np.concatenate(windows).tolist()) == set(range(10))
    assert len(game.windows_of(10_000, 2, 5000, rng)) == 5
    assert len(game.windows_of(5, 5, 10**6, rng)) == 1


def test_every_trial_is_played() -> None:
    m, rng, asked = dn.mechanism("grr", k=6, epsilon=1.0), np.random.default_rng(SEED), []
    values = game.values_of(m)
    windows = game.windows_of(6, 4, 10**6, rng)
    tally = game.play(m, values, windows, 300_001, game.fresh_reports(m), rng, asked.append)
    assert sum(asked) == tally.trials == 300_001
    assert sum(guesses for guesses, _ in tally.by_window) == tally.guesses.sum()
    assert (tally.right <= tally.guesses).all()


def test_an_open_domain_is_audited_on_strings() -> None:
    m = dn.mechanism("orr", domain=dn.Domain.open(), epsilon=2.0, cohorts=16, buckets=8, candidates=40)
    found = audit_mechanism(m, 100_000, 1e-9)
    assert 1.7 < found.bound < 2.0
    assert not found.faults


def test_values_may_be_of_several_types() -> None:
    domain = dn.Domain.integers(0, 3, other=True, no_answer=True)
    assert not audit_mechanism(dn.mechanism("grr", domain=domain, epsilon=2.0), 20_000, 1e-9).faults


def test_tables_are_compared_with_independence() -> None:
    rng = np.random.default_rng(SEED)
    one, other = rng.integers(8, size=(2, 20_000))
    assert not dependent(one, other)
    assert dependent(np.where(rng.random(20_000) < 0.1, other, one), other)
    assert not dependent(np.zeros(100, np.int64), one[:100])
    assert not uneven(one, 8)
    assert uneven(np.where(one == 7, 0, one), 8)
    assert not uneven(one[:10], 8)


@pytest.mark.soak
def test_the_bound_exceeds_the_truth_in_5_percent_of_2000_runs_at_most(seed: int, record_property: Record) -> None:
    rng = np.random.default_rng(seed)
    mechanisms = [dn.mechanism(name, k=10, epsilon=1.0) for name in ("grr", "sue", "clh", "ss")]
    over = [
        found.bound > m.guarantee().epsilon
        for m in mechanisms
        for source in [Source(game.fresh_reports(m))]  # without the companions, which have no part in the bound
        for found in (audit_mechanism(m, 100_000, 0.05, source=source, generator=rng) for _ in range(500))
    ]
    assert np.mean(over) <= 0.05 + 4 * 0.0049
    record_property("figure", f"bounds at 5%: above the truth in {np.mean(over):.1%} of {len(over):,} audits")


SHARES = {("grr", 0.5): 0.96, ("blh", 8.0): 0.975, ("hcms", 8.0): 0.975}
REFUSED = {("hpgr", 0.5)}  # mechanisms that do not suit an epsilon


@pytest.mark.soak
@pytest.mark.parametrize("epsilon", audits_page.EPSILONS)
@pytest.mark.parametrize("name", audits.names())
def test_ten_million_reports_certify_nearly_all_that_is_spent(
    name: str, epsilon: float, record_property: Record
) -> None:
    found = audits.certified(name, epsilon)
    assert ("refused" in found) == ((name, epsilon) in REFUSED)
    if "refused" not in found:
        share, expected = found["shares"][0], found["expected"]
        record_property("figure", f"{name} at {epsilon:g}: {share:.4f} certified in {found['seconds']} s")
        assert expected >= SHARES.get((name, epsilon), 0.985)
        # one run scatters about it by a sixth of what it lacks of 1, since alpha leaves six of these
        assert abs(share - expected) < 5 * (1 - expected) / 6
        assert share < 1.0
        assert not found["wrong"]


def test_information_keeps_its_digits_where_guesses_are_nearly_always_right() -> None:
    for epsilon in (36.0, 40.0, 50.0, 300.0):
        assert information(epsilon, 1.0, 16) == pytest.approx(15 * math.exp(-epsilon), rel=1e-9)
    sizes = range(2, 257)
    assert max(sizes, key=lambda size: information(40.0, 1.0, size)) == 256


def test_bounds_do_not_fall_where_epsilon_grows() -> None:
    less, more = (dn.audit(dn.mechanism("grr", k=16, epsilon=e), trials=5000).empirical for e in (36.0, 40.0))
    assert less is not None
    assert more is not None
    assert more.bound == less.bound
    assert more.size == 16
