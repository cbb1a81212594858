"""Differences of two estimates, and the test that groups are alike: coverage, false alarms, power."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import deniable as dn
from deniable.derived.alike import fisher
from deniable.mechanisms.base.mechanism import Mechanism

LABELS = ["a", "b", "c", "d", "e"]
SHARES = np.array([0.4, 0.3, 0.2, 0.08, 0.02])
RUNS = 200


@cache
def made(name: str) -> Mechanism:
    return dn.mechanism(name, labels=LABELS, epsilon=3.0)


def drawn(name: str, shares: np.ndarray, n: int, rng: np.random.Generator) -> dn.Estimate:
    """The estimate of a sample of users from a population."""
    m = made(name)
    summary = dn.simulate(m, rng.multinomial(n, shares), seed=int(rng.integers(2**32)))
    return m.estimate(summary, "unbiased", target="population")


def test_differences_of_two_mechanisms_contain_the_truth(rng: np.random.Generator) -> None:
    other = np.array([0.35, 0.3, 0.2, 0.08, 0.07])
    each, together = np.zeros(len(LABELS)), 0
    for _ in range(RUNS):
        found = drawn("grr", other, 400, rng) - drawn("oue", SHARES, 700, rng)
        low, high = found.interval()
        each += (low <= other - SHARES) & (other - SHARES <= high)
        low, high = found.interval(simultaneous=True)
        together += bool(((low <= other - SHARES) & (other - SHARES <= high)).all())
    fewest = 178  # of 200 at 95%, fewer with a chance of 1 in 1,000
    assert each.min() >= fewest, each
    assert together >= fewest


def test_differences_are_by_label_whatever_the_order() -> None:
    one = dn.mechanism("grr", labels=["x", "y", "z"], epsilon=5.0)
    two = dn.mechanism("oue", labels=["z", "x", "y"], epsilon=5.0)
    first = one.estimate(dn.simulate(one, [5000, 3000, 2000], seed=1))
    second = two.estimate(dn.simulate(two, [4000, 4000, 2000], seed=2))
    found = first - second
    assert found["x"].value == pytest.approx(0.1, abs=0.05)
    assert found["z"].value == pytest.approx(-0.2, abs=0.05)
    assert [each.name for each in found] == ["x", "y", "z"]
    assert found["y"].std_error == pytest.approx(
        np.hypot(*(each.sums.rows(0.95, False)[1][1 if each is first else 2] for each in (first, second)))
    )
    assert found.largest(1)[0].name == "z"
    assert "at once" in found.largest(1)[0].note
    assert len(found.to_dict()["values"]) == len(found) == 3
    assert str(found).count("\n") == 3


@pytest.mark.parametrize(("name", "exact"), [("grr", True), ("hr", True), ("orr", True), ("she", False)])
def test_groups_that_are_alike_seldom_differ(name: str, exact: bool, rng: np.random.Generator) -> None:
    alarms = 0
    for _ in range(RUNS):
        found = dn.alike([drawn(name, SHARES, n, rng) for n in (60, 100, 200)])
        alarms += found.differ
        assert found.exact == exact
    assert alarms <= 21  # of 200 at 5%, more with a chance of 1 in 1,000


def test_groups_that_differ_are_told_apart_by_their_label(rng: np.random.Generator) -> None:
    other = np.array([0.3, 0.3, 0.2, 0.08, 0.12])
    for name in ("grr", "orr"):
        found = dn.alike({"old": drawn(name, SHARES, 5000, rng), "new": drawn(name, other, 5000, rng)})
        assert found.differ
        assert found.label in ("a", "e")
        assert found.groups == ("old", "new")
        assert "differ, most in" in str(found)
        assert found.to_dict()["differ"]


def test_groups_of_users_are_tested_by_the_normal_approximation() -> None:
    m = dn.mechanism("grr", labels=LABELS, epsilon=3.0)
    groups = [m.estimate(dn.simulate(m, [40, 30, 20, 8, 2], seed=seed)) for seed in range(2)]
    found = dn.alike(groups)
    assert not found.exact
    assert found.target == "users"
    with pytest.raises(TypeError, match="differ"):
        bool(found)


def test_fisher_adds_up_the_tails() -> None:
    from scipy.stats import hypergeom

    for count, n, total, everyone in (
        (3, 10, 8, 30),
        (0, 10, 8, 30),
        (8, 10, 8, 30),
        (300, 1000, 500, 2000),
        (5, 5, 5, 5),
    ):
        law = hypergeom(everyone, total, n)
        wanted = min(1.0, 2 * min(law.cdf(count), law.sf(count - 1)))
        assert fisher(count, n, total, everyone) == pytest.approx(wanted, rel=1e-8)


def test_estimates_that_cannot_be_compared_are_refused() -> None:
    m = dn.mechanism("grr", labels=["x", "y", "z"], epsilon=1.0)
    summary = dn.simulate(m, [10, 20, 30], seed=1)
    one, other = m.estimate(summary), m.estimate(summary, target="population")
    named = dn.mechanism("grr", labels=["x", "y", "w"], epsilon=1.0)
    for wrong, message in (
        (one, "other reports"),
        (other, "same target"),
        (named.estimate(dn.simulate(named, [1, 2, 3], seed=1)), "same labels, got 'w, z'"),
    ):
        with pytest.raises(dn.InvalidArgument, match=message):
            one - wrong
        with pytest.raises(dn.InvalidArgument):
            dn.alike([one, wrong])
    with pytest.raises(TypeError):
        one - 1
    with pytest.raises(dn.InvalidArgument, match="two or more estimates"):
        dn.alike([one])
