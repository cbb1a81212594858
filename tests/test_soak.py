"""Long tests with fresh seeds: `make soak`. A failure prints its seed."""

from __future__ import annotations

import numpy as np
import pytest

import deniable as dn
from tests import contract

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("k", [2, 3, 7, 16, 33])
@pytest.mark.parametrize("name", dn.mechanisms())
def test_the_sampler_follows_the_channel_within_two_percent(name: str, k: int, epsilon: float, seed: int) -> None:
    contract.check_sampler_follows_channel(dn.mechanism(name, k=k, epsilon=epsilon), seed, defect=0.02)


@pytest.mark.parametrize("target", ["users", "population"])
@pytest.mark.parametrize(("k", "epsilon", "n"), [(2, 0.1, 10_000), (50, 1.0, 100_000), (500, 3.0, 100_000)])
@pytest.mark.parametrize("name", dn.mechanisms())
def test_intervals_cover_95_percent_over_100000_simulations(
    name: str, k: int, epsilon: float, n: int, target: str, seed: int
) -> None:
    m = dn.mechanism(name, k=k, epsilon=epsilon)
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(k, 0.5))
    fixed = rng.multinomial(n, shares)
    hits = 0.0
    for run in range(100_000):
        true = fixed if target == "users" else rng.multinomial(n, shares)
        low, high = m.estimate(dn.simulate(m, true, seed=seed + run), "unbiased", target=target).interval()
        truth = fixed / n if target == "users" else shares
        hits += ((low <= truth) & (truth <= high)).mean()
    assert 0.945 <= hits / 100_000 <= 0.955
