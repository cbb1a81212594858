"""Users needed to detect a value: the power is kept, by enumeration of all counts."""

from __future__ import annotations

import math

import pytest

import deniable as dn
from deniable.planning.exact_power import detection_power


def binomial(n: int, p: float) -> list[float]:
    return [math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


def enumerated_power(m: dn.RandomizedResponse, n: int, share: float, miss: float) -> float:
    """Over all pairs of counts: of users who have the value, and of the others."""
    p, q = float(m.channel.p), float(m.channel.q)
    absent, least = binomial(n, q), n + 1
    while least > 0 and sum(absent[least - 1 :]) <= miss:
        least -= 1
    have = math.ceil(n * share - 1e-9)
    own, others = binomial(have, p), binomial(n - have, q)
    return sum(a * b for i, a in enumerate(own) for j, b in enumerate(others) if i + j >= least)


@pytest.mark.parametrize("share", [0.1, 0.25, 1.0])
@pytest.mark.parametrize("n", [5, 12, 40])
def test_the_power_is_that_of_an_enumeration(n: int, share: float) -> None:
    m = dn.RandomizedResponse(4, 2.0)
    found = detection_power(m.channel, n, share, 0.025, "users")
    assert found == pytest.approx(enumerated_power(m, n, share, 0.025), abs=1e-10)


@pytest.mark.parametrize("target", ["users", "population"])
@pytest.mark.parametrize(
    ("name", "k", "epsilon", "share", "power"),
    [("sue", 50, 4.0, 0.2, 0.8), ("ss", 50, 4.0, 0.1, 0.9), ("grr", 5, 1.0, 0.5, 0.8), ("oue", 20, 3.0, 0.05, 0.95)],
)
def test_the_power_is_kept_from_this_number_on(
    name: str, k: int, epsilon: float, share: float, power: float, target: str
) -> None:
    m = dn.mechanism(name, k=k, epsilon=epsilon)
    n = dn.users_needed(m, detect=share, power=power, target=target)
    assert m.channel is not None
    kept = [detection_power(m.channel, users, share, 0.025, target) for users in range(n - 1, n + 100)]
    assert kept[0] < power <= min(kept[1:])


def test_many_values_need_more_users() -> None:
    m = dn.mechanism("oue", k=50, epsilon=3.0)
    one, all_ = dn.users_needed(m, detect=0.2), dn.users_needed(m, detect=0.2, simultaneous=True)
    assert m.channel is not None
    assert one < all_
    assert detection_power(m.channel, all_, 0.2, 0.025 / 50, "users") >= 0.8
