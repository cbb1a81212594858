"""Tails without a normal approximation: exact for counts, Poisson with the largest step for other estimates."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, poisson

import deniable as dn
from deniable.estimation import tails
from deniable.estimation.channel import PureChannel, noise_at
from deniable.estimation.tails import BinomialTails, PoissonTails, Steps


def poisson_tails(*estimates: float, n: int = 200) -> PoissonTails:
    return PoissonTails(np.array(estimates), n, (0.02, 0.9, 0.0), Steps(up=1.5, down=1.2))


def test_the_ends_of_an_interval_are_where_the_tails_are_half_the_miss() -> None:
    tails, miss = poisson_tails(-0.01, 0.0, 0.05, 0.4), 0.01
    for ends, step, sign in zip(tails.interval(miss), (1.5, 1.2), (1, -1), strict=True):
        for x, f in zip(tails.unbiased, ends, strict=True):
            mean = 200 * noise_at(tails.noise, max(f, 0.0)) / step**2
            at = mean + sign * 200 * (x - f) / step
            # the Poisson tail at a real number lies between those of the whole numbers beside it
            assert poisson.sf(np.ceil(at) - 1, mean) - 1e-9 <= miss / 2 <= poisson.sf(np.floor(at) - 1, mean) + 1e-9


def test_a_count_of_rare_reports_has_almost_its_exact_tails() -> None:
    # supported by chance with probability q, and estimated by (count/n - q)/(p - q): steps of 1/(p - q)
    q, p, n = 0.002, 0.6, 300
    counts = np.arange(8)
    tails = PoissonTails(
        (counts / n - q) / (p - q), n, (q * (1 - q) / (p - q) ** 2, 0.0, 0.0), Steps(1 / (p - q), 1 / (p - q))
    )
    exact = binom.sf(counts - 1, n, q)
    assert tails.p_values() == pytest.approx(exact, rel=0.1)


def test_a_value_is_visible_from_the_estimate_that_absent_values_reach_with_the_stated_chance() -> None:
    tails = poisson_tails(0.1, 0.2)
    visible = np.full(len(tails.unbiased), tails.least_visible(1e-3))
    at = PoissonTails(visible, 200, tails.noise, tails.steps)
    assert at.p_values().min() == pytest.approx(1e-3, rel=1e-6)
    counts = BinomialTails(np.array([3, 40]), 500, PureChannel(Fraction(1, 2), Fraction(1, 50)))
    least = counts.least_visible(1e-3)
    count = round(500 * (float(counts.channel.q) + least * float(counts.channel.gain)))
    assert binom.sf(count - 1, 500, float(counts.channel.q)) <= 1e-3 < binom.sf(count - 2, 500, float(counts.channel.q))


def test_some_values_have_the_tails_they_have_among_all() -> None:
    steps = Steps(np.array([1.0, 2.0, 3.0]), 1.0, (np.array([0.01, 0.02, 0.03]), 0.5, 0.0))
    tails = PoissonTails(np.array([0.0, 0.1, 0.2]), 50, (np.array([0.02, 0.03, 0.04]), 0.9, 0.0), steps)
    chosen = np.array([True, False, True])
    for all_ends, some in zip(tails.interval(0.05), tails.only(chosen).interval(0.05), strict=True):
        assert some == pytest.approx(all_ends[chosen], abs=1e-9)


BLOCKS = {
    "hr": dn.mechanism("hr", k=6, epsilon=3.0, blocks=2),
    "rhr": dn.mechanism("rhr", k=6, epsilon=3.0, bits=2),
    "hpgr": dn.mechanism("hpgr", k=12, epsilon=3.0, q=2, t=2, h=4),
    "csr": dn.mechanism("csr", k=64, epsilon=3.0, padding=False, max_bits=6),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_the_steps_are_the_largest_moves_of_an_estimate_by_one_report(name: str) -> None:
    m = BLOCKS[name]
    moved = np.array([m.unbiased(m.summarize(np.array([payload]))) for payload in m.layout.all()])
    assert m.channel is None
    steps = m.steps_of(m.evidence(m.summarize(m.privatize(np.arange(m.k)))), "users")
    assert steps.up == pytest.approx(moved.max())
    assert steps.down == pytest.approx(1 - moved.min())


# all that are made from k and epsilon alone; none refuses the setting
@pytest.mark.parametrize("name", [name for name in dn.list_mechanisms() if name not in ("design", "matrix")])
def test_few_reports_on_many_values_keep_every_promise(name: str) -> None:
    # 50 reports on 200 values, 194 of them absent: family-wise error 5%, coverage of all at once 95%
    m = dn.mechanism(name, k=200, epsilon=5.0)
    true = np.array([20, 10, 8, 6, 4, 2, *[0] * 194])
    runs, wrong, missed = 60, 0, 0
    for seed in range(runs):
        estimate = m.estimate(dn.simulate(m, true, seed=seed), "unbiased")
        wrong += any(true[int(row.label)] == 0 for row in estimate.present(control="family"))
        low, high = estimate.interval(simultaneous=True)
        missed += not bool(((low <= true / 50) & (true / 50 <= high)).all())
    # 60 runs at 5%: more than 9 has a chance below 0.1%
    assert wrong <= 9
    assert missed <= 9


def test_a_normal_approximation_would_not_keep_them() -> None:
    m = dn.mechanism("rhr", k=200, epsilon=5.0)
    true = np.array([20, 10, 8, 6, 4, 2, *[0] * 194])
    missed = 0
    for seed in range(60):
        low, high = m.estimate(dn.simulate(m, true, seed=seed), "unbiased").interval(simultaneous=True, exact=False)
        missed += not bool(((low <= true / 50) & (true / 50 <= high)).all())
    assert missed > 20


@pytest.mark.parametrize("name", ["csr", "grr", "oue"])
@pytest.mark.parametrize("shape", ["flat", "zipf"])
def test_the_first_printed_row_is_covered(name: str, shape: str) -> None:
    m, n = dn.mechanism(name, k=100, epsilon=1.0), 10_000
    weights = np.ones(100) if shape == "flat" else np.arange(1, 101) ** -1.2
    true = np.floor(n * weights / weights.sum()).astype(np.int64)
    truth, hits, alone = true / true.sum(), 0, 0
    for seed in range(60):
        estimate = m.estimate(dn.simulate(m, true, seed=seed), "unbiased")
        (row,), (single,) = estimate.top(1), estimate.top(1, simultaneous=False)
        hits += row.low <= truth[int(row.label)] <= row.high
        alone += single.low <= truth[int(row.label)] <= single.high
    assert hits >= 52  # 57 of 60, less three standard errors
    if shape == "flat":
        assert alone < 30  # why simultaneous intervals are the default here


@pytest.mark.parametrize("simultaneous", [False, True])
@pytest.mark.parametrize("method", ["unbiased", "projected"])
@pytest.mark.parametrize("name", ["grr", "hr", "orr", "rhr", "hpgr", "mss"])
def test_the_intervals_of_some_values_are_those_they_have_among_all(
    name: str, method: str, simultaneous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = dn.mechanism(name, k=300, epsilon=4.0)
    estimate = m.estimate(m.summarize(m.privatize(np.arange(300) % 17, seed=3)), method)
    low, high = estimate.interval(simultaneous=simultaneous)
    solved: list[int] = []
    of_all = tails._poisson_tail

    def counted(mean: Any, excess: Any) -> Any:
        solved.append(len(mean))
        return of_all(mean, excess)

    monkeypatch.setattr(tails, "_poisson_tail", counted)
    for places in ([], [5], [299, 5, 5, 0], np.argsort(-estimate.frequencies)[:10]):
        rows = estimate.rows(simultaneous=simultaneous, places=places)
        assert [(row.low, row.high) for row in rows] == [(low[place], high[place]) for place in places]
    assert max(solved, default=0) <= 10
    assert estimate.rows(simultaneous=simultaneous, places=range(300)) == estimate.rows(simultaneous=simultaneous)
