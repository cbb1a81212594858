"""Counts of simulated subsets have the joint law of real ones, for few users and for billions."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import deniable as dn
from deniable.randomness.simulated_subsets import subset_counts
from tests.contract import checks as contract


def made(k: int, epsilon: float, **parameters: int) -> dn.SubsetSelection:
    m = dn.mechanism("ss", k=k, epsilon=epsilon, **parameters)
    assert isinstance(m, dn.SubsetSelection)
    return m


def exact_law(m: dn.SubsetSelection, values: list[int]) -> dict[tuple[int, ...], float]:
    """The distribution of the counts of a few users, by enumeration."""
    law: Counter[tuple[int, ...]] = Counter()
    for chosen in itertools.product(list(m.layout.all()), repeat=len(values)):
        chance = math.prod(float(m.probability(y, x)) for y, x in zip(chosen, values, strict=True))
        law[tuple(sum(m.supports(y, v) for y in chosen) for v in range(m.k))] += chance
    return law


@pytest.mark.parametrize(("k", "w", "values"), [(4, 2, [1, 3]), (4, 3, [1, 1]), (3, 1, [0, 1, 2]), (5, 2, [4, 2])])
def test_the_counts_of_few_users_follow_their_exact_joint_law(
    k: int, w: int, values: list[int], rng: np.random.Generator
) -> None:
    m = made(k, 1.0, w=w)
    law = exact_law(m, values)
    true = np.bincount(values, minlength=k)
    chance = float((m.channel.p - Fraction(m.w, m.k)) / (1 - m.share))
    n = 6000
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(n):
        certain = rng.binomial(true, chance)
        seen[tuple(subset_counts(certain, len(values) - int(certain.sum()), w, rng).tolist())] += 1
    assert seen.keys() <= law.keys()
    expected = n * np.array(list(law.values()))
    assert not contract.chi_square_rejects(np.array([seen[counts] for counts in law], float), expected)


def test_simulated_counts_have_the_spread_of_real_ones(rng: np.random.Generator) -> None:
    # the sums are fixed, so the counts of two values are negatively correlated: their sum shows it
    m, runs = made(40, 1.0), 300
    true = np.full(40, 12_000)
    sums = [dn.simulate(m, true, seed=int(s)).counts[:20].sum() for s in rng.integers(0, 2**40, runs)]
    n, half = int(true.sum()), 20
    # half of the values: the number of them in a set has a hypergeometric law, a little off for the sender's own
    variance = n * m.w * 0.5 * 0.5 * (m.k - m.w) / (m.k - 1)
    assert np.var(sums) == pytest.approx(variance, rel=0.5)
    assert abs(np.mean(sums) - n * m.w / 2) < 6 * math.sqrt(variance / runs) * 1.5
    q = float(m.channel.q)
    assert half * n * q * (1 - q) > 1.9 * variance  # independent counts would be far off


def test_billions_of_users_are_simulated(seed: int) -> None:
    m = made(6, 1.0)
    true = np.array([3_000_000_000, 0, 1, 5, 0, 0])
    summary = dn.simulate(m, true, seed=seed)
    assert int(summary.counts.sum()) == summary.n * m.w
    errors = np.array([math.sqrt(m.variance(f, summary.n)) for f in true / summary.n])
    assert (np.abs(m.estimate(summary, "unbiased").frequencies - true / summary.n) < 6 * errors).all()


def test_few_and_many_users_have_the_same_mean(seed: int) -> None:
    m = made(200, 2.0)
    for true in (np.full(200, 5), np.full(200, 50_000)):  # reports made one by one, and by columns
        summary = dn.simulate(m, true, seed=seed)
        expected = summary.n * m.w / 200
        assert (np.abs(summary.counts - expected) < 6.5 * math.sqrt(expected)).all()
        assert int(summary.counts.sum()) == summary.n * m.w
    assert dn.simulate(m, np.zeros(200, np.int64)).n == 0
