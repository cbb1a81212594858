"""Error bars: their formula, and how often they cover the truth."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import pytest

import deniable as dn

K, N = 20, 40_000
SHARES = np.arange(1, K + 1) ** -1.3 / (np.arange(1, K + 1) ** -1.3).sum()


def covered(estimate: dn.Estimate, truth: np.ndarray, **options: object) -> np.ndarray:
    low, high = estimate.interval(0.95, **options)  # type: ignore[arg-type]
    return (low <= truth) & (truth <= high)


@pytest.mark.parametrize("target", ["users", "population"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_unbiased_intervals_cover_95_percent_over_4000_simulations(epsilon: float, target: str, seed: int) -> None:
    m = dn.RandomizedResponse(K, epsilon)
    rng = np.random.default_rng(seed)
    fixed = rng.multinomial(N, SHARES)
    fixed[-3:] = 0  # absent values must be covered no more and no less often
    hits = np.zeros(K)
    for run in range(4000):
        true = fixed if target == "users" else rng.multinomial(N, SHARES)
        estimate = m.estimate(dn.simulate(m, true, seed=run + seed), "unbiased", target=target)
        truth = fixed / fixed.sum() if target == "users" else SHARES
        hits += covered(estimate, truth)
    assert 0.945 <= hits.mean() / 4000 <= 0.955
    # six standard errors: of each value on its own, of the three absent ones and of the three most frequent ones
    assert (np.abs(hits / 4000 - 0.95) <= 0.0207).all()
    assert abs(hits[-3:].mean() / 4000 - 0.95) <= 0.0120
    assert abs(hits[:3].mean() / 4000 - 0.95) <= 0.0120


@pytest.mark.parametrize("method", ["mle", "ibu", "projected", "normalized"])
def test_constrained_intervals_cover_at_least_as_often_and_hold_the_estimate(method: str) -> None:
    m = dn.RandomizedResponse(K, 1.0)
    true = (N * SHARES).astype(int)
    for run in range(200):
        summary = dn.simulate(m, true, seed=run)
        estimate, plain = m.estimate(summary, method), m.estimate(summary, "unbiased")
        truth = true / true.sum()
        assert (covered(estimate, truth) >= covered(plain, truth)).all()
        low, high = estimate.interval()
        assert (low <= estimate.frequencies).all()
        assert (estimate.frequencies <= high).all()
        assert low.min() >= 0
        assert high.max() <= 1


@pytest.mark.parametrize("simultaneous", [False, True])
def test_a_count_far_below_its_expectation_does_not_make_a_narrow_interval(simultaneous: bool) -> None:
    m = dn.RandomizedResponse(4, 0.5)
    usual, rare = [3544, 2152, 2152, 2152], [3896, 2152, 2152, 1800]
    high_usual = m.estimate(m.summarize(np.repeat(range(4), usual))).interval(simultaneous=simultaneous).high[3]
    high_rare = m.estimate(m.summarize(np.repeat(range(4), rare))).interval(simultaneous=simultaneous).high[3]
    assert high_rare == pytest.approx(high_usual, rel=0.05)
    assert high_rare > 0.01


def test_simultaneous_intervals_hold_for_all_values_at_once_even_when_counts_are_tiny() -> None:
    # expected noise count about 1: a normal approximation fails here, exact tails do not
    m = dn.RandomizedResponse(5000, 3.0)
    true = np.zeros(5000, np.int64)
    true[0], true[1] = 4000, 1000
    all_exact = all_score = 0
    for run in range(200):
        estimate = m.estimate(dn.simulate(m, true, seed=run), "unbiased")
        all_exact += covered(estimate, true / 5000, simultaneous=True).all()
        all_score += covered(estimate, true / 5000, simultaneous=True, exact=False).all()
    assert all_exact >= 190
    assert all_score < 150  # why exact tails are the default


@pytest.mark.parametrize("target", ["users", "population"])
def test_the_score_interval_ends_where_the_test_just_rejects(target: str) -> None:
    m = dn.RandomizedResponse(4, 1.0)
    summary = m.summarize(np.repeat([0, 1, 2, 3], [50, 30, 15, 5]))
    estimate = m.estimate(summary, "unbiased", target=target)
    z = NormalDist().inv_cdf(0.975)
    p, q, gain = float(m.channel.p), float(m.channel.q), float(m.channel.gain)
    for ends in estimate.interval(exact=False):
        for count, f in zip(summary.counts, ends, strict=True):
            chance = q + f * gain
            spread = chance * (1 - chance) if target == "population" else f * p * (1 - p) + (1 - f) * q * (1 - q)
            assert abs(count - 100 * chance) == pytest.approx(z * math.sqrt(100 * spread), rel=1e-9)


def test_the_exact_interval_ends_where_the_tail_is_half_the_miss() -> None:
    from scipy.stats import binom

    m = dn.RandomizedResponse(3, 1.0)
    summary = m.summarize(np.repeat([0, 1], [70, 30]))
    low, high = m.estimate(summary, "unbiased").interval(0.9, exact=True)
    q, gain = float(m.channel.q), float(m.channel.gain)
    for place, count in enumerate((70, 30)):
        assert binom.sf(count - 1, 100, q + low[place] * gain) == pytest.approx(0.05)
        assert binom.cdf(count, 100, q + high[place] * gain) == pytest.approx(0.05)
    assert q + low[2] * gain == pytest.approx(0, abs=1e-12)  # nothing was seen: no lower end


def test_wider_levels_and_simultaneous_intervals_contain_the_others() -> None:
    m = dn.RandomizedResponse(10, 1.0)
    estimate = m.estimate(dn.simulate(m, np.arange(10) * 1000), "unbiased")
    narrow, wide, joint = estimate.interval(0.8), estimate.interval(0.99), estimate.interval(0.8, simultaneous=True)
    for outer in (wide, joint):
        assert (outer.low < narrow.low).all()
        assert (outer.high > narrow.high).all()


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, "0.95", None, float("nan")])
def test_an_impossible_level_is_refused(level: object) -> None:
    m = dn.RandomizedResponse(3, 1.0)
    with pytest.raises(dn.InvalidArgument, match="level must lie strictly between 0 and 1"):
        m.estimate(m.summarize([0, 1, 2])).interval(level)  # type: ignore[arg-type]


def test_users_needed_gives_the_margin_and_the_power_it_promises(seed: int) -> None:
    m = dn.RandomizedResponse(10, 1.0)
    n = dn.users_needed(m, margin=0.02, f=0.3)
    true = np.array([round(0.3 * n), n - round(0.3 * n), *[0] * 8])
    low, high = m.estimate(dn.simulate(m, true, seed=seed), "unbiased").interval()
    assert (high - low)[0] / 2 == pytest.approx(0.02, rel=0.02)
    n = dn.users_needed(m, detect=0.05, power=0.8)
    true = np.array([round(0.05 * n), n - round(0.05 * n), *[0] * 8])
    seen = [m.estimate(dn.simulate(m, true, seed=run), "unbiased").interval().low[0] > 0 for run in range(2000)]
    assert np.mean(seen) == pytest.approx(0.8, abs=0.04)


def test_users_needed_takes_the_worst_frequency_by_default() -> None:
    m = dn.RandomizedResponse(4, 2.0)
    for target in ("users", "population"):
        worst = dn.users_needed(m, margin=0.01, target=target)
        grid = [dn.users_needed(m, margin=0.01, f=f, target=target) for f in np.linspace(0, 1, 101)]
        assert max(grid) <= worst <= max(grid) * 1.001
    assert dn.users_needed(m, margin=0.01, simultaneous=True) > dn.users_needed(m, margin=0.01)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"margin": 0.1, "detect": 0.1},
        {"margin": 0},
        {"margin": 2},
        {"detect": 0.1, "f": 0.5},
        {"margin": 0.1, "level": 1},
    ],
)
def test_users_needed_refuses_what_makes_no_sense(arguments: dict[str, float]) -> None:
    with pytest.raises(dn.InvalidArgument):
        dn.users_needed(dn.RandomizedResponse(4, 2.0), **arguments)  # type: ignore[arg-type]
