"""Long tests with fresh seeds: `make soak`. A failure prints its seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import deniable as dn
from tests.contract import cases
from tests.contract import checks as contract
from tests.running.figures import Record

pytestmark = pytest.mark.soak

# whose summaries take so little time that 20,000 of them can be drawn
CHEAP = ("grr", "oue", "sue", "the")


@pytest.mark.parametrize(("name", "setting"), cases.small_settings(), ids=str)
def test_the_sampler_follows_the_channel_within_two_percent(
    name: str, setting: dict[str, Any], seed: int, record_property: Record
) -> None:
    contract.check_sampler_follows_channel(dn.mechanism(name, **setting), seed, defect=0.02)
    record_property("figure", f"sampler of {name} {setting}: a defect of 2% would show, none found")


@pytest.mark.parametrize("name", CHEAP)
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0, 8.0])
@pytest.mark.parametrize("k", [7, 33])
def test_large_samples_lie_within_six_standard_errors(
    name: str, k: int, epsilon: float, seed: int, record_property: Record
) -> None:
    m = dn.mechanism(name, k=k, epsilon=epsilon)
    true = np.random.default_rng(seed).multinomial(10**7, np.full(k, 1 / k))
    found = m.estimate(m.summarize(m.privatize(np.repeat(np.arange(k), true), seed=seed)), "unbiased")
    errors = np.sqrt([m.variance(f, 10**7) for f in true / 10**7])
    worst = (np.abs(found.frequencies - true / 10**7) / errors).max()
    assert worst <= 6.2
    record_property(
        "figure", f"10,000,000 reports of {name}, k={k}, epsilon {epsilon:g}: at most {worst:.1f} errors off"
    )


@pytest.mark.parametrize("target", ["users", "population"])
@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 0.1, 10_000), (50, 1.0, 100_000), (500, 3.0, 100_000)])
@pytest.mark.parametrize("name", CHEAP)
def test_intervals_cover_95_percent_over_20000_simulations(
    name: str, k: int, epsilon: float, n: int, target: str, seed: int, record_property: Record
) -> None:
    m = dn.mechanism(name, k=k, epsilon=epsilon)
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(k, 0.5))
    fixed = rng.multinomial(n, shares)
    hits = 0.0
    for run in range(20_000):
        true = fixed if target == "users" else rng.multinomial(n, shares)
        low, high = m.estimate(dn.simulate(m, true, seed=seed + run), "unbiased", target=target).interval()
        truth = fixed / n if target == "users" else shares
        hits += ((low <= truth) & (truth <= high)).mean()
    # over k = 2 values the mean of 20,000 runs has a standard error of 0.0015 (the two are one)
    assert abs(hits / 20_000 - 0.95) <= max(0.005, 6 * 0.0015 if k == 2 else 0)
    record_property("figure", f"intervals of {name}, k={k}, epsilon {epsilon:g}, {target}: {hits / 20_000:.2%} of 95%")
