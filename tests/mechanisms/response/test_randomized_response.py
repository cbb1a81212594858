"""Randomised response: its papers' numbers."""

from __future__ import annotations

import math

import pytest

import deniable as dn
from tests.contract.cases import Case, Refused
from tests.contract.vectors import FOUR, Vector, integers

CASE = Case(
    "grr",
    refused=Refused(0, 3),  # an epsilon below k^2/2^64
    vectors={
        "labels": Vector({"labels": FOUR, "epsilon": 1.5}),
        "integers": Vector({"domain": integers(1000), "epsilon": 0.1}, [-3, 0, 5, 1000, 2000, None]),
    },
)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("k", [2, 10, 1000])
def test_the_channel_is_the_papers(k: int, epsilon: float) -> None:
    # Kairouz, Bonawitz, Ramage 2016, section 4.1; for k = 2 Warner 1965
    m, e = dn.RandomizedResponse(k, epsilon), math.exp(epsilon)
    assert float(m.channel.p) == pytest.approx(e / (k - 1 + e), rel=1e-12)
    assert float(m.channel.q) == pytest.approx(1 / (k - 1 + e), rel=1e-12)
