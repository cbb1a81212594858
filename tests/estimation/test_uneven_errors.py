"""Mechanisms whose error differs from value to value: their intervals go by the users there are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import deniable as dn
from deniable.estimation.channel import noise_at

UNEVEN: list[dict[str, Any]] = [
    {"name": "hpgr", "k": 200, "epsilon": 4.0},
    {"name": "hr", "k": 200, "epsilon": 3.0},
    {"name": "rhr", "k": 200, "epsilon": 3.0},
    {"name": "csr", "k": 64, "epsilon": 3.0, "padding": False, "max_bits": 6},
    {"name": "mss", "k": 100, "epsilon": 4.0},
]


@pytest.mark.parametrize("setting", UNEVEN, ids=lambda setting: setting["name"])
@pytest.mark.parametrize("shape", ["spike", "zipf"])
def test_intervals_cover_every_value_at_the_level(setting: dict[str, Any], shape: str, seed: int) -> None:
    m = dn.mechanism(**setting)
    shares = np.arange(1, m.k + 1) ** -1.3 if shape == "zipf" else np.eye(m.k)[0] + 1e-3
    true = np.floor(20_000 * shares / shares.sum()).astype(np.int64)
    hits = np.zeros(m.k)
    runs = 300
    for run in range(runs):
        low, high = m.estimate(dn.simulate(m, true, seed=seed + run), "unbiased").interval()
        hits += (low <= true / true.sum()) & (true / true.sum() <= high)
    # 6 standard errors of one value's share of 300 runs are 7.5%
    assert (hits / runs).min() >= 0.875
    assert abs(hits.mean() / runs - 0.95) <= 0.01


@pytest.mark.parametrize("setting", UNEVEN, ids=lambda setting: setting["name"])
@pytest.mark.parametrize("target", ["users", "population"])
def test_the_average_of_the_errors_is_the_stated_one_when_users_are_spread(
    setting: dict[str, Any], target: str
) -> None:
    m = dn.mechanism(**setting)
    even = np.full(m.k, 100_000)
    evidence = m.evidence(dn.simulate(m, even))
    found, f = noise_at(m.noise_of(evidence, target), 1 / m.k), 1 / m.k
    assert np.mean(found) == pytest.approx(noise_at(m.noise(target), f), rel=0.02)
    # a value that all users have: the least variance is the one of its own users
    least = m.steps_of(evidence, target).least
    assert np.mean(noise_at(least, 1.0)) == pytest.approx(noise_at(m.noise(target), 1.0), rel=0.02)


def test_modular_subset_selection_keeps_its_variance_at_large_epsilon() -> None:
    for epsilon in (10.0, 30.0, 40.0, 50.0):
        m = dn.mechanism("mss", k=20, epsilon=epsilon, moduli=[20], sizes=[1])
        same = dn.mechanism("ss", k=20, epsilon=epsilon, w=1)
        assert m.variance(0.0) == pytest.approx(same.variance(0.0), rel=1e-6)


def tampered(name: str, setting: dict[str, Any], **changes: Any) -> str:
    document = json.loads(dn.mechanism(name, **setting).spec.to_json())
    for member, value in changes.items():
        document["parameters"][member] = value
    return json.dumps(document)


CSR = {"k": 50, "epsilon": 1.0, "padding": False}
FAMILY = {"modulus": 7, "classes": 3, "chosen": [0], "zero": False, "cohorts": [0, 1, 2], "root": 3}
WRONG = [
    lambda: dn.from_spec(tampered("csr", CSR, sets={"modulus": 50, "size": 25, "count": 20_000, "seed": 0})),
    lambda: dn.from_spec(
        tampered(
            "csr", {"k": 8, "epsilon": 1.0, "padding": False}, sets={"modulus": 8, "size": 2, "count": 4, "seed": 0}
        )
    ),
    lambda: dn.from_spec(tampered("csr", CSR, loss=10**18)),
    lambda: dn.from_spec(tampered("clh", {"k": 100, "epsilon": 1.0}, salt="\ud800")),
    lambda: dn.mechanism("csr", k=7, epsilon=1.0, sets={**FAMILY, "chosen": 3}),
    lambda: dn.mechanism("csr", k=7, epsilon=1.0, sets={**FAMILY, "cohorts": 5}),
    lambda: dn.mechanism("csr", k=7, epsilon=1.0, sets={**FAMILY, "root": 3.0}),
    lambda: dn.mechanism("csr", k=50, epsilon=1.0, padding="no"),
    lambda: dn.mechanism("csr", k=50, epsilon=1.0, padding=False).variance(0.5, target="bogus"),
    lambda: dn.mechanism("clh", k=100, epsilon=1.0).public_coin(5),
    lambda: dn.mechanism("clh", k=100, epsilon=1.0).decode_class("a", b"id"),
    lambda: dn.mechanism("clh", k=100, epsilon=1.0).encode_class(5, b"id"),
    lambda: dn.compare(10, None, names=["ss"]),
    lambda: dn.compare(10, 1.0, names=5),
]


@pytest.mark.parametrize("call", WRONG)
def test_an_odd_or_tampered_setting_is_refused_in_one_line(call: Any) -> None:
    with pytest.raises(dn.DeniableError) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("epsilon", [20.0, 45.0, 50.0])
@pytest.mark.parametrize("k", [5, 9])
def test_a_spec_at_large_epsilon_is_read_back_or_was_never_made(k: int, epsilon: float) -> None:
    for setting in ({}, {"padding": False}):
        try:
            m = dn.mechanism("csr", k=k, epsilon=epsilon, **setting)
        except dn.InvalidArgument:
            continue
        assert dn.from_spec(m.spec.to_json()) == m


def test_a_comparison_for_a_trillion_users_fits_in_memory() -> None:
    (row,) = dn.compare(10, 1.0, n=10**12, names=["grr"], simulated=True, timed=True, repeats=1)
    assert row.client_ns > 0
